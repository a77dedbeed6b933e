"""Faults whose strength can be turned: every knob of the example programs, from no fault to the extreme."""

from __future__ import annotations

import contextlib
import functools
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import netmend
from netmend.changes.case import Case
from netmend.mutate.examples import CUT_LATER, FUNCTIONS, LOG_PROBABILITIES, PROBABILITIES, STACK, VALIDATED
from netmend.mutate.magnitude import Graded, Knob, Scale, knobs, singles
from netmend.mutate.mutation import OPERATORS, Mutation
from netmend.program.text.sources import Sources
from netmend.repair.apply import applied

PROGRAMS = {
    "stack": STACK,
    "functions": FUNCTIONS,
    "probabilities": PROBABILITIES,
    "log probabilities": LOG_PROBABILITIES,
    "validated": VALIDATED,
}
SHARED = "test data cut from the same names"
DEEPCRIME = [
    "TCL",
    "TRD",
    "TUD",
    "TAN",
    "TCO",
    "HBS",
    "HLR",
    "HNE",
    "HDB",
    "ACH",
    "ARM",
    "AAL",
    "RAW",
    "RCW",
    "RRW",
    "RCD",
    "RCP",
    "WCI",
    "WAB",
    "WRB",
    "LCH",
    "OCH",
    "OCG",
    "VRM",
]
DEEPMUTATION = ["DR", "LE", "DM", "DF", "NP", "LR", "LA", "AFR"]


def ran(source: str, file: Path) -> dict[str, Any]:
    """The names of a program's main module after it has run."""
    variables: dict[str, Any] = {"__name__": "__main__", "__file__": str(file)}
    argv, sys.argv = sys.argv, [str(file)]
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, str(file), "exec"), variables)
    finally:
        torch.set_grad_enabled(True)
        sys.argv = argv
    return variables


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    found = {}
    for name, source in (*PROGRAMS.items(), (SHARED, CUT_LATER)):
        folder = tmp_path_factory.mktemp("program")
        file = folder / "train.py"
        file.write_text(source.lstrip("\n"), encoding="utf-8")
        with netmend.watch(directory=folder / "netmend", quiet=True, every=1) as watch:
            ran(source.lstrip("\n"), file)
        found[name] = Case(watch.trace, Sources(str(folder), str(file)))
    return found


def text_of(mutation: Mutation) -> str:
    texts = applied({}, mutation.edits)
    assert texts is not None
    return next(iter(texts.values()))


@functools.cache
def every_knob(case: Case) -> list[Knob]:
    problems: list[str] = []
    found = knobs(case, problems)
    assert problems == []
    return found


def turned(case: Case, operator: str) -> list[Knob]:
    return [knob for knob in every_knob(case) if knob.operator == operator]


def middle(scale: Scale) -> float:
    both = (scale.mildest, scale.extreme)
    return scale.fitted((both[0] * both[1]) ** 0.5 if scale.logarithmic else sum(both) / 2)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_knob_turns_from_no_fault_to_the_extreme(name: str, cases: dict[str, Case]) -> None:
    known = OPERATORS.classes()
    found = every_knob(cases[name])
    assert len(found) >= 8
    assert len({(knob.operator, knob.title) for knob in found}) == len(found)
    for knob in found:
        assert knob.at(knob.scale.mildest) is None
        weaker, extreme = knob.at(middle(knob.scale)), knob.at(knob.scale.extreme)
        assert weaker is not None and extreme is not None, f"{knob.operator} {knob.title}"
        assert weaker.title != extreme.title
        assert weaker.value == middle(knob.scale) and extreme.value == knob.scale.extreme
        assert extreme.cause == knob.cause and extreme.cause in known[knob.operator].causes
        assert text_of(weaker) != text_of(extreme)
        beyond = knob.at(knob.scale.extreme + 3 * (knob.scale.extreme - knob.scale.mildest))
        assert beyond is not None and beyond.value == knob.scale.extreme


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_mutant_of_a_knob_still_runs(name: str, cases: dict[str, Case]) -> None:
    file = Path(cases[name].trace.run.script)
    for knob in every_knob(cases[name]):
        mutation = knob.at(middle(knob.scale))
        assert mutation is not None
        try:
            ran(text_of(mutation), file)
        except Exception as problem:  # noqa: BLE001 - told with the mutant's name
            pytest.fail(f"{knob.operator} {mutation.title}: {problem!r}")


@pytest.mark.parametrize("name", PROGRAMS)
def test_singles_are_what_no_knob_covers(name: str, cases: dict[str, Case]) -> None:
    problems: list[str] = []
    found = singles(cases[name], problems)
    assert problems == [] and len({mutation.edits for mutation in found}) == len(found)
    graded = {knob.operator for knob in every_knob(cases[name])}
    both = {mutation.operator for mutation in found} & graded
    assert both <= {"M401", "M504"}  # starts without an order; the program's own scaling left out
    starts = {m.title.rpartition(" start as ")[2] for m in found if m.operator == "M401"}
    assert starts <= {"ones", "constant", "zeros"}


