"""The short closing summary that `netmend run` prints."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from netmend.report.content import Remark, clean
from netmend.report.overview import advice_when_untrained, alarms, headline, remarks
from netmend.report.terminal import STYLES, Remarks
from netmend.store import runs_root
from netmend.vocabulary import Trace

_MOST_MISSING = 3  # the page of the run lists all


def summary(trace: Trace, run_path: Path) -> RenderableType:
    """What was seen, in some ten lines, and where to look further."""
    bad = trace.run.status == "failed" or any(alarms(trace))
    style = STYLES["bad"] if bad else STYLES["warn"] if not trace.run.steps else "bold"
    title = Text("netmend  ", style="bold").append(headline(trace), style)
    return Group(title, Remarks(_lines(trace, run_path), indent=2))


def _lines(trace: Trace, run_path: Path) -> Iterator[Remark]:
    yield from alarms(trace)
    yield from remarks(trace)
    if not trace.run.steps:
        yield from (Remark("to do", text, tone="warn") for text in advice_when_untrained(trace))
    missing = trace.run.missing
    yield from (Remark("not seen", clean(text), tone="warn") for text in missing[:_MOST_MISSING])
    if len(missing) > _MOST_MISSING:
        yield Remark("not seen", f"and {len(missing) - _MOST_MISSING} more", tone="muted")
    yield Remark("recorded", clean(str(run_path)))
    at_home = run_path.parent.resolve() == runs_root().resolve()
    yield Remark("more", f"netmend show {clean(trace.run.name or run_path.name) if at_home else run_path}")
