"""The repair study: published numbers, rates, what a patch says, and searches that are kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bench import repair30, repair_command, repairs22
from bench.faults22.facts import Atom, BenchFault, fault
from bench.faults22.programs import Written, source, write
from bench.improvement import (
    SEEDS,
    Side,
    average,
    changed_lines,
    helps,
    improvement_rate,
    reaches,
)
from bench.outcomes import parsed
from bench.patch_atoms import atoms_of_changes
from bench.repair_answer import OTHER_DATA, SAME_DATA, RepairAnswer
from bench.repair_study import Search, Work, as_data, comparable, from_data, mean_rate, searched
from bench.repair_table import averages, per_fault
from bench.repairs22 import Shifted, repaired
from netmend.errors import UsageError
from netmend.program.text.positions import Lines
from netmend.repair.objective import Objective
from netmend.repair.options import Budget
from netmend.repair.result import Result
from netmend.repair.version import Version
from netmend.trials.runner import Executor
from netmend.trials.trial import FAILED, FINISHED, Outcome, Target, Trial
from netmend.vocabulary.change import Change, FileEdit
from netmend.vocabulary.verification import PROMISING, PROVEN, Verification

# -- what was published ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "rates"),
    [
        ("Random", (0.38, 0.50, 0.62)),
        ("AutoTrainer", (0.17, 0.23, 0.26)),
        ("HEBO", (0.26, 0.49, 0.67)),
        ("BOHB", (0.40, 0.48, 0.63)),
    ],
)
def test_rates_of_the_tables_are_those_that_were_computed_from_them_before(
    tool: str, rates: tuple[float, ...]
) -> None:
    assert [repair30.published(tool, b) for b in (10, 20, 50)] == pytest.approx(rates, abs=0.0051)


def test_counts_of_the_tables() -> None:
    found = {
        tool: [repair30.repaired_count(tool, b) for b in (10, 20, 50)] for tool in repair30.study().tools
    }
    assert found == {"Random": [1, 5, 11], "AutoTrainer": [4, 4, 5], "HEBO": [2, 7, 10], "BOHB": [2, 6, 10]}


def test_faults_of_the_study_are_those_of_the_benchmark_under_its_own_names() -> None:
    rows = repair30.study().faults
    named = {row.id: row for row in rows if row.id is not None}
    assert len(rows) == 30 and len(named) == 22
    for name, row in named.items():
        codes = {"ACH" if code in ("ARM", "AAL") else code for code in row.codes}
        assert codes & {atom.code for atom in fault(name).truth}, name
    assert named["M3"].study_id == "M1" and named["M3"].codes == ("HLR",)  # the two number them differently


def test_a_tool_that_cannot_be_applied_or_ran_out_of_budget_has_no_rate() -> None:
    rows = {row.study_id: row for row in repair30.study().faults}
    assert rows["D5"].rate("AutoTrainer", 20) is None and rows["D1"].rate("AutoTrainer", 10) is None
    assert rows["D7"].rate("Random", 50) == pytest.approx((6.71 - 0.08) / (6.71 - 0.13), abs=1e-4)


# -- rates -----------------------------------------------------------------------------------------------------------


def test_rates() -> None:
    assert improvement_rate(0.5, 1.0, 0.75) == 0.5
    assert improvement_rate(6.0, 1.0, 3.5) == 0.5  # a loss
    assert improvement_rate(0.5, 1.0, None) == 0.0  # the patched program fails
    assert improvement_rate(0.5, None, 0.7) is None and improvement_rate(0.5, 0.5, 0.7) is None
    assert average([1.7, None, -0.5]) == pytest.approx(0.5 / 3)
    assert Side((0.5, None)).mean is None and Side((0.4, 0.6)).mean == 0.5


def test_a_patch_is_as_good_as_the_fix_within_the_noise_of_the_fix() -> None:
    fix = Side((0.90, 0.92, 0.94))
    assert (
        reaches(True, 0.5, fix, 0.881) and not reaches(True, 0.5, fix, 0.879) and reaches(True, 0.5, fix, 1.0)
    )
    assert reaches(False, 5.0, Side((0.1, 0.3)), 0.39) and not reaches(False, 5.0, Side((0.1, 0.3)), 0.41)
    steady = Side((1.0, 1.0, 1.0))  # no noise seen: a hundredth of the gain
    assert reaches(True, 0.5, steady, 0.996) and not reaches(True, 0.5, steady, 0.99)
    assert not reaches(True, 0.5, fix, None) and not reaches(True, 0.5, Side((0.9, None)), 1.0)


def test_a_fix_that_brings_nothing_is_no_measure() -> None:
    assert helps(True, 0.5, Side((0.6, 0.6))) and not helps(True, 0.5, Side((0.5, 0.5)))
    assert helps(False, 0.5, Side((0.4,))) and not helps(False, 0.5, Side((0.6,)))
    assert not helps(True, None, Side((0.6,)))


def test_of_a_replaced_piece_the_larger_side_counts() -> None:
    assert changed_lines("a\nb\nc\n", "a\nx\ny\nc\n") == 2 and changed_lines("a\nb\n", "a\nb\n") == 0


# -- what a patch says -----------------------------------------------------------------------------------------------


@pytest.fixture
def program(tmp_path: Path) -> Written:
    return write(fault("D6"), "buggy", tmp_path / "buggy")


def _changed(version: Version, program: Written, cause: str, old: str, new: str) -> Version:
    text = version.text("train.py", str(program.entry.parent))
    start = text.index(old)
    edit = Lines(text).edit(start, start + len(old), new)
    change = Change("R000", cause, f"{old} → {new}", (FileEdit(str(program.entry), edit),), knob=cause)
    made = version.extended(change, str(program.entry.parent), str(program.entry.parent))
    assert made is not None
    return made


def test_a_patch_names_its_causes_and_the_layers_of_the_lines_that_it_changes(program: Written) -> None:
    rate = _changed(Version({}), program, "HYP-LR-LOW", "lr=0.001", "lr=0.1")
    assert atoms_of_changes(rate, program) == (Atom("HLR"),)
    both = _changed(rate, program, "ACT-HID-WRONG", "nn.Sigmoid()", "nn.ReLU()")
    assert atoms_of_changes(both, program) == (Atom("HLR"), Atom("ACH", (0,)))


def test_lines_are_those_of_the_program_as_it_was(program: Written) -> None:
    """An earlier part moves what comes after it down; an import says nothing about layers."""
    moved = _changed(
        Version({}), program, "HYP-EPOCH-FEW", "import os\n", "import math\nimport random\nimport os\n"
    )
    made = _changed(moved, program, "ACT-OUT-WRONG", "nn.Softmax(dim=1)", "nn.Sigmoid()")
    assert atoms_of_changes(made, program) == (Atom("HNE"), Atom("ACH", (1,)))


def test_what_is_put_behind_a_layer_belongs_to_it(tmp_path: Path) -> None:
    made = source(fault("D6"), "buggy")
    last = max(line for place in made.layers.values() for line in place.lines)
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "train.py").write_text(made.text)
    program = Written(folder / "train.py", made.layers, "", True)
    behind = made.text.splitlines()[last]  # the line after it
    start = Lines(made.text).start(last + 1)
    assert behind == ")"
    edit = Lines(made.text).edit(start, start, "    nn.Identity(),\n")
    change = Change("R000", "ACT-HID-MISSING", "add", (FileEdit(str(program.entry), edit),))
    version = Version({}).extended(change, str(folder), str(folder))
    assert version is not None
    assert atoms_of_changes(version, program) == (Atom("ACH", (1,)),)


# -- one repair, without processes -----------------------------------------------------------------------------------


class World:
    """Trains nothing: the metric is a function of the program's text and the seed."""

    def __init__(self, value: Callable[[str, int], float | None], jobs: int = 1) -> None:
        self.jobs = jobs
        self.value = value
        self.seen: list[tuple[str, int]] = []

    def run(
        self, folder: Path, trial: Trial, protected: tuple[str, ...], stopping: Callable[[], bool]
    ) -> Outcome:
        text = dict(trial.texts).get("train.py") or (Path(trial.target.directory) / "train.py").read_text()
        self.seen.append((text, trial.seed))
        found = self.value(text, trial.seed)
        if found is None:
            return Outcome(FAILED)
        return Outcome(FINISHED, steps=10, seconds=1.0, series={"pattern": [[10.0, found]]})

    def close(self) -> None:
        raise AssertionError("the executor belongs to who made it")


