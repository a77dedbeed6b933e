"""A diagnosis and the summary of a run on narrow terminals, in logs and behind pipes: nothing that matters is cut or said twice."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import sample
from rich.console import RenderableType

from netmend.cli.next_step import next_command
from netmend.report.run.diagnosis import diagnosis_text, summary
from netmend.report.terminal import console
from netmend.vocabulary import FAULTY, HEALTHY, Diagnosis, Fault, ProbeFact, RunFact, Site, Trace
from netmend.vocabulary.change import FileEdit, Patch
from netmend.vocabulary.finding import Edit, Finding, Fix

SOURCE = """\
import torch
from torch import nn
net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3), nn.Softmax(dim=1))
loss = nn.functional.cross_entropy(net(x), y)
"""


def text_of(renderable: RenderableType, width: int) -> str:
    target = console(io.StringIO())
    target.width = width
    target.print(renderable, crop=False)
    return target.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def told(folder: Path) -> tuple[Trace, Diagnosis]:
    script = folder / "my train.py"
    script.write_text(SOURCE)
    run = RunFact("r-1", script.name, ("--lr", "0.1 2"), str(folder), status="finished", steps=9)
    start = SOURCE.splitlines()[2].index("nn.Softmax")
    site = Site(str(script), 3, start, 3, start + len("nn.Softmax(dim=1)"))
    fault = Fault(
        "LYR-SOFTMAX-EXTRA", 0.99, "net", site, "Seen.", "Why.", "Change it.", "Not if.",
        related=(Site(str(script), 4), Site(str(script), 4, 3), Site(str(script), 3, 0)), title="softmax twice",
    )  # fmt: skip
    return Trace({"run": {"r-1": run}}), Diagnosis(FAULTY, (fault,))


def test_the_culprit_is_shown_with_marks_however_long_its_line(tmp_path: Path) -> None:
    trace, diagnosis = told(tmp_path)
    for width in (60, 80):
        lines = text_of(diagnosis_text(trace, diagnosis), width).splitlines()
        culprit = next(index for index, line in enumerate(lines) if "nn.Softmax(dim=1)" in line)
        assert lines[culprit + 1].strip(" │") == "^" * len("nn.Softmax(dim=1)")
        assert lines[culprit].index("nn.Softmax") == lines[culprit + 1].index("^")
        assert max(map(len, lines)) <= width


def test_a_place_is_told_once(tmp_path: Path) -> None:
    text = text_of(diagnosis_text(*told(tmp_path)), 80)
    assert text.count("my train.py:4") == 1 and text.count("my train.py:3") == 1


def test_nothing_ends_with_blanks(tmp_path: Path) -> None:
    for text in (
        text_of(diagnosis_text(*told(tmp_path)), 80),
        text_of(summary(sample.healthy(), tmp_path), 80),
    ):
        assert not [line for line in text.splitlines() if line.endswith(" ")]


def test_an_interruption_is_no_exception_and_ends_without_a_colon() -> None:
    trace = sample.healthy()
    run = replace(trace.run, status="interrupted", exception="KeyboardInterrupt: ")
    text = text_of(summary(replace(trace, facts={**trace.facts, "run": {run.name: run}}), Path("x")), 80)
    assert "KeyboardInterrupt" in text and "KeyboardInterrupt:" not in text and "exception" not in text


def test_places_and_commands_are_never_broken(tmp_path: Path) -> None:
    place, page = tmp_path / ("long" * 20) / "r-1", tmp_path / ("page" * 20)
    text = text_of(summary(sample.healthy(), place, page, "netmend repair " + "a" * 80), 60)
    for whole in (
        f"  recorded   {place}\n",
        f"  page       {page}\n",
        f"  next       netmend repair {'a' * 80}\n",
    ):
        assert whole in text


def test_the_next_command_can_be_pasted(tmp_path: Path) -> None:
    trace, diagnosis = told(tmp_path)
    command = next_command(trace, diagnosis)
    assert command.endswith("netmend repair 'my train.py' --lr '0.1 2'")
    assert command.startswith("cd ")  # the tests do not run in that folder
    assert next_command(trace, Diagnosis(HEALTHY)) == ""


def test_a_fix_that_covers_the_fault_comes_first(tmp_path: Path) -> None:
    trace, diagnosis = told(tmp_path)
    fix = Fix("Drop the softmax", (Edit(3, 0, 3, 1, ""),))
    site = diagnosis.faults[0].site
    assert site is not None
    finding = Finding("S201", "LYR-SOFTMAX-EXTRA", "Twice.", site.file, 3, 0, 3, 5, fix)
    command = next_command(trace, replace(diagnosis, findings=(finding,)))
    assert command.endswith("netmend check --fix --unsafe-fixes --select S201 'my train.py'")
    half = Patch(
        "both", (FileEdit(site.file, Edit(3, 0, 3, 1, "")), FileEdit(site.file, Edit(4, 0, 4, 1, "")))
    )
    told_set = replace(diagnosis.faults[0], edit=half)
    assert "repair" in next_command(trace, replace(diagnosis, faults=(told_set,), findings=(finding,)))
    elsewhere = replace(finding, line=1, end_line=1)
    assert "repair" in next_command(trace, replace(diagnosis, findings=(elsewhere,)))


def test_probes_tell_their_outcome() -> None:
    trace = sample.healthy()
    values = {"first": 2.3, "best": 0.01, "last": 0.01, "steps": 40, "s": 0.01}
    probe = ProbeFact("batch overfit@model", "batch overfit", "model", 3, values)
    text = text_of(
        summary(replace(trace, facts={**trace.facts, "probe": {probe.name: probe}}), Path("x")), 120
    )
    assert "probe      one batch, 40 steps: memorised, loss 2.30 → 0.0100" in text


def test_a_pipe_has_the_width_of_its_terminal() -> None:
    code = "import sys; from netmend.report.terminal import console; print(console(sys.stdout).width)"
    leader, follower = pty.openpty()
    import fcntl
    import struct
    import termios

    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 63, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    ended = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=follower, stdin=follower, env=environment
    )
    os.close(leader)
    os.close(follower)
    assert ended.stdout.strip() == b"63"


def test_numbers_are_written_alike(tmp_path: Path) -> None:
    trace, diagnosis = told(tmp_path)
    fault = replace(diagnosis.faults[0], summary="The loss rose to 5.04e+05, 95% of 2.6e-07; 1e5 stays.")
    text = " ".join(text_of(diagnosis_text(trace, replace(diagnosis, faults=(fault,))), 80).split())
    assert "504,000, 95 % of 2.6e-7; 1e5 stays" in text and "99 % sure" in text


def test_a_name_breaks_before_its_place_and_not_in_the_line_number() -> None:
    from netmend.report.content import Column, Grid
    from netmend.report.terminal import GridTable

    rows = (("model.cross_entropy@train_shapes.py:58", "1.0", "x" * 20),)
    text = text_of(GridTable(Grid((Column("layer"), Column("rms", numeric=True), Column("kind")), rows)), 52)
    assert any("@train_shapes.py:58" in line for line in text.splitlines())


def test_what_a_change_alters_is_visible_however_long_the_line(tmp_path: Path) -> None:
    trace, diagnosis = told(tmp_path)
    start = (
        "optimizer = torch.optim.SGD(list(model.parameters()) + list(head.parameters()), momentum=0.9, lr="
    )
    diff = f"--- a/t.py\n+++ b/t.py\n@@ -1 +1 @@\n-{start}5.0)\n+{start}0.2)\n"
    fault = replace(diagnosis.faults[0], edit=Patch("rate", diff=diff))
    lines = text_of(diagnosis_text(trace, replace(diagnosis, faults=(fault,))), 60).splitlines()
    assert any(line.lstrip().startswith("- …") and "lr=5.0)" in line for line in lines)
    assert any(line.lstrip().startswith("+ …") and "lr=0.2)" in line for line in lines)
    assert max(map(len, lines)) <= 60


def test_a_long_title_leaves_the_code_to_the_next_line(tmp_path: Path) -> None:
    trace, diagnosis = told(tmp_path)
    fault = replace(diagnosis.faults[0], title="softmax or sigmoid is applied twice over")
    text = text_of(diagnosis_text(trace, replace(diagnosis, faults=(fault,))), 60)
    assert "applied twice over\n  LYR-SOFTMAX-EXTRA, 99 % sure\n" in text


def test_a_change_that_an_earlier_one_holds_is_shown_once(tmp_path: Path) -> None:
    trace, diagnosis = told(tmp_path)
    scale, shuffle = (FileEdit("t.py", Edit(line, 0, line, 0, "x")) for line in (1, 2))
    diff = "--- a/t.py\n+++ b/t.py\n@@ -1 +1 @@\n-x = y\n+x = y / 255\n"
    both, one = Patch("both", (shuffle, scale), diff), Patch("one", (scale,), diff)
    faults = tuple(replace(diagnosis.faults[0], edit=edit) for edit in (both, one))
    text = text_of(diagnosis_text(trace, replace(diagnosis, faults=faults)), 80)
    assert text.count("x = y / 255") == 1 and "The change of 1 does this already." in text
