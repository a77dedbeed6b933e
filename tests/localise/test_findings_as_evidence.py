"""Findings of the source as evidence: surer where the run agrees, told alone where it does not object, refuted where it learned."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from netmend.diagnose.examples.agents import acted
from netmend.diagnose.examples.curves import falling, flat, run_with
from netmend.diagnose.examples.networks import net_run
from netmend.localise import diagnose
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, fault
from netmend.localise.findings import AGREES, AGREES_ELSEWHERE, with_findings
from netmend.vocabulary import Evidence, Fault, Site, Table, Trace
from netmend.vocabulary.finding import Finding


def found(
    cause: str, line: int, code: str = "S199", message: str = "That is wrong.", file: str = "train.py"
) -> Finding:
    return Finding(code, cause, message, file, line, 0, line, 9)


def accused(cause: str, line: int, weight: float = STRONG) -> Fault:
    return fault(
        cause,
        [Evidence("Seen.", weight, "D999")],
        component="",
        site=Site("train.py", line),
        summary="A.",
        reason="B.",
        remedy="C.",
        refutation="D.",
    )


def odds(sure: float) -> float:
    return math.log(sure / (1 - sure))


@pytest.mark.parametrize(("line", "weight"), [(7, AGREES), (8, AGREES), (30, AGREES_ELSEWHERE)])
def test_a_finding_makes_the_same_cause_surer_the_more_so_at_its_line(line: int, weight: float) -> None:
    before = accused("LOOP-ZERO-GRAD", 7)
    (after,) = with_findings(Case(Trace(), findings=(found("LOOP-ZERO-GRAD", line),)), [before])
    assert odds(after.confidence) - odds(before.confidence) == pytest.approx(weight, abs=0.02)
    assert "S199" in after.evidence[-1].message


@pytest.mark.parametrize("line", [8, 30])
def test_where_data_are_prepared_is_read_in_the_source(line: int) -> None:
    case = Case(Trace(), findings=(found("PRE-TRAIN-TEST-SKEW", line),))
    (after,) = with_findings(case, [accused("PRE-TRAIN-TEST-SKEW", 7)])
    assert after.site is not None and after.site.line == line
    assert [site.line for site in after.related] == [7]
    (other,) = with_findings(
        Case(Trace(), findings=(found("LOOP-ZERO-GRAD", line),)), [accused("LOOP-ZERO-GRAD", 7)]
    )
    assert other.site is not None and other.site.line == 7


def test_the_same_mistake_seen_from_two_sides_is_one_fault() -> None:
    case = Case(Trace(), findings=(found("LYR-SOFTMAX-EXTRA", 7),))
    assert [f.cause for f in with_findings(case, [accused("ACT-OUT-WRONG", 7)])] == ["ACT-OUT-WRONG"]
    apart = with_findings(case, [accused("ACT-OUT-WRONG", 40)])
    assert [f.cause for f in apart] == ["ACT-OUT-WRONG", "LYR-SOFTMAX-EXTRA"]


def test_two_rules_at_one_line_are_one_fault() -> None:
    case = Case(
        run_with(flat(200)), findings=(found("LOS-CALC", 7), found("LOS-CALC", 7, "S198", "Other words."))
    )
    assert len(with_findings(case, [])) == 1


def test_a_finding_is_told_where_the_run_failed_and_held_back_where_it_learned() -> None:
    finding = found("LOS-CALC", 7, message="the loss is maximised")
    failed = diagnose(run_with(flat(300)), findings=[finding])
    told = [f for f in failed.faults if f.cause == "LOS-CALC"]
    assert told and told[0].site is not None and told[0].site.line == 7
    assert told[0].summary == "The loss is maximised." and told[0].confidence > 0.7
    learned = diagnose(run_with(falling(300)), findings=[finding])
    assert learned.verdict == "healthy" and "LOS-CALC" in [f.cause for f in learned.suspects]


@pytest.mark.parametrize(("worse", "told"), [(True, ["LOS-CALC"]), (False, [])])
def test_what_an_agent_learns_is_in_its_returns_not_in_its_loss(worse: bool, told: list[str]) -> None:
    course = [float(20 + index) for index in range(60)]
    trace = acted(returns=course[::-1] if worse else course)
    steps = Table.of("step", "optimizer", {n: (value, 1.0) for n, value in enumerate(falling(400))})
    tables = {key: steps if key[0] == "step" else table for key, table in trace.tables.items()}
    trace = replace(trace, tables=tables)
    diagnosis = diagnose(trace, findings=[found("LOS-CALC", 7)])
    assert [fault.cause for fault in diagnosis.faults] == told


def test_a_mistake_of_evaluation_is_one_however_well_it_learned() -> None:
    diagnosis = diagnose(run_with(falling(300)), findings=[found("VAL-TEST-LEAK", 7)])
    assert [f.cause for f in diagnosis.faults] == ["VAL-TEST-LEAK"]


def test_what_is_no_cause_of_a_bad_run_is_advice() -> None:
    diagnosis = diagnose(run_with(falling(300)), findings=[found("API-DEPRECATED", 7, "S701")])
    assert diagnosis.verdict == "healthy" and [advice.code for advice in diagnosis.advice] == ["S701"]


@pytest.mark.parametrize(("code", "faults"), [("S618", ["VAL-METRIC"]), ("S607", [])])
def test_a_figure_that_is_certainly_wrong_is_a_fault(code: str, faults: list[str]) -> None:
    diagnosis = diagnose(run_with(falling(300)), findings=[found("VAL-METRIC", 7, code)])
    assert [fault.cause for fault in diagnosis.faults] == faults


def test_a_finding_explains_nothing_away() -> None:
    plain = diagnose(run_with(flat(300)))
    both = diagnose(run_with(flat(300)), findings=[found("PRE-WRONG-STEP", 7)])
    seen = {f.cause for f in plain.faults} | {f.cause for f in plain.suspects}
    assert seen <= {f.cause for f in (*both.faults, *both.suspects)}


def test_a_name_in_another_folder_is_another_file(tmp_path: Path) -> None:
    case = Case(Trace(), findings=(found("LOOP-STEP", 7, file=str(tmp_path / "train.py")),))
    (first, *_) = with_findings(case, [accused("LOOP-STEP", 7)])
    assert odds(first.confidence) == pytest.approx(odds(accused("LOOP-STEP", 7).confidence) + FAIR, abs=0.02)


def test_what_watching_measures_itself_is_refuted_by_a_run_that_shows_it_in_order() -> None:
    finding = found("LOOP-ZERO-GRAD", 7)
    long, short = (
        diagnose(run_with(flat(300)), findings=[finding]),
        diagnose(run_with(flat(20)), findings=[finding]),
    )
    assert "LOOP-ZERO-GRAD" not in [f.cause for f in long.faults]
    assert "LOOP-ZERO-GRAD" in [f.cause for f in short.faults]


@pytest.mark.parametrize(
    ("code", "cause", "told"),
    [
        ("S346", "ARC-INIT-WEIGHT", True),
        ("S315", "ARC-INIT-WEIGHT", False),
        ("S217", "LOS-CALC", True),
        ("S221", "LOS-CALC", False),
    ],
)
def test_what_no_training_loss_can_show_is_told_though_the_run_learned(
    code: str, cause: str, told: bool
) -> None:
    diagnosis = diagnose(run_with(falling(200)), findings=(found(cause, 7, code),))
    assert [fault.cause for fault in diagnosis.faults] == ([cause] if told else [])


def test_labels_that_the_source_mixes_up_explain_units_that_die() -> None:
    dying = {3: {"silent_share": lambda step: min(0.02 + step / 30, 0.8)}}
    trace = net_run(losses=flat(300), activations=dying)
    assert "DAT-LABEL" not in [fault.cause for fault in diagnose(trace).faults]
    mixed = diagnose(trace, findings=[found("DAT-LABEL", 7, "S505")])
    assert [fault.cause for fault in mixed.faults] == ["DAT-LABEL"]