def _learns(text: str, seed: int) -> float | None:
    fixed = 1.0 - 0.01 * (seed % 3)
    return fixed if "lr=0.1" in text else 0.5


def _method(verdict: str, *edits: tuple[str, str, str]) -> repairs22.Method:
    def method(target: Target, folder: Path, executor: Executor, budget: Budget) -> Result:
        executor.run(folder, Trial(target, (), 0), (), lambda: False)
        entry = Path(target.directory) / target.script
        version = Version({})
        for cause, old, new in edits:
            version = _changed(version, Written(entry, {}, "", True), cause, old, new)
        proof = Verification(verdict, trainings=10) if edits else None
        outcome = Outcome(FINISHED)
        executor.close()
        return Result(
            target.script, target.directory, (), version, Objective("printed:test accuracy", True, True),
            outcome, outcome, None, (), proof, 3.5, 7.0, str(budget),
        )  # fmt: skip

    return method


RATE = ("HYP-LR-LOW", "lr=0.001", "lr=0.1")


@pytest.fixture
def sides(tmp_path: Path) -> tuple[BenchFault, Written, Written]:
    one = fault("D6")
    return one, write(one, "buggy", tmp_path / "buggy"), write(one, "fixed", tmp_path / "fixed")


def test_a_proven_patch_that_reaches_the_known_fix_is_a_verified_repair(
    sides: tuple[BenchFault, Written, Written], tmp_path: Path
) -> None:
    world = World(_learns)
    made = repaired(*sides, tmp_path / "work", world, Budget(20.0), method=_method(PROVEN, RATE))
    assert made.verified and made.improvement_rate == 1.0 and made.atoms == (Atom("HLR"),)
    assert (made.value_buggy, made.value_patched) == (0.5, made.value_fixed)
    assert made.trainings == 3.5 and made.proof_trainings == 10 and made.changes == made.lines == 1
    assert [seed for _, seed in world.seen] == [0, *SEEDS, *SEEDS, *SEEDS]
    assert made.hold_out == SAME_DATA


