"""The full page of a run in the terminal: `netmend show RUN`."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from netmend.report.axes import Axis, tick_label
from netmend.report.content import Remark, clean
from netmend.report.numbers import sure
from netmend.report.run.curves import Curve, scale_words, telling_curves
from netmend.report.run.lineage import TITLE, lineage_text
from netmend.report.run.overview import advice_when_untrained, alarms, headline, remarks
from netmend.report.run.sections import origin_remarks, sections
from netmend.report.terminal import GridTable, Remarks, blank
from netmend.report.textplot import text_plot
from netmend.store.runs import Judged
from netmend.vocabulary import HEALTHY, PreparationFact, Trace

_SIDE_BY_SIDE = 110  # columns from which two plots stand beside each other
# Lines of a plot by their role; training lines take the colours in turn.
_TRAINING_STYLES = ("green", "blue", "magenta", "cyan")
_ROLE_STYLES = {"evaluation": "yellow", "reference": "dim"}


def run_text(trace: Trace, judged: Judged | None = None) -> RenderableType:
    """Everything that was recorded of the run, as text, and what it was judged to be."""
    return _Page(trace, judged)


class _Page:
    def __init__(self, trace: Trace, judged: Judged | None) -> None:
        self.trace = trace
        self.judged = judged

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        trace = self.trace
        yield Text(headline(trace), style="bold")
        yield Remarks((*_verdict(self.judged), *alarms(trace), *origin_remarks(trace), *remarks(trace)))
        if not trace.run.steps:
            yield Remarks(Remark("to do", text, tone="warn") for text in advice_when_untrained(trace))
        found = telling_curves(trace)
        if found:
            yield from _title("Curves", options)
            yield from _plots(found, options)
        if any(trace.all(PreparationFact)):
            yield from _title(TITLE, options)
            yield lineage_text(trace)
        for section in sections(trace):
            yield from _title(section.title, options)
            for index, grid in enumerate(grid for grid in section.grids if grid.rows):
                if index:
                    yield blank()
                yield GridTable(grid)
            if section.remarks:
                yield Remarks(section.remarks)


def _verdict(judged: Judged | None) -> Iterator[Remark]:
    """The faults in a line each; `netmend diagnose` tells them in full."""
    if judged is None:
        return
    if not judged.faults:
        healthy = judged.verdict == HEALTHY
        words = "No fault found" if healthy else f"{judged.verdict}: {clean(judged.reason)}"
        yield Remark("verdict", words, tone="good" if healthy else "warn")
    for fault in judged.faults:
        words = f"{fault.title}  {fault.cause}, {sure(fault.confidence)}"
        yield Remark("fault", clean(words), clean(fault.place), "bad")


def _title(text: str, options: ConsoleOptions) -> Iterator[RenderableType]:
    yield blank()
    yield Rule(
        Text(text, style="bold"), align="left", style="dim", characters="-" if options.ascii_only else "─"
    )


def _plots(found: tuple[Curve, ...], options: ConsoleOptions) -> Iterator[RenderableType]:
    pair = options.max_width >= _SIDE_BY_SIDE
    width = (options.max_width - 4) // 2 if pair else options.max_width
    drawn = [_plot(curve, width, options.ascii_only) for curve in found]
    if not pair:
        for index, plot in enumerate(drawn):
            if index:
                yield blank()
            yield plot
        return
    grid = Table.grid(padding=(0, 4, 1, 0), pad_edge=False)
    for start in range(0, len(drawn), 2):
        grid.add_row(*drawn[start : start + 2])
    yield grid


def _plot(curve: Curve, width: int, plain: bool) -> Text:
    """Title with legend, the plot itself, and the range of steps below it."""
    styles = _styles(curve)
    axis = Axis.over([line.values for line in curve.lines], log=curve.log)
    scale = "" if axis is None else scale_words(curve, axis)
    text = Text(", ".join(filter(None, (curve.title, scale))))
    text.stylize("bold", 0, len(curve.title))
    if len(curve.lines) > 1:
        for line, style in zip(curve.lines, styles, strict=True):
            text.append("  ").append("*" if plain else "━", style).append(f" {line.label}", "dim")
    text.truncate(width, overflow="ellipsis")
    margin = 0
    for label, layers in text_plot(curve, width, plain=plain):
        text.append("\n").append(label, "dim")
        margin = len(label)
        for cells in zip(*layers, strict=True):
            shown = next((index for index, cell in enumerate(cells) if cell != " "), None)
            text.append(" ") if shown is None else text.append(cells[shown], styles[shown])
    steps = [step for line in curve.lines if len(line.steps) for step in (line.steps[0], line.steps[-1])]
    first, last = tick_label(float(min(steps)), "step"), tick_label(float(max(steps)), "step")
    gap = max(1, width - margin - len(first) - len(last) - 6)
    text.append("\n" + " " * margin).append(f"step {first}{' ' * gap}{last}", "dim")
    return text


def _styles(curve: Curve) -> list[str]:
    training = 0
    found = []
    for line in curve.lines:
        if line.role in _ROLE_STYLES:
            found.append(_ROLE_STYLES[line.role])
        else:
            found.append(_TRAINING_STYLES[training % len(_TRAINING_STYLES)])
            training += 1
    return found
