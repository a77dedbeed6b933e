"""Labelled programs: reading labels, judging a diagnosis by them, copies and versions without the mistake."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from bench import bugs21, silent
from bench.labelled import (
    FAULTY,
    HEALTHY,
    Expected,
    Judged,
    Labelled,
    judge,
    programs,
    programs_folder,
)
from bench.labelled_run import LabelledRun, as_json, counts
from bench.outcomes import Told
from netmend.errors import UsageError
from netmend.report.terminal import GridTable
from netmend.vocabulary import LEAVES, Fault, Site

EXPECTED = Expected("HYP-LR-HIGH", frozenset(["HYP-LR-HIGH", "OPT-SELECT"]), (("train.py", 10),))


def told(cause: str, line: int | None = 10, file: str = "train.py") -> Fault:
    return Fault(cause, 0.9, "", None if line is None else Site(f"/copy/{file}", line), "", "", "", "")


@pytest.mark.parametrize(
    ("faults", "judged"),
    [
        ((), Judged(False, False, False, False)),
        ((told("HYP-LR-HIGH", 11),), Judged(True, True, True, True)),
        ((told("OPT-SELECT", 12),), Judged(True, True, True, False)),
        ((told("LOS-SELECT"), told("HYP-LR-HIGH")), Judged(True, False, True, True)),
        ((told("LOS-SELECT"),) * 3 + (told("HYP-LR-HIGH"),), Judged(True, False, False, False)),
        ((told("HYP-LR-HIGH", 10, "model.py"),), Judged(True, True, True, False)),
        ((told("HYP-LR-HIGH", None),), Judged(True, True, True, False)),
    ],
)
def test_judging(faults: tuple[Fault, ...], judged: Judged) -> None:
    assert judge([EXPECTED], faults) == judged


def corpus(folder: Path, label: dict[str, object] | None = None) -> Path:
    (folder / HEALTHY).mkdir(parents=True)
    (folder / "a.py").write_text("lr = 10\nstep(lr)\n")
    (folder / "b.py").write_text("x = 1\n")
    (folder / HEALTHY / "b.py").write_text("x = 2\n")
    cause = {"code": "HYP-LR-HIGH", "accept": ["OPT-SELECT"], "places": [["a.py", "lr = "]]}
    labels = {
        "b": {"entry": "b.py", "launch": {"torchrun": 2}},
        "a": {"entry": "a.py", "causes": [cause], **(label or {})},
    }
    (folder / "labels.json").write_text(json.dumps(labels))
    edit = {"file": "a.py", "old": "lr = 10", "new": "lr = 0.1"}
    (folder / "references.json").write_text(json.dumps({"a": {"edits": [edit]}}))
    return folder


def test_programs_come_with_their_versions_without_the_mistake(tmp_path: Path) -> None:
    found = list(programs(corpus(tmp_path / "corpus")))
    assert [(one.name, one.kind, one.processes) for one in found] == [
        ("a", FAULTY, 1), ("a", HEALTHY, 1), ("b", FAULTY, 2), ("b", HEALTHY, 2),
    ]  # fmt: skip
    assert found[0].causes == (replace(EXPECTED, places=(("a.py", 1),)),)
    texts = []
    for index, one in enumerate(found):
        copy = tmp_path / str(index)
        copy.mkdir()
        texts.append(one.put(copy).read_text())
    assert texts == ["lr = 10\nstep(lr)\n", "lr = 0.1\nstep(lr)\n", "x = 1\n", "x = 2\n"]


def test_a_place_that_is_on_no_or_on_several_lines_is_refused(tmp_path: Path) -> None:
    cause = {"code": "HYP-LR-HIGH", "places": [["a.py", "lr"]]}
    with pytest.raises(UsageError, match=r"'lr' is on 2 lines of a\.py"):
        list(programs(corpus(tmp_path / "corpus", {"causes": [cause]})))


def test_an_edit_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    entry = tmp_path / "a.py"
    entry.write_text("lr = 1\n")
    (tmp_path / "copy").mkdir()
    with pytest.raises(UsageError, match="stands 0 times"):
        Labelled("a", HEALTHY, entry, edits=(("a.py", "lr = 10", ""),)).put(tmp_path / "copy")


def test_the_21_bugs_are_in_the_checkout_and_agree_with_what_was_published() -> None:
    found = [one for one in programs(programs_folder("bugs21")) if one.kind == FAULTY]
    assert [one.name for one in found] == [f"bug_{bug['no']:02}" for bug in bugs21.facts()["bugs"]]
    assert all(cause.accept & set(LEAVES) and cause.places for one in found for cause in one.causes)
    assert all(one.causes for one in found)
    counted = bugs21.facts()["counted"]
    for tool in bugs21.TOOLS:
        assert sum(bug["found_by"][tool] for bug in bugs21.facts()["bugs"]) == counted["found"][tool]
    with pytest.raises(UsageError, match="restore them with git"):
        programs_folder("no-such-benchmark")


def labelled_run(name: str, kind: str, *causes: str, right: bool = True) -> LabelledRun:
    judged = Judged(bool(causes), right and bool(causes), right and bool(causes), right and bool(causes))
    answers = tuple(Told(cause, 0.9, "", 3) for cause in causes)
    expected = ("LOS-SELECT",) if kind == FAULTY else ()
    return LabelledRun(name, kind, 0, "finished", 2.0, 0.1, expected, answers, judged)


def test_figures_and_file() -> None:
    runs = [
        labelled_run("bug_01", FAULTY, "LOS-SELECT"),
        labelled_run("bug_02", FAULTY, "LOS-SELECT", right=False),
        labelled_run("bug_04", FAULTY),
        labelled_run("bug_01", HEALTHY),
        labelled_run("bug_02", HEALTHY, "VAL-SPLIT"),
    ]
    assert counts(runs) == {
        "faulty": 3, "detected": 2, "first": 1, "third": 1, "line": 1, "healthy": 2, "alarms": 1,
    }  # fmt: skip
    data = json.loads(as_json("bugs21", runs, 1, 2, bugs21.facts()["published"]))
    assert (data["schema"], data["benchmark"], data["summary"]["alarms"]) == (1, "bugs21", 1)
    assert data["runs"][1]["told"][0]["cause"] == "LOS-SELECT"
    assert set(data["machine"]) == {"cpus", "jobs", "system", "python", "torch", "numpy", "netmend"}
    alarms = [remark.text for remark in bugs21.remarks(runs)]
    assert alarms[:2] == ["1 of 2 trainings of mended programs", "bug_02: VAL-SPLIT"]
    text = shown(list(bugs21.grids(runs)))
    assert "DeepDiagnosis" in text and "7 of 21" in text and "2 of 3" in text


def test_silent_bugs_that_have_no_program_are_shown_as_such() -> None:
    runs = [labelled_run("transformers-33844", FAULTY, "LYR-DROPOUT-MODE")]
    text = shown(list(silent.grids(runs)))
    assert "18 of 18" in text and "15 of 18" in text and "1 of 1" in text
    assert "not run here" in text and "LYR-DROPOUT-MODE" in text
    assert "stackoverflow-67180955" not in text  # has a program that was not asked for


def shown(grids: list[object], width: int = 80) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, highlight=False)
    for grid in grids:
        console.print(GridTable(grid))  # type: ignore[arg-type]
    assert max(len(line) for line in stream.getvalue().splitlines()) <= width
    return stream.getvalue()