def test_causes_of_a_patch_that_is_not_proven_are_no_answer(
    sides: tuple[BenchFault, Written, Written], tmp_path: Path
) -> None:
    made = repaired(*sides, tmp_path / "work", World(_learns), Budget(20.0), method=_method(PROMISING, RATE))
    assert made.atoms == () and not made.verified and made.improvement_rate == 1.0


def test_without_a_patch_the_rate_is_nothing(
    sides: tuple[BenchFault, Written, Written], tmp_path: Path
) -> None:
    world = World(_learns)
    made = repaired(*sides, tmp_path / "work", world, Budget(20.0), method=_method("none"))
    assert made.improvement_rate == 0.0 and made.changes == 0 and made.value_patched == made.value_buggy
    assert len(world.seen) == 1 + 2 * len(SEEDS)  # the same program is not trained twice


def test_a_patch_that_fails_is_worth_nothing_and_a_fix_without_gain_gives_no_rate(
    sides: tuple[BenchFault, Written, Written], tmp_path: Path
) -> None:
    def breaks(text: str, seed: int) -> float | None:
        return None if "lr=0.1" in text and "range(5)" in text else _learns(text, seed)

    method = _method(PROVEN, RATE)
    made = repaired(*sides, tmp_path / "a", World(breaks), Budget(20.0), method=method)
    assert made.improvement_rate == 0.0 and made.value_patched is None and not made.verified
    flat = repaired(*sides, tmp_path / "b", World(lambda text, seed: 0.5), Budget(20.0), method=method)
    assert flat.improvement_rate is None


def test_another_repetition_has_other_seeds_and_keeps_the_executor_open() -> None:
    world = World(lambda text, seed: float(seed))
    shifted = Shifted(world, 200_000)
    outcome = shifted.run(Path(), Trial(Target("train.py"), (("train.py", "x"),), 7), (), lambda: False)
    assert outcome.series["pattern"] == [[10.0, 200_007.0]]
    shifted.close()


def test_search_on_validation_data_is_told_apart() -> None:
    assert repairs22._hold_out(Objective("printed:val accuracy", True, True), "final test accuracy") == (
        OTHER_DATA
    )
    assert repairs22._hold_out(None, "final test accuracy") == SAME_DATA


# -- the study -------------------------------------------------------------------------------------------------------


def _search(name: str, budget: int, repetition: int, rate: float | None, verdict: str = PROVEN) -> Search:
    answer = RepairAnswer((Atom("ACH", (1, 2)),), verdict, ("t",), 0.9, 0.5, 1.0, rate, 3.0, 9.0)
    return Search(name, budget, repetition, replace(answer, values={"fixed": (1.0, None)}))


