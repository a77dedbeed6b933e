"""The run outranks the source: what it measured, or never got to, is not told whatever the source looks like."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from netmend.diagnose.examples.curves import flat, run_with
from netmend.localise import diagnose
from netmend.localise.case import Case
from netmend.localise.refuted import refuted
from netmend.program.text.sources import Sources
from netmend.vocabulary import (
    BatchPrint,
    Call,
    LoaderFact,
    LossFact,
    OperandFact,
    OptimizerFact,
    ParameterFact,
    Pattern,
    PreparationFact,
    RunFact,
    Site,
    Table,
    Trace,
)
from netmend.vocabulary.finding import Finding

LINE = 7
HERE = Site("train.py", LINE)


def found(code: str, cause: str, line: int = LINE) -> Finding:
    return Finding(code, cause, "That is wrong.", "train.py", line, 0, line, 9)


def trace(*parts: object, steps: int = 100, status: str = "finished", stopped: Site | None = None) -> Trace:
    """A run of so many steps with facts, patterns, batches and tables."""
    kinds = {
        LossFact: "loss",
        ParameterFact: "parameter",
        OptimizerFact: "optimizer",
        LoaderFact: "loader",
        PreparationFact: "preparation",
    }
    facts: dict[str, dict[str, object]] = {
        "run": {"r": RunFact("r", "train.py", steps=steps, status=status, exception_site=stopped)}
    }
    for part in parts:
        if type(part) in kinds:
            facts.setdefault(kinds[type(part)], {})[part.name] = part
    return Trace(
        facts=facts,
        patterns=tuple(part for part in parts if isinstance(part, Pattern)),
        batches=tuple(part for part in parts if isinstance(part, BatchPrint)),
        tables={(part.kind, part.component): part for part in parts if isinstance(part, Table)},
    )


def steps_at(line: int, times: int = 40) -> Pattern:
    return Pattern(
        (Call("backward", site=Site("train.py", line)), Call("step", site=Site("train.py", line + 1))),
        ((0, times - 1),),
    )


def evaluations(training_mode: float, grad_enabled: float) -> Table:
    row = (0.5, 1.0, 0.9, 100.0, 4.0, training_mode, grad_enabled)
    return Table.of("evaluation", "loss", {10: row, 20: row})


def loss(low: float, target: tuple[int, ...] = (8,)) -> LossFact:
    given = OperandFact("prediction", (8, 3), minimum=low, maximum=2.0)
    return LossFact("loss", operands=(given, OperandFact("target", target)), called=HERE)


def batches(mean: float, first: int) -> tuple[BatchPrint, ...]:
    rows = ((0.0, 1.0, -2.0, 2.0),) * 3
    other = ((mean, 1.0, -2.0, 2.0),) * 3
    return (
        *(
            BatchPrint(i, "training", 100, "model", tuple(range(100 * i, 100 * i + 100)), "feature", rows)
            for i in range(4)
        ),
        BatchPrint(9, "evaluation", 100, "model", tuple(range(first, first + 100)), "feature", other),
    )


GRADIENTS = Table.of("gradient", "model.weight", {0: (0.0, 0.1), 1: (0.0, 0.2)})
NONE = Table.of("gradient", "model.weight", {0: (0.0, 0.0), 1: (0.0, 0.0)})
WEIGHT = ParameterFact("model.weight", "model", (3, 4), optimizer="opt")
FINITE = Table.of("step", "opt", dict.fromkeys(range(100), (0.5, 1.0)))
INFINITE = Table.of("step", "opt", {step: (float("inf") if step == 90 else 0.5, 1.0) for step in range(100)})
LISTED = PreparationFact("listdir@train.py:3", "os.listdir", "read", seen={"numbered": 12})
LOADER = LoaderFact("train", samples=400, phase="training")


def encoded(*indicators: int, line: int = LINE, calls: int = 1) -> PreparationFact:
    name = f"get_dummies@train.py:{line}"
    seen = {"indicators": list(indicators)}
    return PreparationFact(
        name, "pandas.get_dummies", "encode", Site("train.py", line), calls=calls, seen=seen
    )


@pytest.mark.parametrize(
    ("finding", "run", "expected"),
    [
        (found("S121", "LOOP-NO-GRAD"), trace(steps_at(LINE)), True),
        (found("S121", "LOOP-NO-GRAD"), trace(), False),
        (found("S222", "LOS-GRAPH-CUT"), trace(WEIGHT, GRADIENTS), True),
        (found("S222", "LOS-GRAPH-CUT"), trace(WEIGHT, NONE), False),
        (found("S113", "LOOP-MODE-EVAL"), trace(evaluations(0, 0)), True),
        (found("S113", "LOOP-MODE-EVAL"), trace(evaluations(1, 0)), False),
        (found("S113", "LOOP-MODE-EVAL"), trace(), False),
        (found("S114", "LOOP-NO-GRAD"), trace(evaluations(0, 0)), True),
        (found("S114", "LOOP-NO-GRAD"), trace(evaluations(0, 1)), False),
        (found("S201", "LYR-SOFTMAX-EXTRA"), trace(loss(-3.0)), True),
        (found("S201", "LYR-SOFTMAX-EXTRA"), trace(loss(0.0)), False),
        (found("S216", "TSR-SQUEEZE"), trace(loss(0.0, (8, 3))), True),
        (found("S216", "TSR-SQUEEZE"), trace(loss(0.0)), False),
        (found("S507", "PRE-TRAIN-TEST-SKEW"), trace(*batches(0.05, 1000)), True),
        (found("S507", "PRE-TRAIN-TEST-SKEW"), trace(*batches(1.0, 1000)), False),
        (found("S507", "PRE-TRAIN-TEST-SKEW"), trace(*batches(0.0, 0)[:4]), False),
        (
            found("S501", "API-SHUFFLE-POS"),
            trace(LoaderFact("all", "Rows", 90, 90, created=HERE), steps=9),
            True,
        ),
        (
            found("S501", "API-SHUFFLE-POS"),
            trace(LoaderFact("all", "Rows", 91, 90, created=HERE), steps=9),
            False,
        ),
        (found("S521", "VAL-SPLIT"), trace(*batches(0.0, 1000), LOADER), True),
        (found("S521", "VAL-SPLIT"), trace(*batches(0.0, 350), LOADER), False),
        (found("S521", "VAL-SPLIT"), trace(*batches(0.0, 1000)), False),
        (found("S930", "PRE-TRAIN-TEST-SKEW"), trace(encoded(1, calls=2)), True),
        (found("S930", "PRE-TRAIN-TEST-SKEW"), trace(encoded(1, 2, calls=2)), False),
        (found("S930", "PRE-TRAIN-TEST-SKEW"), trace(encoded(1), encoded(1, line=3)), True),
        (found("S930", "PRE-TRAIN-TEST-SKEW"), trace(encoded(1), encoded(2, line=3)), False),
        (found("S930", "PRE-TRAIN-TEST-SKEW"), trace(), False),
        (found("S934", "DAT-LABEL"), trace(), True),
        (found("S934", "DAT-LABEL"), trace(LISTED), False),
        (found("S225", "LOS-CALC"), trace(FINITE), True),
        (found("S225", "LOS-CALC"), trace(INFINITE), False),
        (found("S225", "LOS-CALC"), trace(), False),
        (found("S309", "LYR-FLATTEN-MISSING"), trace(), True),
        (found("S309", "LYR-FLATTEN-MISSING"), trace(status="failed"), False),
        (found("S101", "LOOP-ZERO-GRAD"), trace(), True),
        (found("S101", "LOOP-ZERO-GRAD"), trace(steps=5), False),
    ],
)
def test_what_the_run_measured_refutes_the_source(finding: Finding, run: Trace, expected: bool) -> None:
    assert bool(refuted(Case(run), finding)) is expected


def test_a_line_that_the_run_never_got_to_does_not_count(tmp_path: Path) -> None:
    text = "import torch\n\n\ndef other(loss, opt):\n    loss.sum()\n\n    loss.backward()\n    opt.step()\n"
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    finding = replace(found("S199", "LOS-CALC"), column=4, end_column=19)
    sources = Sources(str(tmp_path), "train.py")
    assert "never got to this backward()" in refuted(Case(trace(steps_at(20)), sources=sources), finding)
    assert not refuted(Case(trace(steps_at(LINE)), sources=sources), finding)
    assert not refuted(Case(trace(), sources=sources), finding)


def test_a_loss_or_loader_that_was_never_used_does_not_count(tmp_path: Path) -> None:
    text = "import torch\n\n\n\n\n\nF.mse_loss(a, b)\nDataLoader(rows)\n"
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    sources = Sources(str(tmp_path), "train.py")
    lost = LossFact("a", "mse_loss", called=Site("train.py", 3))
    here = LossFact("b", "mse_loss", called=HERE)
    finding = replace(found("S199", "LOS-CALC"), end_column=16)
    assert refuted(Case(trace(lost), sources=sources), finding)
    assert not refuted(Case(trace(lost, here), sources=sources), finding)
    assert not refuted(Case(trace(), sources=sources), finding)
    loader = replace(found("S199", "VAL-SPLIT", line=8), end_column=16)
    other = LoaderFact("other", created=Site("train.py", 2), iterated=Site("train.py", 4))
    own = LoaderFact("own", created=Site("train.py", 8))
    assert refuted(Case(trace(other, own), sources=sources), loader)
    assert not refuted(Case(trace(other, own, status="interrupted"), sources=sources), loader)
    assert not refuted(Case(trace(other, replace(own, iterated=HERE)), sources=sources), loader)


def test_a_refuted_finding_is_no_guess_for_a_run_that_failed() -> None:
    plain = run_with(flat(300))
    run = Trace(facts=plain.facts, tables=plain.tables, events=plain.events, patterns=(steps_at(LINE),))
    told = [fault.cause for fault in diagnose(run, findings=[found("S121", "LOOP-NO-GRAD")]).faults]
    assert "LOOP-NO-GRAD" not in told


def test_evaluation_that_was_never_reached_refutes_nothing() -> None:
    skewed = found("S507", "PRE-TRAIN-TEST-SKEW")
    told = diagnose(run_with(flat(300)), findings=[skewed]).faults
    assert "PRE-TRAIN-TEST-SKEW" in [fault.cause for fault in told]


@pytest.mark.parametrize("cause", ["API-DEPRECATED", "API-USAGE", "LYR-DIM-MISMATCH"])
def test_a_finding_where_the_program_stopped_is_the_fault(cause: str) -> None:
    run = trace(steps=3, status="failed", stopped=HERE)
    (first, *_) = diagnose(run, findings=[found("S701", cause)]).faults
    assert first.cause == cause and first.confidence > 0.95
    assert not diagnose(trace(steps=3, status="failed"), findings=[found("S701", "API-USAGE")]).faults
