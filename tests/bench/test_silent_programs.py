"""The programs with silent bugs: labels that hold, twins that differ only by the bug, and what netmend tells about two of them."""

from __future__ import annotations

import ast
import difflib
import json
from importlib.resources import files
from pathlib import Path

import pytest
from command_server import netmend

from bench.labelled import FAULTY, HEALTHY, Labelled, judge, programs, programs_folder
from netmend.localise import diagnose
from netmend.store import read_trace
from netmend.vocabulary import LEAVES

PROGRAMS = list(programs(programs_folder("silent")))
FAULTY_ONES = [program for program in PROGRAMS if program.kind == FAULTY]
_MOST_CHANGED = 14  # lines by which a program and its twin may differ


def test_all_bugs_that_fit_into_a_small_program_have_one() -> None:
    facts = json.loads((files("bench") / "data" / "silent.json").read_text(encoding="utf-8"))
    bugs = [*facts["bugs"], *facts["mentioned_elsewhere_by_the_same_project"]]
    small = {bug["id"] for bug in bugs if bug["small_cpu_version_possible"]}
    assert {program.name for program in FAULTY_ONES} == small


@pytest.mark.parametrize("program", FAULTY_ONES, ids=lambda program: program.name)
def test_labels_hold(program: Labelled) -> None:
    """Reading them has shown already that every place is on exactly one line."""
    (cause,) = program.causes
    assert cause.accept <= set(LEAVES) and cause.places
    assert program.entry.stem == program.name


@pytest.mark.parametrize("program", FAULTY_ONES, ids=lambda program: program.name)
def test_the_twin_differs_by_the_bug_only(program: Labelled) -> None:
    (twin,) = [other for other in PROGRAMS if other.kind == HEALTHY and other.name == program.name]
    texts = [entry.entry.read_text(encoding="utf-8") for entry in (program, twin)]
    for text in texts:
        ast.parse(text)
    changed = [
        line
        for line in difflib.ndiff(*(text.splitlines() for text in texts))
        if line.startswith(("- ", "+ ")) and line[2:].strip()
    ]
    assert 0 < len(changed) <= _MOST_CHANGED


@pytest.mark.parametrize("kind", [FAULTY, HEALTHY])
def test_a_step_that_passes_over_parameters_is_told_and_its_twin_is_not(tmp_path: Path, kind: str) -> None:
    (program,) = [p for p in PROGRAMS if p.name == "pytorch-115607" and p.kind == kind]
    entry = program.put(tmp_path)
    assert netmend(tmp_path, "run", "-q", entry.name, SEED="0").returncode == 0
    (run,) = (tmp_path / ".netmend" / "runs").iterdir()
    faults = diagnose(read_trace(run)).faults
    if kind == HEALTHY:
        assert faults == ()
    else:
        judged = judge(program.causes, faults)
        assert judged.first and judged.line
