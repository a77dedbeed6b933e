"""Faults told while a program runs: short, fitted to the terminal, and as soon as they are certain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from netmend.cli import live
from netmend.report.check.look import Look
from netmend.vocabulary import FAULTY, Diagnosis, Fault, Site

WORDS = "`cross_entropy` applies softmax itself, but was given values that went through softmax before. " * 4


def fault(confidence: float) -> Fault:
    return Fault(
        "LYR-SOFTMAX-EXTRA", confidence, "net", Site("/somewhere/long.py", 4), WORDS, "Why.", "Change.", "Unless.",
        title="softmax or sigmoid is applied twice",
    )  # fmt: skip


@pytest.mark.parametrize("width", [60, 80])
def test_a_notice_is_short_and_fits(width: int) -> None:
    lines = live.announcement(fault(0.99), Look(width)).splitlines()
    assert len(lines) <= 4 and max(map(len, lines)) <= width
    assert lines[0].startswith("netmend  Softmax or sigmoid is applied twice at long.py:4")
    assert lines[-1].endswith("…")


def test_colours_are_for_terminals() -> None:
    assert "\x1b[" not in live.announcement(fault(0.99), Look(80))
    assert "\x1b[" in live.announcement(fault(0.99), Look(80, color=True))


@pytest.mark.parametrize(("confidence", "looks"), [(0.99, 1), (0.92, 2)])
def test_a_sure_fault_is_told_at_the_first_look(
    confidence: float, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "read_trace", lambda path, rank: None)

    def judged(trace: Any) -> Diagnosis:
        return Diagnosis(FAULTY, (fault(confidence),))

    monkeypatch.setattr(live, "diagnose", judged)
    announcer = live.Announcer()
    told = [len(announcer.look(Path("x"), 0)) for _ in range(4)]
    assert told == [int(look + 1 == looks) for look in range(4)]
