# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from tests.generate.lm.toy import words
from tests.generate.lm.written import written

from npuforge.cli import main
from npuforge.errors import UsageError
from npuforge.generate import generate
from npuforge.generate.lm.engine.model import TEMPLATE, TOKENIZER, VARIABLE, ModelFile
from npuforge.generate.lm.engine.sampling import Drawn, Sample, Sampling, Watch
from npuforge.generate.lm.prompt.names import renamed
from npuforge.generate.lm.strategy import LmStrategy

TOLD = ModelFile(
    Path("told.gguf"),
    {TEMPLATE: "{{ messages[1].content }}", TOKENIZER: words().to_str()},
)


@dataclass
class Told:
    """An engine that says what it was told to."""

    answers: Sequence[str]
    ended: bool = True
    asked: str = ""
    model: ModelFile = TOLD

    def draw(self, prompt: list[int], sampling: Sampling, watch: Watch) -> Drawn:
        self.asked = self.model.tokenizer().decode(prompt)
        assert sampling.grammar
        assert sampling.check is not None
        watch(7)
        samples = tuple(Sample(answer, 10, self.ended) for answer in self.answers)
        return Drawn(samples, 5, 1.0)


class Shifted(torch.nn.Module):
    def forward(self, image: torch.Tensor, start: torch.Tensor) -> torch.Tensor:
        return torch.exp(image) - start


SHIFTED = Shifted()
INPUTS = [torch.rand(40, 64), torch.rand(64)]


def test_the_fastest_sample_that_is_proven_wins_in_the_modules_names() -> None:
    right = written(SHIFTED, *INPUTS).program
    assert "xb" in right
    wrong = right.replace("tl.exp", "tl.abs")  # as fast, and drawn more often
    other = right.replace("xb", "xq")
    texts = [wrong, right, other, right[:300], wrong]
    told = Told([f"<think>\nnothing\n</think>\n{text}" for text in texts])
    outcome = generate(SHIFTED, INPUTS, name="shifted", strategy=LmStrategy(told))
    assert outcome.verdict.ok
    assert outcome.verdict.strategy == "lm"
    states = {candidate.variant.title: candidate.state for candidate in outcome.candidates}
    assert states == {
        "sample 1": "wrong", "sample 2": "chosen", "sample 3": "failed", "sample 4": "failed",
    }  # fmt: skip
    assert "def shifted_host(\n    image: tl.input(tl.float32),\n" in outcome.program
    names = {"xa": "image", "xb": "start_in2"}  # every token is the sample's but for names
    assert outcome.program == renamed(right, names, ("op", "shifted"))
    assert "5 samples: 5 whole, 4 different, 2 parsed, 2 compiled" in outcome.notes[-1]
    assert outcome.notes[-1].endswith("1 of 2 tried proven")
    assert "xa: float32[na, nb]" in told.asked


def test_nothing_right_is_a_verdict_and_nothing_at_all_is_said() -> None:
    outcome = generate(SHIFTED, INPUTS, name="shifted", strategy=LmStrategy(Told(["no program"])))
    assert outcome.verdict.compiled is False
    assert not outcome.verdict.ok
    with pytest.raises(UsageError, match="no sample came to its end"):
        generate(SHIFTED, INPUTS, name="shifted", strategy=LmStrategy(Told(["x"], ended=False)))


@pytest.mark.parametrize("command", [["generate", "m.py"], ["bench", "forge"]])
def test_a_missing_model_is_one_line(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, "none.gguf")
    assert main([*command, "--strategy", "lm"]) == 2
    said = capsys.readouterr().err
    assert "none.gguf" in said
    assert len(said.splitlines()) == 1
