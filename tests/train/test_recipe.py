# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from npuforge.errors import UsageError
from npuforge.train.recipe import Dpo, Grpo, Sft, load, names


def test_the_default_is_the_paper() -> None:
    sft, dpo = load(Sft), load(Dpo)
    assert (sft.learning_rate, sft.lora_learning_rate) == (1.25e-6, 1.25e-5)
    assert (sft.batch_tokens // sft.sequence, sft.micro, sft.warmup) == (128, 1, 0.01)
    assert (sft.weight_decay, sft.grad_clip, sft.schedule) == (0.1, 1.0, "cosine")
    assert (dpo.beta, dpo.learning_rate, dpo.warmup) == (0.1, 1e-6, 0.1)
    assert (dpo.batch, dpo.max_steps) == (64, 150)


@pytest.mark.parametrize("name", names())
def test_every_recipe_has_every_method(name: str) -> None:
    recipes = (load(Sft, name), load(Dpo, name), load(Grpo, name))
    assert all(recipe.micro >= 1 for recipe in recipes)


def test_a_file_says_only_what_differs(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('base = "embedded"\n[sft]\nseed = 5\n')
    recipe = load(Sft, str(path), ["epochs=2", "attention=flex_attention"])
    embedded = load(Sft, "embedded")
    assert (recipe.seed, recipe.epochs, recipe.attention) == (5, 2, "flex_attention")
    assert recipe.batch_tokens == embedded.batch_tokens


@pytest.mark.parametrize(
    ("text", "changes", "message"),
    [
        ("[sft]\nlearn_rate = 1\n", [], "unknown field `learn_rate`"),
        ("[rl]\n", [], "unknown key rl"),
        ("sft = 1\n", [], "sft is not a table"),
        ("[sft\n", [], "mine.toml: "),
        ('base = "other"\n', [], "no recipe other; there are embedded, paper"),
        ("", ["seed"], "--set takes key=value"),
        ("", ["seed=many"], "Expected `int`"),
        ("", ["micro=0"], "micro must be above 0"),
        ("", ["batch_tokens=5"], "less than one sequence"),
    ],
)
def test_a_bad_recipe_is_one_line(
    tmp_path: Path, text: str, changes: list[str], message: str
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message.replace("[", r"\[")):
        load(Sft, str(path), changes)


def test_an_unknown_recipe_names_the_known() -> None:
    with pytest.raises(UsageError, match="no recipe best; there are embedded, paper"):
        load(Sft, "best")