def test_searches_are_kept_until_the_program_changes(tmp_path: Path) -> None:
    world, calls = World(_learns), []

    def method(target: Target, folder: Path, executor: Executor, budget: Budget) -> Result:
        calls.append((folder.name, budget.trainings))
        return _method(PROVEN, RATE)(target, folder, executor, budget)

    work = Work((fault("D6"),), (20, 10), 2)
    first = list(searched(work, tmp_path, world, method=method))
    assert [(s.budget, s.repetition) for s in first] == [(10, 0), (20, 0), (10, 1), (20, 1)]
    assert len(calls) == len(work) == 4 and calls[2][0] == "repetition-1"
    assert list(searched(work, tmp_path, world, method=method)) == first and len(calls) == 4
    kept = tmp_path / "D6" / "repair-netmend-10x-0.json"
    kept.write_text(json.dumps(json.loads(kept.read_text()) | {"stamp": "of another state"}))
    list(searched(work, tmp_path, world, method=method))
    assert len(calls) == 5


def test_a_search_is_the_same_after_a_file() -> None:
    made = _search("D1", 10, 2, 0.25)
    assert from_data(json.loads(json.dumps(as_data(made)))) == made
    assert as_data(made)["atoms"] == ["ACH(1,2)"] and parsed("ACH(1,2)") == made.answer.atoms[0]


def test_averages_are_over_faults_that_have_a_rate() -> None:
    made = [
        _search("D1", 20, 0, 1.4),
        _search("D1", 20, 1, 0.0, PROMISING),
        _search("D6", 20, 0, 0.4, PROMISING),
        _search("D8", 20, 0, None),
    ]
    assert comparable(made) == ("D1", "D6")
    assert mean_rate(made, 20, comparable(made)) == pytest.approx((0.5 + 0.4) / 2)
    assert mean_rate(made, 20, comparable(made), proven_only=True) == pytest.approx(0.25)
    rows = {row[0]: row for row in averages(made).rows}
    assert rows["netmend"][2] == "0.45"
    assert rows["BOHB"][2] == f"{repair30.published('BOHB', 20, ('D1', 'D6')):.2f}"
    shown = {row[0]: row for row in per_fault(made, [fault("D1"), fault("D8")]).rows}
    assert shown["D8"][3] == "–" and shown["D1"][4] == "1/2"


def test_bad_options_are_refused_before_anything_runs(tmp_path: Path) -> None:
    assert repair_command.parse_budgets("50, 10x,20") == (10, 20, 50)
    for text in ("", "ten", "10,-5", "0"):
        with pytest.raises(UsageError, match="--budgets"):
            repair_command.parse_budgets(text)
    options = repair_command.StudyOptions(work=tmp_path / "work")
    for bad in (replace(options, only=("D99",)), replace(options, json=tmp_path / "no" / "f.json")):
        with pytest.raises(UsageError):
            repair_command.run_study(bad)
    assert not (tmp_path / "work").exists()


def test_the_command_prints_and_writes_every_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Closing(World):
        def close(self) -> None:
            pass

    monkeypatch.setattr(repair_command, "LocalExecutor", lambda jobs: Closing(_learns))
    monkeypatch.setenv("COLUMNS", "80")
    file = tmp_path / "out.json"
    options = repair_command.StudyOptions(tmp_path / "work", (10, 20), 1, ("D6",), 1, file, True)
    assert repair_command.run_study(options, _method(PROVEN, RATE)) == 0
    printed = capsys.readouterr().out
    assert "D6" in printed and "AutoTrainer" in printed and "Hold-out" in printed
    assert max(map(len, printed.splitlines())) <= 80
    data = json.loads(file.read_text())
    assert data["schema"] == 1 and len(data["searches"]) == 2 and data["summary"]["measured"]["10"] == 1.0
    assert from_data(data["searches"][0]).answer.verified
    assert str(tmp_path) not in file.read_text()


def test_an_interruption_shows_what_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks_off(*given: object, **more: object) -> object:
        yield _search("D6", 10, 0, 0.5)
        raise KeyboardInterrupt

    monkeypatch.setattr(repair_command, "searched", breaks_off)
    file = tmp_path / "out.json"
    options = repair_command.StudyOptions(tmp_path / "work", (10,), 2, ("D6",), 1, file, True)
    assert repair_command.run_study(options) == 130
    said = capsys.readouterr()
    assert "0.50" in said.out and "1 of 2" in said.err and not file.exists()
