"""`netmend locate`: what it reads, what it prints, how it ends."""

from __future__ import annotations

import io
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from netmend.cli import main
from netmend.cli.locate import decoded, parse_moment
from netmend.cli.progress import LocateProgress
from netmend.environment.facts import Problem
from netmend.errors import UsageError
from netmend.locate.answer import Answer, Located, RankedFile, RankedFunction, Reason
from netmend.locate.bug_report import read_report
from netmend.locate.classify import Kind
from netmend.locate.executed import executed_files, report_of_run
from netmend.locate.extrinsic import Extrinsic, Here, HereChecked, Outside
from netmend.report.locate import located_document
from netmend.report.terminal import draw
from netmend.store import RunWriter
from netmend.vocabulary import Diagnosis, Fault, Trace
from netmend.vocabulary.facts import LossFact, OptimizerFact, RunFact
from netmend.vocabulary.site import Site

SOURCES = {
    "proj/trainer.py": "class Trainer:\n    def fit(self, batches):\n        return self.step(batches)\n",
    "proj/optimizer.py": "class Momentum:\n    def update(self, gradient):\n        self.velocity += gradient\n",
    "proj/reader.py": "def read_images(folder):\n    return sorted(folder.iterdir())\n",
}
REPORT = "Momentum.update ignores the gradient\n\nThe velocity of the optimizer never changes.\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    for name, text in SOURCES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "issue.md").write_text(REPORT, encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.delenv("NETMEND_DIR", raising=False)
    return folder


def netmend(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as leaving:
        main(["locate", *arguments])
    told = capsys.readouterr()
    return int(leaving.value.code or 0), told.out, told.err


def test_a_report_in_a_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = netmend(capsys, "--report", "issue.md")
    assert code == 0
    assert "  1  proj/optimizer.py:2\n" in out
    assert "Momentum.update, lines 2–3" in out
    assert (project / ".netmend/locate").is_dir()


def test_a_report_from_standard_input(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(REPORT.encode("utf-16"))))
    code, out, _ = netmend(capsys, "--report", "-", "--top", "1", "--no-cache")
    assert code == 0
    assert "1 of 3 files" in out
    assert "proj/reader.py" not in out
    assert not (project / ".netmend").exists()


def test_a_report_as_text(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = netmend(capsys, "read_images returns folders too", "--no-cache")
    assert code == 0
    assert "  1  proj/reader.py:1\n" in out


def test_json_on_the_terminal_and_in_a_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = netmend(capsys, "--report", "issue.md", "--format", "json", "--json", "out.json")
    assert code == 0
    assert err == ""
    data = json.loads(out)
    assert json.loads((project / "out.json").read_text(encoding="utf-8"))["files"] == data["files"]
    assert data["schema"] == 1
    assert data["candidates"] == 3
    first = data["files"][0]
    assert (first["rank"], first["path"], first["line"]) == (1, "proj/optimizer.py", 2)
    assert first["functions"][0]["name"] == "Momentum.update"
    assert {"kind", "text", "line", "weight"} == set(first["reasons"][0])
    assert data["repository"]["root"] == str(project)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "there is no bug report; give it: --report issue.md"),
        (("--report", "nowhere.md"), "nowhere.md' cannot be read"),
        (("--report", "proj"), "proj' cannot be read"),
        (("--report", "https://example.org/1"), "nothing is fetched"),
        (("text", "--report", "issue.md"), "both as text"),
        (("issue.md",), "--report issue.md"),
        (("--report", "issue.md", "--format", "xml"), "--format must be one of text, json, got 'xml'"),
        (("--report", "issue.md", "--json", "proj"), "--json proj"),
        (("--report", "issue.md", "--opened", "tomorrow"), "--opened 'tomorrow' is no date"),
        (("--report", "issue.md", "--top", "0"), "--top"),
        (("--report", "issue.md", "--repo", "nowhere"), "nowhere does not exist"),
        (("--report", "issue.md", "--rev", "main"), "not in a git repository"),
        (("--report", "issue.md", "--run", "last"), "no runs yet"),
        (("   ",), "the bug report is empty"),
    ],
)
def test_what_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], told: str
) -> None:
    code, out, err = netmend(capsys, *arguments)
    assert code == 2
    assert told in err
    assert "Traceback" not in err
    assert out == ""


