"""The page of a long run of a deep network stays small, with its diagnosis."""

from __future__ import annotations

from sample import large

from netmend.localise import diagnose
from netmend.report.run.page import run_page


def test_the_page_of_a_large_run_stays_small() -> None:
    trace = large()
    page = run_page(trace, diagnosis=diagnose(trace))
    assert len(page.encode()) < 3_000_000
