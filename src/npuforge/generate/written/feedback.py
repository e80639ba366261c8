# SPDX-License-Identifier: Apache-2.0
"""A judgement in the few words that help whoever wrote the program: the first real cause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from npuforge import rules
from npuforge.generate.proof import Proof
from npuforge.language import Language
from npuforge.twin.timing.report import TimingReport
from npuforge.verdict import Advice, Diagnostic, Race, Violation

# In the order in which they hide each other.
Cause = Literal[
    "no answer", "does not parse", "does not compile", "does not run", "rule", "race", "wrong",
    "slow",
]  # fmt: skip
_MOST = 3
_LONGEST = 300
_PIPES = {"V": "vector unit", "S": "scalar unit", "MTE2": "loads", "MTE3": "stores"}


@dataclass(frozen=True, slots=True)
class Feedback:
    """The cause, and what is said of it."""

    cause: Cause
    text: str

    @property
    def short(self) -> str:
        """In a line: the head, and the first finding under it; of a right program its time."""
        lines = self.text.splitlines()[: 1 if self.cause == "slow" else 2]
        return " ".join(line.strip() for line in lines)


def nothing_to_judge(why: str) -> Feedback:
    return Feedback("no answer", f"Nothing could be judged: {why}.")


def not_built(
    cause: Cause,
    diagnostics: Sequence[Diagnostic],
    source: str,
    files: Mapping[str, str] | None = None,
) -> Feedback:
    """What a compiler says, each with its line of the source, or of the file it names."""
    heads = {"does not parse": "The program is refused", "does not compile": "It does not compile"}
    lines = [f"{heads.get(cause, 'It fails')}:"]
    for diagnostic in diagnostics[:_MOST]:
        text = (files or {}).get(diagnostic.file or "", source)
        where = f"{diagnostic.file}: " if files and diagnostic.file else ""
        lines.append(_finding(where + diagnostic.message, diagnostic.line, text, None))
    lines += _more(len(diagnostics))
    return Feedback(cause, "\n".join(lines))


def of_proof(proof: Proof, emitted: str, language: Language = "tile") -> Feedback | None:
    """Why a proof does not hold; `emitted` is the AscendC that rules speak about. None: it does."""
    broken = [violation for violation in proof.violations if violation.severity == "error"]
    noted = list(_noted([v for v in proof.violations if v.severity != "error"], emitted))
    if proof.error is not None and not broken and not proof.races:
        return Feedback("does not run", f"It does not run: {proof.error}")
    if broken:
        made = " (lines of the AscendC made from it)" if language == "tile" else ""
        lines = [f"It breaks rules of the hardware{made}:"]
        lines += [_finding(_rule(v), v.line, emitted, v.fix) for v in broken[:_MOST]]
        return Feedback("rule", "\n".join([*lines, *_more(len(broken)), *noted]))
    if proof.races:
        return Feedback("race", "\n".join([*_race(proof.races[0], emitted), *noted]))
    wrong = [case for case in proof.cases if case.correct is False]
    if not wrong:
        return None if proof.holds else Feedback("does not run", "No case could be run.")
    right = sum(case.correct is True for case in proof.cases)
    lines = [f"It is wrong on {len(wrong)} cases and right on {right}:"]
    for case in wrong[:_MOST]:
        shapes = ", ".join(str(shape) for shape in case.shapes)
        lines.append(f"- inputs {shapes}: {_cut(case.message or 'wrong')}")
    lines += _more(len(wrong))
    return Feedback("wrong", "\n".join([*lines, *noted]))


def of_time(timing: TimingReport, advice: Sequence[Advice] = ()) -> Feedback:
    """Where the time of a right program goes, and what the checks advise."""
    share = timing.roofline.share
    busy = sorted(timing.pipes.items(), key=lambda entry: -entry[1].busy_us)
    pipes = "; ".join(
        f"{_PIPES.get(name, name)} busy {times.busy_us:.1f} us, waiting {times.wait_us:.1f} us"
        for name, times in busy[:4]
    )
    lines = [
        f"It is right. It takes {timing.time_us:.2f} us, {100 * share:.0f} % of what the chip's"
        f" bandwidth and units allow; the bottleneck is {timing.bottleneck.kind}.",
        f"Mean of the cores: {pipes}.",
    ]
    if timing.stall:
        lines.append(f"It stalls: {timing.stall}.")
    lines += [f"- {_cut(f'{one.rule}: {one.message}')}" for one in advice[:_MOST]]
    return Feedback("slow", "\n".join(lines))


def _race(race: Race, source: str) -> Iterator[str]:
    """Both accesses with their lines, and what would order them."""
    yield f"It has a race: {race.rule}: {_cut(race.message)}"
    lines = source.splitlines()
    for side in (race.first, race.second):
        if side.line is not None and 0 < side.line <= len(lines):
            yield f"  line {side.line}: {_cut(lines[side.line - 1].strip())} ({side.pipe})"
    yield f"  remedy: {_cut(rules.get(race.rule).fix)}"


def _noted(warnings: Sequence[Violation], source: str) -> Iterator[str]:
    """What is no failure by itself is often the cause of one."""
    if warnings:
        yield "It is also warned:"
        yield from (_finding(_rule(v), v.line, source, v.fix) for v in warnings[:_MOST])


def _rule(violation: Violation) -> str:
    return f"{violation.rule}: {violation.message}"


def _finding(message: str, line: int | None, source: str, fix: str | None) -> str:
    text = f"- {_cut(message)}"
    lines = source.splitlines()
    if line is not None and 0 < line <= len(lines):
        text += f"\n  line {line}: {_cut(lines[line - 1].strip())}"
    return f"{text}\n  remedy: {_cut(fix)}" if fix else text


def _more(count: int) -> Iterator[str]:
    if count > _MOST:
        yield f"- and {count - _MOST} more"


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST - 3]}..."
