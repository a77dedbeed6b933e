"""The short closing summary that `netmend run` prints."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from netmend.report.content import Remark, clean
from netmend.report.overview import advice_when_untrained, alarms, headline, remarks
from netmend.report.terminal import STYLES, Remarks
from netmend.store import runs_root
from netmend.store.places import spare
from netmend.vocabulary import Trace

_WARNING, _PROBE = "warning: ", "--probe "  # how sentences begin that are no gap in what was seen
_MOST_MISSING = 3  # the page of the run lists all


def summary(
    trace: Trace, run_path: Path | None, page: Path | None = None, next_command: str = ""
) -> RenderableType:
    """What was seen, in some ten lines, where to look further (unless the run is not kept), and the one command that helps."""
    bad = trace.run.status == "failed" or any(remark.tone == "bad" for remark in alarms(trace))
    style = STYLES["bad"] if bad else STYLES["warn"] if not trace.run.steps else "bold"
    title = Text("netmend  ", style="bold").append(headline(trace), style)
    lines = [*_lines(trace), *(_places(trace, run_path, page) if run_path is not None else ())]
    if next_command:
        lines.append(Remark("next", next_command, tone="good", whole=True))
    return Group(title, Remarks(lines, indent=2))


def _lines(trace: Trace) -> Iterator[Remark]:
    yield from alarms(trace)
    yield from remarks(trace)
    if not trace.run.steps:
        yield from (Remark("to do", text, tone="warn") for text in advice_when_untrained(trace))
    warnings = [text for text in trace.run.missing if text.startswith(_WARNING)]
    missing = [text for text in trace.run.missing if not text.startswith((_WARNING, _PROBE))]
    yield from (Remark("warning", clean(text.removeprefix(_WARNING)), tone="warn") for text in warnings)
    yield from (Remark("not seen", clean(text), tone="warn") for text in missing[:_MOST_MISSING])
    if len(missing) > _MOST_MISSING:
        yield Remark("not seen", f"and {len(missing) - _MOST_MISSING} more", tone="muted")


def _places(trace: Trace, run_path: Path, page: Path | None) -> Iterator[Remark]:
    # Places and commands are copied: they are never broken in the middle.
    yield Remark("recorded", clean(str(_from_here(run_path))), whole=True)
    if page is not None:
        yield Remark("page", clean(str(_from_here(page))), whole=True)
    root = runs_root()
    at_home = run_path.parent.resolve() in (root.resolve(), spare(root).resolve())
    name = clean(trace.run.name or run_path.name) if at_home else shlex.quote(clean(str(run_path)))
    yield Remark("more", f"netmend show {name}", whole=True)


def _from_here(path: Path) -> Path:
    try:
        return path.resolve().relative_to(Path.cwd().resolve())
    except (ValueError, OSError):
        return path
