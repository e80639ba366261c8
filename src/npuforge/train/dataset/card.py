# SPDX-License-Identifier: Apache-2.0
"""The card of a dataset: what is in it, counted."""

from __future__ import annotations

from collections import Counter

from npuforge.train.dataset.counts import Counts


def card(counts: Counts) -> str:
    """Markdown, with the head that dataset hubs read."""
    return "\n".join(
        [
            "---",
            "license: apache-2.0",
            "task_categories: [text-generation]",
            "configs:",
            *(
                line
                for name in counts.records
                for line in (f"- config_name: {name}", f"  data_files: {name}.jsonl")
            ),
            "---",
            "",
            "# Kernels for Ascend NPUs, with reasons",
            "",
            "Random operators, planned, built and proven on the twin of npuforge. Every program "
            "was compiled and run on several sizes against PyTorch without breaking a rule of the "
            "hardware; every fault was built or run, and what is said of it is what the compiler "
            "or the twin said; every time was modelled. Variants (`variant.jsonl`) did not run "
            "on the twin: they were compiled, and right in the language's interpreter.",
            "",
            f"{counts.operators} operators were drawn, {counts.grown} kept, of "
            f"{len(counts.structures)} structures. {counts.repeated} repeated records were left "
            "out.",
            "",
            *_table("source", "records", counts.records),
            *_table("family", "operators", counts.families),
            *_table("left out because", "operators", counts.reasons),
        ]
    )


def _table(first: str, second: str, counted: Counter[str]) -> list[str]:
    rows = [f"| {name} | {count} |" for name, count in counted.most_common()]
    return [f"| {first} | {second} |", "|---|---|", *rows, ""]