def test_reports_that_are_no_text() -> None:
    with pytest.raises(UsageError, match="not text"):
        decoded(b"PK\x03\x04\0\0", "issue.zip")
    assert decoded(b"\xef\xbb\xbfGr\xc3\xbc\xc3\x9fe", "x") == "Grüße"
    assert decoded(b"Gr\xfc\xdfe", "x") == "Grüße"


def test_moments() -> None:
    assert parse_moment("1970-01-02") == 86_400
    assert parse_moment("1970-01-01T01:00:00+01:00") == 0
    assert parse_moment("2021-03-04T10:00:00Z") == parse_moment("2021-03-04 10:00:00")
    assert parse_moment("1614852000.5") == 1614852000.5


def run_fact() -> RunFact:
    site = Site("proj/reader.py", 2, function="read_images")
    return RunFact(
        name="r",
        script="proj/trainer.py",
        working_directory=str(Path.cwd()),
        status="failed",
        exception="FileNotFoundError: no such folder of images",
        exception_site=site,
    )


def test_a_recorded_run_is_a_report(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    writer = RunWriter.create(project / ".netmend/runs/2026-01-01-000000-abc", run_fact())
    writer.fact(OptimizerFact("optimizer", "SGD", created=Site(str(project / "proj/optimizer.py"), 1)))
    writer.close()
    code, out, _ = netmend(capsys, "--run", "last", "--format", "json")
    assert code == 0
    data = json.loads(out)
    assert data["report"]["failures"][0]["kind"] == "FileNotFoundError"
    assert data["files"][0]["path"] == "proj/reader.py"


def test_what_a_run_executed_comes_in_the_order_of_blame(project: Path) -> None:
    blamed = Site(str(project / "proj/optimizer.py"), 3)
    fault = Fault(
        cause="HYP-LR-HIGH", confidence=0.9, component="", site=blamed, title="rate too high",
        summary="The rate is 10.", reason="It diverges.", remedy="", refutation="",
    )  # fmt: skip
    loss = LossFact("mse", created=Site("/elsewhere/library.py", 7), called=Site("proj/trainer.py", 3))
    trace = Trace({"run": {"r": run_fact()}, "loss": {"mse": loss}})
    judged = Diagnosis("faulty", (fault,))
    order = ("proj/reader.py", "proj/optimizer.py", "/elsewhere/library.py", "proj/trainer.py")
    assert executed_files(trace, judged, project) == order
    told = report_of_run(trace, judged)
    assert "FileNotFoundError: no such folder of images" in told
    assert "rate too high. The rate is 10." in told
    assert report_of_run(Trace(), Diagnosis("healthy")) == ""


def found() -> Located:
    report = read_report("Saving fails\n\nIt fails with `save` after the first epoch of training.")
    far = "proj/" + "deep/" * 18 + "file.py"
    functions = (
        RankedFunction("Trainer.save", 10, 14, 1.0, (Reason("frame", "stack frame save", 12, 1.0),)),
    )
    files = (
        RankedFile("proj/trainer.py", 0.9, (Reason("words", "saving, epoch " * 12, None, 0.5),), functions),
        RankedFile(far, 0.5, (Reason("change", "changed two days before", None, 0.1),)),
        RankedFile("proj/odd\nname\x1b[31m.py", 0.1),
    )
    answer = Answer(files, 812, notes=("3 submodules left out.",), root="/tmp/a b", seconds={"query": 0.1})
    return Located(report, answer, "proj")


def drawn(width: int, colour: bool) -> str:
    stream = io.StringIO()
    console = Console(
        file=stream, width=width, force_terminal=colour, color_system="standard" if colour else None,
        highlight=False, markup=False,
    )  # fmt: skip
    console.print(draw(located_document(found())), crop=False)
    return stream.getvalue()


@pytest.mark.parametrize("width", [60, 100])
def test_lines_fit_but_paths_stay_whole(width: int) -> None:
    lines = drawn(width, colour=False).splitlines()
    assert [line for line in lines if len(line) > width and "deep/" not in line] == []
    assert any("deep/file.py" in line for line in lines)
    assert "  1  proj/trainer.py:12" in lines


def test_names_of_files_cannot_steer_the_terminal() -> None:
    for colour in (False, True):
        text = drawn(80, colour)
        assert "\x1b[31m.py" not in text
        assert "odd\nname" not in text


def test_links_only_where_the_terminal_has_them() -> None:
    assert "\x1b" not in drawn(80, colour=False)
    assert "file:///tmp/a%20b/proj/trainer.py" in drawn(80, colour=True)


def test_a_cause_outside_the_code_is_told_with_what_to_look_at() -> None:
    look = (
        Outside("library", "torch", ("1.9.0",), "crashes since torch 1.9.0", "compare versions"),
        Outside("library", None, (), "crashes since torch 1.9.0", "read the news"),
    )
    outer = Extrinsic(0.999, True, ("a version does not fit: crashes since torch 1.9.0",), look)
    kind = Kind("GPU", 0.38, ("the words cuda, device",), (("API", 0.35), ("Model", 0.1)))
    problem = Problem("bad", "torch", "torch 2.0 is broken with numpy 2.", "Install numpy 1.")
    here = HereChecked((Here("torch", ("1.9.0",), "2.0.0"),), (problem,))
    one = found()
    told = Located(one.report, replace(one.answer, kind=kind, extrinsic=outer), "proj", here)
    text = str(told)
    assert "GPU (38 %) or API (35 %): the words cuda, device" in text
    assert "perhaps outside the code" in text
    assert text.count("crashes since torch 1.9.0") == 1
    for line in ("torch 1.9.0: compare versions", "torch 2.0.0", "torch 2.0 is broken", "Install numpy 1."):
        assert line in text
    assert "read the news" not in text
    data = json.loads(told.json())
    assert data["kind"]["name"] == "GPU"
    assert data["kind"]["others"][0] == {"name": "API", "probability": 0.35}
    assert data["extrinsic"]["likely"] is True
    assert data["extrinsic"]["look_at"][0]["versions"] == ["1.9.0"]
    assert data["extrinsic"]["here"][0]["installed"] == "2.0.0"
    assert data["extrinsic"]["problems"][0]["do"] == "Install numpy 1."


def test_type_and_cause_are_part_of_the_answer(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "Broken with torch 1.9.0\n\nAfter upgrading to torch 1.9.0 on Windows it fails; torch 1.8.1 works fine."
    code, out, _ = netmend(capsys, text, "--no-cache", "--format", "json")
    assert code == 0
    data = json.loads(out)
    assert data["extrinsic"]["likely"] is True
    assert "torch" in {one["name"] for one in data["extrinsic"]["here"]}
    _, out, _ = netmend(capsys, "--report", "issue.md", "--no-cache")
    assert "outside the code\n" not in out


def test_the_answer_prints_itself() -> None:
    text = str(found())
    assert text.startswith("netmend  3 of 812 files, likeliest first")
    assert "3 submodules left out." in text


def test_progress_is_silent_at_first_and_told_once_in_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    stream = io.StringIO()
    with LocateProgress(console=Console(file=stream, width=80)) as progress:
        progress.say("reading files", 1, 5_000)
        assert stream.getvalue() == ""
        clock[0] += 2
        progress.say("reading files", 1_000, 5_000)
        progress.say("reading files", 2_000, 5_000)
        assert stream.getvalue() == "netmend: reading files 5,000\n"
        assert re.fullmatch(
            r"reading files · 1,000 of 5,000 · about 8\.0 s more",
            " · ".join(progress.parts("reading files", 1_000, 5_000)),
        )
