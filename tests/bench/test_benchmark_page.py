"""docs/benchmark.md is what the result files say; with literal results every section is filled and misses are marked."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.baselines import CONSTANT
from bench.faults22.facts import Atom, fault
from bench.labelled import Judged
from bench.labelled_run import LabelledRun
from bench.labelled_run import as_json as labelled_json
from bench.outcomes import BUGGY, FIXED, Fault22, Result22, Run22
from bench.outcomes import as_json as faults22_json
from bench.repair_answer import RepairAnswer
from bench.repair_command import StudyOptions
from bench.repair_command import as_json as study_json
from bench.repair_study import Search

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import document_benchmark

    return document_benchmark


@pytest.fixture
def results(script: Any, tmp_path: Path) -> Any:
    """No files yet."""
    from benchmark_page.results import Results

    return Results(tmp_path)


def rows(page: str, first: str) -> list[list[str]]:
    """Table rows whose first cell is this."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.splitlines()
        if line.startswith("|")
    ]
    return [row for row in cells if row[0] == first]


def test_the_page_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "document_benchmark.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_section_without_its_file_names_the_command_that_makes_it(script: Any, results: Any) -> None:
    page = script.page(results)
    for command in (
        "python benchmarks/diagnose.py --part heldout",
        "python benchmarks/repair.py --part heldout",
        "netmend bench faults22 --json",
        "netmend bench bugs21 --json",
        "netmend bench silent --json",
        "netmend bench repair --json",
        "netmend neutral",
        "python benchmarks/learned/train.py && python benchmarks/learned/evaluate.py",
    ):
        assert f"Not measured yet: `{command}" in page, command
    assert "▼ |" not in page


def test_a_result_that_changed_without_a_word_is_refused(script: Any, results: Any) -> None:
    shutil.copy(RESULTS / "diagnose-heldout.json", results.folder)
    from benchmark_page.results import Stale

    with pytest.raises(Stale, match="--measured diagnose-heldout"):
        script.page(results)
    results.measured("diagnose-heldout.json")
    assert "CPU cores" in script.page(results)
    file = results.folder / "diagnose-heldout.json"
    file.write_text(json.dumps(json.loads(file.read_text())[:-1]))
    with pytest.raises(Stale):
        script.page(results)
    with pytest.raises(Stale, match=r"no nothing\.json"):
        results.measured("nothing.json")


def _diagnosed(kind: str, count: int, good: int) -> list[dict[str, Any]]:
    return [
        {
            "kind": kind,
            "name": f"{kind}{i}",
            "expected": ["HYP-LR-HIGH"] if kind == "faulty" else [],
            "told": ["HYP-LR-HIGH"] if (i < good) == (kind == "faulty") else [],
            "detected": i < good,
            "first": i < good,
            "third": i < good,
            "line": i < good,
            "step": 3,
        }
        for i in range(count)
    ]


def test_what_misses_its_aim_is_marked(script: Any, results: Any) -> None:
    def page(good: int) -> str:
        runs = _diagnosed("faulty", 10, good) + _diagnosed("healthy", 20, 20)
        (results.folder / "diagnose-heldout.json").write_text(json.dumps(runs))
        results.measured("diagnose-heldout.json")
        return str(script.page(results))

    good = rows(page(9), "held-out")[0]
    assert good[1:] == ["9 of 10 (90%)"] * 4 + ["0 of 20 (0.0%)"]
    bad = page(7)
    assert rows(bad, "held-out")[0][1:] == [
        "7 of 10 (70%) ▼", "7 of 10 (70%) ▼", "7 of 10 (70%)", "7 of 10 (70%) ▼", "0 of 20 (0.0%)"
    ]  # fmt: skip
    assert "Missed: detection, the cause at rank 1 and the line." in bad
    assert "`HYP-LR-HIGH` (3)" in bad


ANSWER = RepairAnswer((Atom("HLR"),), "proven", ("t",), 1.0, 0.5, 1.0, 1.0, 3.0, 9.0, 10, True, 1, 1, 4)


def test_the_22_faults(script: Any, results: Any) -> None:
    def own(name: str, told: tuple[Atom, ...], alarm: tuple[Atom, ...], repair: RepairAnswer) -> Fault22:
        runs = [Run22(BUGGY, s, "finished", 0.5, 2.0, 0.1, (), told) for s in range(3)]
        runs += [Run22(FIXED, s, "finished", 1.0, 2.0, 0.1, (), alarm) for s in range(3)]
        return Fault22(name, "inline", "", (), tuple(runs), repair.as_data() | {"is_small": repair.is_small})

    truth = fault("D1").truth
    made = Result22(
        "2026-01-02",
        {"cpus": 7, "torch": "2.x"},
        3,
        3,
        (
            own("D1", truth, (), replace(ANSWER, atoms=truth)),
            own("D7", (), (Atom("ACH", (1,)),), replace(ANSWER, verified=False)),
            own("D8", (), (), ANSWER),
        ),
    )
    (results.folder / "bench-faults22.json").write_text(faults22_json(made))
    page = script.page(results)
    ours = rows(page, "**netmend run**")[0]
    assert ours[1:5] == ["measured", "0.33 ▼", "0.33 ▼", "0.33 ▼"]
    assert rows(page, "GPT-4")[0][1] == "published"
    assert all(rows(page, name)[0][1] == "recomputed" for name in CONSTANT)
    assert "2026-01-02, 7 CPU cores, torch 2.x" in page
    assert rows(page, "D7")[0][6:] == ["ACH(1)", "proven", "1.00"] and rows(page, "D1")[0][7] == "verified"
    repairs = next(row for row in page.splitlines() if row.startswith("| verified repairs"))
    assert "1 of 2 ▼" in repairs  # D8 is left out
    alarms = next(row for row in page.splitlines() if row.startswith("| alarms on the fixed programs"))
    assert "1 of 3 |" in alarms


