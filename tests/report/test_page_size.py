"""The page of a long run of a deep network stays small, with its diagnosis."""

from __future__ import annotations

from sample import large

from netmend import report
from netmend.localise import diagnose


def test_the_page_of_a_large_run_stays_small() -> None:
    trace = large()
    page = report.html(trace, diagnosis=diagnose(trace))
    assert len(page.encode()) < 3_000_000
