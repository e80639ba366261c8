# SPDX-License-Identifier: Apache-2.0
"""Is an entry true? Its programs run on the twin; what they do is its evidence, or its refusal."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from npuforge import __version__
from npuforge.errors import NpuforgeError, UsageError
from npuforge.knowledge.entry import Claim, Entry, Evidence
from npuforge.knowledge.tile_verdict import TileJudge
from npuforge.sandbox import Limits, Sandbox
from npuforge.scratch import scratch_folder
from npuforge.tile.source import TileError
from npuforge.twin import launch_file
from npuforge.twin.kernel import store_text
from npuforge.twin.launch_file import Case
from npuforge.twin.numerics import Tolerance, is_looser
from npuforge.twin.sources.kernel_file import KernelFile
from npuforge.twin.toolchain import Toolchain
from npuforge.twin.verify import verify as judge
from npuforge.verdict import Verdict

_CHIP = "910b2"
# An entry chooses its own judge: no approximation that it teaches needs more.
_LOOSEST = Tolerance(rtol=0.01, atol=1e-3)
_LIMITS = Limits(cpu_s=60.0, wall_s=120.0)
_MOST_SAID = 160


class RefusedError(NpuforgeError):
    """The twin does not bear an entry out; the message says how."""

    exit_status = 1


@dataclass(frozen=True, slots=True)
class _Bench:
    entry: Entry
    cases: list[Case]
    soc: str
    limits: Limits
    sandbox: Sandbox

    def verdict(self, code: str, name: str, timed: bool) -> Verdict:
        if self.entry.language == "tile":
            tile = TileJudge(self.entry.after, self.cases, self.soc, self.limits, self.sandbox)
            return tile.verdict(code, name, timed)
        source = KernelFile(store_text(code, Toolchain.find()), sandbox=self.sandbox)
        return judge(
            source,
            self.cases,
            steps=("check", "time") if timed else ("check",),
            soc=self.soc,
            limits=self.limits,
            auto_sync=self.entry.auto_sync,
            sandbox=self.sandbox,
        ).verdict


def verified(entry: Entry, *, limits: Limits = _LIMITS, sandbox: Sandbox | None = None) -> Entry:
    """The entry with its evidence; `RefusedError` where After is not right or the claim not so."""
    found = evidence_of(entry, limits=limits, sandbox=sandbox)
    return msgspec.structs.replace(entry, evidence=found)


def evidence_of(
    entry: Entry, *, limits: Limits = _LIMITS, sandbox: Sandbox | None = None
) -> Evidence:
    """What the twin says about it, on the first chip that it is for."""
    soc = entry.soc[0] if entry.soc else _CHIP
    try:
        cases = _cases(entry)
        bench = _Bench(entry, cases, soc, limits, sandbox or Sandbox.detect())
        after = bench.verdict(entry.after, f"{entry.id} after", timed=True)
        if problem := _not_right(after):
            raise RefusedError(f"{entry.id}: After is not right: {problem}")
        before, claim = None, entry.claims
        if claim is not None:
            slower = claim.kind == "slower"
            before = bench.verdict(entry.before, f"{entry.id} before", timed=slower)
            if problem := _unfounded(claim, before, after):
                raise RefusedError(f"{entry.id}: the claim does not hold: {problem}")
    except (UsageError, TileError) as error:
        raise RefusedError(f"{entry.id}: it cannot be run: {error}") from None
    before_us = before.time_us if before is not None else None
    ratio = before_us / after.time_us if before_us and after.time_us else None
    return Evidence(
        digest=entry.digest,
        soc=soc,
        version=__version__,
        cases=len(cases),
        after=short(after),
        before=short(before) if before is not None else "",
        after_us=_rounded(after.time_us),
        before_us=_rounded(before_us),
        ratio=_rounded(ratio),
    )


def short(verdict: Verdict) -> str:
    """A verdict in a line: the first thing that is wrong."""
    if verdict.compiled is False:
        ids = sorted({violation.rule for violation in verdict.violations})
        first = verdict.diagnostics[0].message if verdict.diagnostics else "no diagnostic"
        return _cut(f"does not compile: {' '.join(ids)} {first}")
    if broken := _broken(verdict):
        return f"rule {', '.join(broken)}"
    if verdict.races:
        return f"race {', '.join(sorted({race.rule for race in verdict.races}))}"
    if verdict.error is not None:
        return _cut(f"does not run: {verdict.error}")
    if verdict.correct is False:
        wrong = [case.message or "" for case in verdict.cases if case.correct is False]
        return _cut(f"wrong on {len(wrong)} of {len(verdict.cases)}: {wrong[0]}")
    return "right"


def _cases(entry: Entry) -> list[Case]:
    with scratch_folder("entry") as folder:
        path = folder / "launch.toml"
        path.write_text(entry.launch, "utf-8")
        cases = launch_file.load(path)
    kernel = entry.language == "ascendc"
    if any((case.launch is not None) != kernel for case in cases):
        wanted = "blocks and argument" if kernel else "input and attrs"
        raise UsageError(f"the launch of a program in {entry.language} has {wanted}")
    for case in cases:
        chosen = [case.tolerance, *(one.tolerance for one in case.expected.values())]
        if any(one is not None and is_looser(one, _LOOSEST) for one in chosen):
            raise UsageError(
                f"an entry's tolerance is at most rtol {_LOOSEST.rtol} and atol {_LOOSEST.atol}, "
                "without mismatches"
            )
    return cases


def _not_right(verdict: Verdict) -> str:
    """Why a verdict is not good enough for After; empty where it is."""
    if not verdict.ok:
        return short(verdict)
    if not verdict.cases or any(case.correct is None for case in verdict.cases):
        return "a case expects nothing"
    return ""


def _unfounded(claim: Claim, before: Verdict, after: Verdict) -> str:
    """How the claim fails; empty where it holds."""
    if claim.kind == "slower":
        if problem := _not_right(before):
            return f"Before is not right either: {problem}"
        if before.time_us is None or after.time_us is None:
            return "there is no time to compare"
        ratio = before.time_us / after.time_us
        return "" if ratio >= claim.ratio else f"Before takes {ratio:.3f} times as long"
    if claim.kind == "rule" and claim.rule in _named(after):
        return f"After breaks {claim.rule} too"
    held = {
        "rule": claim.rule in _named(before),
        "does not compile": before.compiled is False,
        "does not run": before.compiled is True and before.error is not None,
        "wrong": before.compiled is True and before.error is None and before.correct is False,
        "race": bool(before.races),
    }
    return "" if held[claim.kind] else f"{claim.text!r} is claimed, Before is: {short(before)}"


def _broken(verdict: Verdict) -> list[str]:
    return sorted({v.rule for v in verdict.violations if v.severity == "error"})


def _named(verdict: Verdict) -> set[str]:
    """All rules that a verdict speaks of, whatever breaking them costs."""
    found = {violation.rule for violation in verdict.violations}
    return found | {one.rule for one in verdict.advice} | {race.rule for race in verdict.races}


def _rounded(figure: float | None) -> float | None:
    return None if figure is None else float(f"{figure:.4g}")


def _cut(text: str) -> str:
    flat = "".join(char if char.isprintable() else " " for char in " ".join(text.split()))
    return flat if len(flat) <= _MOST_SAID else f"{flat[: _MOST_SAID - 3]}..."