def test_the_repair_study(script: Any, results: Any) -> None:
    made = [
        Search(name, budget, 0, replace(ANSWER, improvement_rate=rate, verdict=verdict))
        for budget in (10, 20)
        for name, rate, verdict in (("D1", 1.0, "proven"), ("D6", 0.0, "none"), ("D8", None, "proven"))
    ]
    options = StudyOptions(budgets=(10, 20), searches=1)
    chosen = [fault(name) for name in ("D1", "D6", "D8")]
    (results.folder / "bench-repair.json").write_text(study_json(made, chosen, options, "netmend"))
    page = script.page(results)
    ours = rows(page, "**netmend**")[0]
    assert ours == ["**netmend**", "measured", "0.50 ▼", "0.50 ▼", "1 / 1", "–", "–"]
    assert rows(page, "HEBO")[0][2:] == ["0.55", "0.61", "0 / 0", "0.26", "0.49"]
    assert "brings nothing in our port: D8." in page


def test_labelled_programs(script: Any, results: Any) -> None:
    def run(name: str, kind: str, good: bool) -> LabelledRun:
        return LabelledRun(name, kind, 0, "finished", 1.0, 0.1, (), (), Judged(good, good, good, good))

    bugs = [run(f"bug_{n:02}", "faulty", n < 18) for n in range(1, 22)]
    bugs += [run("bug_01", "healthy", True), run("bug_02", "healthy", False)]
    (results.folder / "bench-bugs21.json").write_text(labelled_json("bugs21", bugs, 1, 1, {}))
    quiet = [run("silent", "faulty", True), run("silent", "healthy", False)]
    (results.folder / "bench-silent.json").write_text(labelled_json("silent", quiet, 1, 1, {}))
    page = script.page(results)
    assert rows(page, "DeepDiagnosis")[0][1:3] == ["published", "7 of 21 (33%)"]
    assert rows(page, "**netmend run**")[0][2:4] == ["17 of 21 (81%) ▼", "17 of 21 (81%)"]
    assert "False alarms on the mended programs: 1 of 2 (50%)." in page
    ours = rows(page, "**netmend run**")[1]
    assert ours[2:] == ["1 of 1 (100%)", "1 of 1 (100%) ▼", "1 of 1 (100%)", "0 of 1 (0%)"]
    assert "Missing: " in page  # programs that the aim asks for and that were not run


def test_learned_diagnosis(script: Any, results: Any) -> None:
    figures = {"faulty": 40, "detected": 0.9, "rank1": 0.5, "top3": 0.7, "recall": 0.6, "healthy": 20}
    figures |= {"false_alarms": 0.02, "ece": None}
    data = {
        "model": {"runs": 100, "programs": 9, "features": 50, "causes": 12, "trees": 30},
        "sets": {"held-out mutants": {"rules": figures, "learned": figures | {"rank1": 0.62, "ece": 0.04}}},
        "criterion": {
            "gain_at_rank1": 0.12, "false_alarms": 0.06, "ece": 0.04, "change_on_programs": -0.01, "met": False
        },
    }  # fmt: skip
    (results.folder / "learned.json").write_text(json.dumps(data))
    results.measured("learned.json")
    page = script.page(results)
    assert rows(page, "held-out mutants")[1][1:5] == ["learned", "40", "90.0%", "62.0%"]
    assert rows(page, "false alarms, the worse of the two held-out sets")[0][1] == "6.0% ▼"
    assert "not met" in page


def test_neutrality(script: Any, results: Any) -> None:
    def alternative(title: str, minimal: bool) -> dict[str, Any]:
        return {
            "titles": [title], "causes": ["HYP-LR-HIGH"], "mean": 0.9, "deviation": None, "lines": 1, "minimal": minimal
        }  # fmt: skip

    data = {
        "script": "train.py",
        "metric": {"name": "val acc"},
        "goal": {"kind": "best", "value": 0.95},
        "nodes": [{"mean": 0.5}, {"mean": 0.9}, {"mean": None}],
        "alternatives": [alternative("both", False), alternative("rate", True)],
        "trainings": 12.4,
    }
    (results.folder / "neutral-one.json").write_text(json.dumps(data))
    results.measured("neutral-one.json")
    found = rows(script.page(results), "`train.py`")
    assert found[0][2:] == ["0.500", "0.950 (the best that the search found)", "2", "2", "1", "12"]
    assert [row[1] for row in found[1:]] == ["rate", "both"] and found[1][3] == "0.900 ± –"


def test_speed_is_read_from_its_file(script: Any, results: Any) -> None:
    data = json.loads((RESULTS / "diagnose-speed.json").read_text()) | {"diagnose": 4.321}
    (results.folder / "diagnose-speed.json").write_text(json.dumps(data))
    assert "took 4.321 s on one core" in script.page(results)


def test_no_result_is_typed_into_the_template(script: Any) -> None:
    """Rows of tables come from files: the template itself holds only heads."""
    template = (ROOT / "docs" / "templates" / "benchmark.md.j2").read_text()
    lines = [line for line in template.splitlines() if line.startswith("|") and "{{" not in line]
    assert all(
        not any(sign.isdigit() for sign in line.replace("rank 1", "").replace("top 3", "")) for line in lines
    )
