# SPDX-License-Identifier: Apache-2.0
"""The strategy `lm`: many samples of the embedded model, and the fastest verified program.

Samples cost seconds, so none is repaired. Programs that do not compile are dropped, the others are
timed on the twin without data, and verification goes from the fastest on until one program holds.
"""

from __future__ import annotations

import math
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from npuforge.errors import UsageError
from npuforge.generate.cases import ProofCase
from npuforge.generate.events import Writing
from npuforge.generate.lm.answer import present_operands, program_in
from npuforge.generate.lm.engine.engine import Engine
from npuforge.generate.lm.engine.sampling import Drawn, Sample, Sampling
from npuforge.generate.lm.grammar import grammar
from npuforge.generate.lm.prefix import PrefixCheck
from npuforge.generate.lm.prompt.canonical import OPERATOR, canonical, conversation
from npuforge.generate.lm.prompt.names import renamed
from npuforge.generate.lm.prompt.numbers import put_back
from npuforge.generate.planned import settled
from npuforge.generate.tuning import Trial, tune
from npuforge.generate.workbench import Chosen, Workbench
from npuforge.generate.written.signature import Signature, signature_of
from npuforge.lower.compiler import lower
from npuforge.plan import Operand, Plan, Variant
from npuforge.spec.graph import Graph
from npuforge.tile.source import TileError
from npuforge.verdict import Diagnostic

Tried = list[tuple[Trial, Plan]]


@dataclass(frozen=True, slots=True)
class LmStrategy:
    """The strategy; the sampling's grammar is the language's unless it has another."""

    engine: Engine
    sampling: Sampling = field(default_factory=Sampling)
    name: str = "lm"
    forms: tuple[str, ...] | None = None

    def cases(self, graph: Graph, module: str) -> list[ProofCase]:  # noqa: ARG002
        return []

    def __call__(self, bench: Workbench) -> Chosen:
        signature = signature_of(bench.graph)
        graph, _ = canonical(bench.graph)
        drawn = self._draw(bench, graph)
        programs = list(_distinct(drawn))
        if not programs:
            raise UsageError("no program was written: no sample came to its end")
        chosen = _choose(bench, signature, programs)
        bench.notes.append(_count(drawn, chosen))
        return chosen

    def _draw(self, bench: Workbench, graph: Graph) -> Drawn:
        canonical_signature = signature_of(graph)
        sampling = replace(
            self.sampling,
            grammar=self.sampling.grammar or grammar(canonical_signature),
            check=self.sampling.check or PrefixCheck.of(canonical_signature, bench.chip),
        )
        model = self.engine.model
        title = f"{sampling.count} samples"
        with bench.stage("write", f"{model.name}, {title}"):
            drawn = self.engine.draw(
                model.prompt(conversation(graph)),
                sampling,
                lambda seen: bench.observer(Writing(title, 0, seen, None)),
            )
        bench.notes.append(
            f"{drawn.tokens} tokens in {drawn.seconds:.1f} s by {model.name}, "
            f"{drawn.forced} of them forced by the grammar"
        )
        return drawn


def _choose(bench: Workbench, signature: Signature, programs: Sequence[Variant]) -> Chosen:
    """Return the fastest program that is verified."""
    tried = _try(bench, signature, [_own(one, bench.graph, signature) for one in programs])
    whole = Plan(signature.name, tuple(t.variant for t, _ in tried), signature.operands)
    chosen = settled(bench, tried, whole)
    return replace(chosen, plan=replace(chosen.plan, variants=whole.variants))


def _distinct(drawn: Drawn) -> Iterator[Variant]:
    """Programs of samples that came to their end, the ones drawn most often first."""
    texts = [program_in(sample.text) for sample in drawn.samples if sample.ended]
    for text, times in Counter(texts).most_common():
        title = f"sample {next(n for n, one in enumerate(drawn.samples, 1) if _is(one, text))}"
        yield Variant(title, text, f"drawn {times} times" if times > 1 else "drawn once")


def _is(sample: Sample, text: str) -> bool:
    return sample.ended and program_in(sample.text) == text


def _own(variant: Variant, graph: Graph, signature: Signature) -> Variant:
    """Return the program in the module's names and numbers; text that is not Python stays as it
    is, and the parser refuses it."""
    asked, own = canonical(graph)
    known = signature_of(asked)
    names = {
        canonic.operand.name: given.operand.name
        for canonic, given in zip(known.parameters, signature.parameters, strict=True)
    }
    try:
        text = renamed(variant.program, names, (OPERATOR, signature.name))
    except (tokenize.TokenError, SyntaxError):
        return variant
    return replace(variant, program=put_back(text, own.numbers))


def _try(bench: Workbench, signature: Signature, variants: Sequence[Variant]) -> Tried:
    """Build and time each program, as far as it comes."""
    refused: Tried = []
    groups: dict[tuple[Operand, ...], list[Variant]] = {}
    for variant in variants:
        operands, problem = _read(bench.chip, signature, variant)
        if problem is not None:
            refused.append((problem, Plan(signature.name, (variant,), operands)))
        else:
            groups.setdefault(operands, []).append(variant)
    tried: Tried = []
    with bench.stage("tune", f"{len(variants) - len(refused)} programs"):
        for operands, fit in groups.items():
            plan = Plan(signature.name, tuple(fit), operands)
            given = bench.references.given
            trials = tune(plan, bench.graph, bench.chip, math.inf, bench.observer, given)
            tried += [(trial, plan) for trial in trials]
    return tried + refused


def _read(
    chip: str, signature: Signature, variant: Variant
) -> tuple[tuple[Operand, ...], Trial | None]:
    """The tensors of a program; a trial that ended there, where it is none or none of these."""
    try:
        host = lower(variant.program, chip).program.host
    except TileError as error:
        told = [(f.span.line, f"{f.rule}: {f.message}") for f in error.findings]
        return signature.operands, _refused(variant, "does not compile", told)
    except (UsageError, RecursionError) as error:
        said = str(error) or "nested too deeply"
        return signature.operands, _refused(variant, "does not compile", [(None, said)])
    fits = present_operands(signature, host)
    departures = [(None, text) for text in fits.departures(host)]
    if departures:
        return fits.operands, _refused(variant, "another signature", departures)
    return fits.operands, None


def _refused(variant: Variant, what: str, told: Sequence[tuple[int | None, str]]) -> Trial:
    where = f"{variant.title}.tile.py"
    found = tuple(Diagnostic(where, line, text) for line, text in told)
    return Trial(variant, True, problem=f"{what}: {told[0][1]}", diagnostics=found)


def _count(drawn: Drawn, chosen: Chosen) -> str:
    """Count the samples that ended, parsed, compiled and were verified."""
    built = [trial for trial in chosen.trials if trial.program is not None]
    compiled = sum(trial.program.build.ok for trial in built if trial.program is not None)
    wrong = sum(candidate.state == "wrong" for candidate in chosen.candidates)
    proven = int(chosen.proof is not None and chosen.proof.holds)
    ended = sum(sample.ended for sample in drawn.samples)
    return (
        f"{len(drawn.samples)} samples: {ended} whole, {len(chosen.trials)} different, "
        f"{len(built)} parsed, {compiled} compiled, {proven} of {wrong + proven} tried proven"
    )
