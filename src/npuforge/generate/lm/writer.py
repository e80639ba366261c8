# SPDX-License-Identifier: Apache-2.0
"""The embedded model as a writer: many samples, and the fastest one that is proven.

Samples cost seconds, so none is repaired: what does not compile is dropped, the rest is timed on
the twin without data, and proofs go from the fastest on until one holds. Where none does, the model
is asked for the parts of the operator.
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
from npuforge.generate.lm.checked import is_right
from npuforge.generate.lm.engine.engine import Engine
from npuforge.generate.lm.engine.sampling import Drawn, Sample, Sampling
from npuforge.generate.lm.form.answer import held, program_in
from npuforge.generate.lm.form.form import complete
from npuforge.generate.lm.form.grammar import grammar
from npuforge.generate.lm.form.single import KINDS
from npuforge.generate.lm.guide.guide import Guide
from npuforge.generate.lm.parts.pieces import pieces, program_of, wanted
from npuforge.generate.lm.question.names import renamed
from npuforge.generate.lm.question.numbers import put_back
from npuforge.generate.lm.question.task import OPERATOR, as_question, canonical, task_text
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
class LmWriter:
    """A `Writer`; the sampling's grammar is the language's unless it has another."""

    engine: Engine
    sampling: Sampling = field(default_factory=Sampling)
    name: str = "lm"
    forms: tuple[str, ...] | None = None

    def cases(self, graph: Graph, module: str) -> list[ProofCase]:  # noqa: ARG002
        return []

    def __call__(self, bench: Workbench) -> Chosen:
        signature = signature_of(bench.graph)
        graph, _ = canonical(bench.graph)
        drawn = self._drawn(bench, task_text(graph), f"{self.sampling.count} samples", graph)
        chosen = _settled(bench, signature, list(_distinct(drawn)))
        if chosen is not None:
            bench.notes.append(_counted(drawn, chosen))
        if chosen is None or chosen.proof is None or not chosen.proof.holds:
            whole = self._in_parts(bench, graph)
            other = _settled(bench, signature, whole)
            chosen = (
                _both(chosen, other)
                if chosen is not None and other is not None
                else (chosen or other)
            )
        if chosen is None:
            raise UsageError("no program was written: no sample came to its end")
        return chosen

    def _drawn(self, bench: Workbench, asked: str, title: str, graph: Graph) -> Drawn:
        """Samples of answers to what is asked."""
        sampling = self.sampling
        if not sampling.grammar:
            form = grammar(signature_of(graph), asked)
            sampling = replace(sampling, grammar=form, guide=Guide(asked, bench.chip))
        model = self.engine.model
        with bench.stage("write", f"{model.name}, {title}"):
            drawn = self.engine.draw(
                model.prompt(as_question(asked)),
                sampling,
                lambda seen: bench.observer(Writing(title, 0, seen, None)),
            )
        bench.notes.append(f"{drawn.tokens} tokens in {drawn.seconds:.1f} s by {model.name}")
        return drawn

    def _in_parts(self, bench: Workbench, graph: Graph) -> list[Variant]:
        """Programs out of those for the parts of a question, which are asked as long as there are
        smaller ones."""
        parts = pieces(graph)
        known: dict[str, list[str | None]] = {task_text(graph): [None] * self.sampling.count}

        def written(one: Graph) -> list[str | None] | None:
            return known.get(task_text(one))

        while parts and (new := {task_text(one): one for one in wanted(graph, parts, written)}):
            for number, (asked, part) in enumerate(new.items(), 1):
                drawn = self._drawn(bench, asked, f"part {number} of {len(new)}", part)
                texts = [program_in(sample.text) for sample in drawn.samples if sample.ended]
                right = [one for one in texts if is_right(one, part, bench.chip)]
                known[asked] = [*right, *[None] * (self.sampling.count - len(right))]
        count = self.sampling.count
        made = [program_of(graph, parts, n, written, bench.chip) for n in range(count)]
        counted = Counter(one for one in made if one is not None)
        return [
            Variant(f"of parts {number}", text, f"of {len(parts)} parts")
            for number, text in enumerate(counted, 1)
        ]


def _settled(bench: Workbench, signature: Signature, programs: Sequence[Variant]) -> Chosen | None:
    """The fastest program that is proven; nothing where there is none at all."""
    if not programs:
        return None
    filled = [_filled(variant, bench.chip) for variant in programs]
    tried = _tried(bench, signature, [_own(v, bench.graph, signature) for v in filled])
    whole = Plan(signature.name, tuple(t.variant for t, _ in tried), signature.operands)
    chosen = settled(bench, tried, whole)
    return replace(chosen, plan=replace(chosen.plan, variants=whole.variants))


def _both(first: Chosen, other: Chosen) -> Chosen:
    """What came of the parts, beside what came of the whole."""
    variants = (*first.plan.variants, *other.plan.variants)
    return replace(
        other,
        plan=replace(other.plan, variants=variants),
        trials=(*first.trials, *other.trials),
        candidates=(*first.candidates, *other.candidates),
    )


def _distinct(drawn: Drawn) -> Iterator[Variant]:
    """Programs of samples that came to their end, the ones drawn most often first."""
    texts = [program_in(sample.text) for sample in drawn.samples if sample.ended]
    for text, times in Counter(texts).most_common():
        title = f"sample {next(n for n, one in enumerate(drawn.samples, 1) if _is(one, text))}"
        yield Variant(title, text, f"drawn {times} times" if times > 1 else "drawn once")


def _filled(variant: Variant, chip: str) -> Variant:
    """As the language has it; what the compiler refuses, it will refuse again."""
    try:
        return replace(variant, program=complete(variant.program, chip).text)
    except (TileError, UsageError, RecursionError):
        return variant


def _is(sample: Sample, text: str) -> bool:
    return sample.ended and program_in(sample.text) == text


def _own(variant: Variant, graph: Graph, signature: Signature) -> Variant:
    """In the module's names and numbers; a text that is not Python stays as it is, for the parser
    to refuse."""
    asked, own = canonical(graph)
    known = signature_of(asked)
    names = {
        canonic.operand.name: given.operand.name
        for canonic, given in zip(known.parameters, signature.parameters, strict=True)
    }
    names |= {f"{old}_{kind}": f"{new}_{kind}" for old, new in names.items() for kind in KINDS}
    try:
        text = renamed(variant.program, names, (OPERATOR, signature.name))
    except (tokenize.TokenError, SyntaxError):
        return variant
    return replace(variant, program=put_back(text, own.numbers))


def _tried(bench: Workbench, signature: Signature, variants: Sequence[Variant]) -> Tried:
    """Each built and timed, as far as it comes."""
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
    fits = held(signature, host)
    departures = [(None, text) for text in fits.departures(host)]
    if departures:
        return fits.operands, _refused(variant, "another signature", departures)
    return fits.operands, None


def _refused(variant: Variant, what: str, told: Sequence[tuple[int | None, str]]) -> Trial:
    where = f"{variant.title}.tile.py"
    found = tuple(Diagnostic(where, line, text) for line, text in told)
    return Trial(variant, True, problem=f"{what}: {told[0][1]}", diagnostics=found)


def _counted(drawn: Drawn, chosen: Chosen) -> str:
    """How far the samples came."""
    built = [trial for trial in chosen.trials if trial.program is not None]
    compiled = sum(trial.program.build.ok for trial in built if trial.program is not None)
    wrong = sum(candidate.state == "wrong" for candidate in chosen.candidates)
    proven = int(chosen.proof is not None and chosen.proof.holds)
    ended = sum(sample.ended for sample in drawn.samples)
    return (
        f"{len(drawn.samples)} samples: {ended} whole, {len(chosen.trials)} different, "
        f"{len(built)} parsed, {compiled} compiled, {proven} of {wrong + proven} tried proven"
    )