def test_all_published_operators_have_one_of_ours() -> None:
    names = {name for unit in OPERATORS.classes().values() for name in unit.published}
    assert [name for name in (*DEEPCRIME, *DEEPMUTATION) if name not in names] == []
    ordered = {
        name
        for unit in OPERATORS.classes().values()
        for name in (unit.published if isinstance(unit(), Graded) else ())
    }
    assert ordered >= {"TCL", "TRD", "TUD", "TAN", "TCO", "HLR", "HNE", "RCP", "RCD", "WCI", "RAW", "OCG"}


def test_test_data_is_never_changed_with_the_training_data(cases: dict[str, Case]) -> None:
    data = {"M501", "M502", "M503", "M505", "M511", "M512", "M513"}
    assert data & {knob.operator for knob in every_knob(cases["probabilities"])}
    assert not data & {knob.operator for knob in every_knob(cases[SHARED])}
    assert not data & {mutation.operator for mutation in singles(cases[SHARED], [])}


def test_a_stronger_fault_touches_all_that_a_weaker_one_does(cases: dict[str, Case]) -> None:
    case = cases["stack"]
    file, (knob,) = Path(case.trace.run.script), turned(case, "M511")
    wrong = []
    for share in (0.2, 0.7):
        mutation = knob.at(share)
        assert mutation is not None and mutation.value == share
        wrong.append(ran(text_of(mutation), file)["wrong"])
    assert 0 < int(wrong[0].sum()) < int(wrong[1].sum())
    assert bool((wrong[1] | ~wrong[0]).all())


@pytest.mark.parametrize("operator", ["M501", "M503", "M505", "M511", "M513"])
def test_random_choices_leave_the_program_its_own_random_numbers(
    operator: str, cases: dict[str, Case]
) -> None:
    case = cases["stack"]
    file, (knob,) = Path(case.trace.run.script), turned(case, operator)
    mutation = knob.at(middle(knob.scale))
    assert mutation is not None
    begun = [
        ran(text[: text.index("criterion = ")], file)["model"][0].weight
        for text in (STACK.lstrip("\n"), text_of(mutation))
    ]
    assert torch.equal(*begun)


def test_values_are_written_as_they_are_told(cases: dict[str, Case]) -> None:
    low, high = turned(cases["stack"], "M101")
    assert (low.cause, high.cause) == ("HYP-LR-LOW", "HYP-LR-HIGH")
    for knob, rate, text in ((low, 0.004, "lr=0.004)"), (high, 3.0, "lr=3.0)")):
        mutation = knob.at(rate)
        assert mutation is not None and text in text_of(mutation)
    (epochs,) = turned(cases["functions"], "M102")
    assert epochs.scale == Scale(6, 1, 1, whole=True)
    fewer = epochs.at(3.4)
    assert fewer is not None and fewer.value == 3 and '"--epochs", type=int, default=3' in text_of(fewer)
    (patience,) = turned(cases["validated"], "M111")
    assert patience.scale == Scale(4, 1, 1, whole=True)
    (lasting,) = turned(cases["probabilities"], "M105")
    momentum = lasting.at(100)
    assert momentum is not None and "momentum=0.99)" in text_of(momentum)
    raised, lowered = turned(cases["validated"], "M411")[0], turned(cases["validated"], "M420")[0]
    assert raised.scale.mildest == lowered.scale.mildest == 0.5
    assert (raised.scale.extreme, lowered.scale.extreme) == (0.99, 0.0)


def test_an_operator_that_fails_does_not_cost_the_others(cases: dict[str, Case]) -> None:
    class Broken(Graded):
        code = "M999"

        def knobs(self, case: Case) -> Iterator[Knob]:
            yield turned(case, "M102")[0]
            raise RecursionError("too deep")

    problems: list[str] = []
    operators: Any = [Broken()]
    assert len(knobs(cases["stack"], problems, operators)) == 1
    assert problems == ["M999 failed (RecursionError: too deep)"]


@pytest.mark.parametrize(
    "ends", [(1.0, 1.0, 0.1), (0.0, 1.0, 0.0), (0.0, 1.0, 2.0, True), (1.0, 9.0, 1.0, True)]
)
def test_a_scale_without_sense_is_refused(ends: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match="scale needs"):
        Scale(*ends)


def test_values_between_the_ends_are_placed() -> None:
    down = Scale(0.1, 1e-5, 1.5, logarithmic=True)
    assert down.position(0.1) == 0 and down.position(1e-3) == pytest.approx(0.5) and down.position(1e-7) == 1
    assert down.fitted(1.0) == 0.1 and down.fitted(0.0012345678) == 0.001235
    assert Scale(50, 1, 1, whole=True).fitted(7.6) == 8
