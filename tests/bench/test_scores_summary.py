"""From recorded answers to the figures, the tables and the result file; nothing is trained."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from bench import outcomes
from bench.faults22.facts import Atom, fault, faults
from bench.outcomes import BUGGY, FIXED, Fault22, Result22, Run22, Told
from bench.remarks22 import remarks
from bench.statistics import interval, most_frequent
from bench.summary22 import MEAN, REPAIR, RUN, as_data, summarise
from bench.tables22 import grids
from netmend.errors import UsageError
from netmend.report.terminal import GridTable, Remarks

MACHINE = {"cpus": 2, "jobs": 2, "python": "3.11.2", "torch": "2.4.0", "netmend": "0.1.0"}
PATCH = {
    "atoms": ["HLR"], "verdict": "proven", "titles": ["lr 0.1"], "value_patched": 0.011, "value_buggy": 6.4,
    "value_fixed": 0.012, "improvement_rate": 1.0, "trainings": 4.0, "seconds": 9.0, "verified": True,
    "changes": 1, "known_changes": 1, "is_small": True,
}  # fmt: skip


def run(side: str, seed: int, *answer: Atom, status: str = "finished") -> Run22:
    told = tuple(Told(atom.code, 0.9, "model", 3) for atom in answer)
    return Run22(side, seed, status, 0.5, 2.0, 0.25, told, answer)


HLR, OCH, ACH = Atom("HLR"), Atom("OCH"), Atom("ACH", (7,))
D7 = Fault22(
    "D7",
    "inline",
    runs=(
        run(BUGGY, 0, OCH, HLR),
        run(BUGGY, 1, HLR),
        run(BUGGY, 2, HLR),
        run(BUGGY, 3, HLR, OCH),
        run(BUGGY, 4, HLR, OCH),
        run(BUGGY, 5, HLR, OCH),
        run(FIXED, 0),
        run(FIXED, 1, HLR),
        run(FIXED, 2),
    ),
    repair=PATCH,
)
R2 = Fault22(
    "R2",
    "Reuters",
    "bags of words",
    ("half the words",),
    runs=(
        *(run(BUGGY, seed, Atom("ACH", (2,))) for seed in range(5)),
        run(BUGGY, 5, status="failed"),
        *(run(FIXED, seed, ACH) for seed in range(3)),
    ),
)
RESULT = Result22("2026-01-02", MACHINE, 3, 6, (D7, R2))


def shown(width: int, result: Result22 = RESULT) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, highlight=False, markup=False)
    summary = summarise(result)
    for grid in grids(summary):
        console.print(GridTable(grid))
    console.print(Remarks(remarks(summary, result)))
    return stream.getvalue()


def test_the_answer_is_the_most_frequent_one_of_the_first_seeds() -> None:
    line, other = summarise(RESULT).lines
    assert line.answer == (HLR,)  # two of three; over all six trainings it is the other one
    assert line.stable == pytest.approx(4 / 6)  # OCH HLR and HLR OCH are the same answer
    assert (line.before.rc, line.before.pr) == (1.0, 1.0)
    assert line.on_fixed == ()
    assert other.answer == (Atom("ACH", (2,)),)
    assert other.stable == pytest.approx(5 / 6)
    assert other.failed == 1
    assert other.on_fixed == (ACH,)
    assert other.atom_before == 1.0


def test_totals_stand_beside_published_recomputed_and_constant_answers() -> None:
    rows = {(row.name, row.origin): row for row in summarise(RESULT).rows["all"]}
    assert rows[RUN, "measured"].before.rc == 1.0
    assert rows[RUN, "measured"].codes == 1.0
    assert rows[RUN, "measured"].seconds == pytest.approx(2.25)
    assert rows[MEAN, "measured"].before.pr == pytest.approx((2.5 / 3 + 1.0) / 2)
    assert rows[REPAIR, "measured"].before.rc == 0.5  # of R2 there is no repair
    for name in ("DeepFD", "DeepDiagnosis", "NeuraLint", "UMLAUT"):
        assert (name, "published") in rows and (name, "recomputed") in rows
    assert ("GPT-4", "published") in rows
    assert rows["always 5", "recomputed"].codes == 5.0
    assert rows["always 14", "recomputed"].before.rc == 1.0


def test_over_all_22_the_printed_averages_are_shown() -> None:
    everything = tuple(
        Fault22(one.id, one.data, runs=(run(BUGGY, 0, *one.truth), run(FIXED, 0))) for one in faults()
    )
    summary = summarise(Result22("2026-01-02", MACHINE, 1, 0, everything))
    assert set(summary.rows) == {"artificial", "real", "all"}
    printed = {row.name: row for row in summary.rows["all"] if row.origin == "published"}
    assert printed["DeepFD"].after.f3 == 0.55
    assert printed["DeepFD"].seconds == pytest.approx(278, abs=1)
    own = next(row for row in summary.rows["real"] if row.name == RUN)
    assert (own.before.f3, own.atom_before) == (1.0, 1.0)


def test_alarms_and_repairs_are_counted() -> None:
    summary = summarise(RESULT)
    alarms = summary.alarms
    assert (alarms.programs, alarms.of_programs, alarms.runs, alarms.of_runs) == (1, 2, 4, 6)
    assert (summary.verified, summary.verified_small) == (1, 1)
    mean, low, high = summary.intervals["all"]["PR before"]
    assert low <= mean <= high and low < high


def test_the_file_holds_all_that_the_tables_need(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    text = outcomes.as_json(RESULT, as_data(summarise(RESULT)))
    file.write_text(text, encoding="utf-8")
    assert outcomes.read(file) == RESULT
    assert shown(80, outcomes.read(file)) == shown(80)
    data = json.loads(text)
    assert data["schema"] == 1 and data["faults"][0]["runs"][0]["answer"] == ["OCH", "HLR"]
    assert data["summary"]["lines"][0]["truth"] == [str(atom) for atom in fault("D7").truth]


@pytest.mark.parametrize("content", ["", "{}", '{"schema": 9, "benchmark": "faults22"}', "[1]"])
def test_a_file_that_is_no_result_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "other.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match="netmend bench faults22 --json"):
        outcomes.read(file)


@pytest.mark.parametrize("text", ["HLR", "ACH(0,2)", "LOOP-ZERO-GRAD"])
def test_answers_are_spelled_and_read_again(text: str) -> None:
    assert outcomes.spelled(outcomes.parsed(text)) == text


@pytest.mark.parametrize("text", ["", "ach", "ACH()", "ACH(1,)", "ACH(1"])
def test_what_is_no_answer_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no fault code"):
        outcomes.parsed(text)


def test_tables_fit_into_80_columns_with_all_their_numbers() -> None:
    text = shown(80)
    assert max(len(line) for line in text.splitlines()) <= 80
    rows = [line.split() for line in text.splitlines() if line.startswith("netmend run ")]
    assert len(rows) == 3  # artificial, real, all
    for row in rows:
        assert row[2:6] == ["our", "1.00", "1.00", "1.00"]
        assert row[-2:] == ["1.0", "2"]  # codes per program, seconds
    assert "R2*" in text and "bags of words" in text and "half the words" in text
    assert "1 of 2 programs" in text
    assert "1 of 1; 1 with no more changes" in text


def test_the_earlier_of_two_equally_frequent_answers_wins() -> None:
    assert most_frequent(["b", "a", "a", "b"]) == ("b", 0.5)
    with pytest.raises(ValueError, match="nothing"):
        most_frequent([])


def test_intervals() -> None:
    assert interval([[0.5, 0.5], [0.5]]) == (0.5, 0.5)
    assert interval([]) == (0.0, 0.0)
    low, high = interval([[0.0], [1.0]] * 10)
    assert 0.2 < low < 0.4 and 0.6 < high < 0.8  # 0.5 ± 1.96 · 0.5/√20 = 0.28 … 0.72
    low, high = interval([[0.0, 1.0] * 10])  # one program: only its seeds vary
    assert 0.2 < low < 0.4 and 0.6 < high < 0.8
