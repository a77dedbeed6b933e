"""How the data were made: the lines from reading to the batches, with rails that show which goes into which, for terminal and page."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from markupsafe import Markup
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from netmend.diagnose.measures.lineage import LOADER, lineage
from netmend.report.content import Column, Grid, Number, clean, place
from netmend.report.numbers import count, plural, share
from netmend.report.terminal import PLACE_STYLE, STYLES, GridTable, blank
from netmend.vocabulary import PreparationFact, Site, Trace

TITLE = "How the data were made"
_TABLES = ("NDFrame", "DataFrame", "Series")
INPUTS = "inputs"  # the kind of the fact that tells columns
_MOST_INPUTS = 24
_MOST_LANES = 12
_STEP, _DOT, _TOP = 14, 4, 13  # pixels between rails, of a dot, from a row's top to its dot


@dataclass(frozen=True)
class Row:
    """One step with its piece of the rails: in which column its dot is, which rails pass by, which come in and end here."""

    call: str
    words: str
    place: str
    bad: bool
    column: int
    passing: tuple[int, ...]  # rails that go on below
    above: tuple[int, ...]  # rails that come from above
    joins: tuple[int, ...]  # of these, the ones that go into this step
    likely: bool = False


def rows(trace: Trace, accused: Collection[Site] = ()) -> tuple[Row, ...]:
    """The steps in reading order; those at an accused line are bad."""
    steps = lineage(trace)
    wrong = {(site.file, site.line, site.column) for site in accused}
    last = {index: max((user for user, step in enumerate(steps) if index in (*step.takes, *step.likely)), default=-1)
            for index in range(len(steps))}  # fmt: skip
    columns: dict[int, int] = {}  # steps whose rail goes on, and where
    made = []
    for index, step in enumerate(steps):
        above = dict(columns)
        sources = [source for source in (*step.takes, *step.likely) if source in columns]
        joins = tuple(sorted(columns[source] for source in sources))
        for source in sources:
            if last[source] == index:
                del columns[source]
        free = [column for column in range(_MOST_LANES) if column not in columns.values()]
        column = next((c for c in joins if c in free), free[0] if free else _MOST_LANES)
        if last[index] > index:
            columns[index] = column
        fact = step.fact
        site = fact.site
        bad = site is not None and any((site.file, site.line, at) in wrong for at in (site.column, None))
        made.append(
            Row(
                clean(f"DataLoader {fact.name}" if fact.kind == LOADER else _short(fact.call)),
                clean("; ".join(words(fact.seen))),
                place(fact.site, trace.run),
                bad,
                column,
                tuple(sorted(columns.values())),
                tuple(sorted(above.values())),
                joins,
                bool(step.likely),
            )
        )
    return tuple(made)


def _short(call: str) -> str:
    """`DataFrame.merge` of `pandas.core.frame.DataFrame.merge`; a function with its library."""
    parts = call.replace("[]", "[…]").split(".")
    if len(parts) > 2 and parts[-2][:1].isupper():
        return parts[-1].replace("[", "table[") if parts[-2] in _TABLES else ".".join(parts[-2:])
    return call if len(parts) < 3 else f"{parts[0]}.{parts[-1]}"


def words(seen: Mapping[str, Any]) -> Iterator[str]:
    """What a call did, in words."""
    before, after = seen.get("rows"), seen.get("rows_after")
    files = seen.get("files") or ()
    if files:
        names = [PurePath(str(file)).name for file in files[:2]]
        yield " and ".join(names) if len(files) < 3 else f"{names[0]}, {names[1]} and others"
    if isinstance(before, int) and isinstance(after, int) and before != after:
        yield f"{count(before)} → {count(after)} rows"
    elif isinstance(after if after is not None else before, int):
        columns = seen.get("columns")
        size = plural(int(after if after is not None else before or 0), "row")
        yield f"{size}, {plural(columns, 'column')}" if isinstance(columns, int) else size
    if isinstance(seen.get("rows_tested"), int):
        yield f"{count(seen['rows_tested'])} more for the test"
    assigned = seen.get("assigned") or ()
    if assigned:
        yield (
            f"column `{assigned[0]}`"
            if len(assigned) == 1
            else f"columns `{assigned[0]}`, `{assigned[1]}`, …"
        )
    if seen.get("order") == "moved":
        yield "in another order"
    if "new" in (seen.get("order"), *(seen.get("orders") or ())):
        yield "rows with other labels"
    if seen.get("alone"):
        yield f"{share(seen['alone'])} of the rows without a partner"
    if seen.get("alone_by_spelling"):
        yield f"{share(seen['alone_by_spelling'])} have one that is written differently"
    if seen.get("made_missing"):
        column = seen.get("missing_column") or seen.get("column")
        yield f"{share(seen['made_missing'])} of {f'`{column}`' if column else 'the values'} became missing"


def inputs_grid(trace: Trace) -> Grid:
    """Which column each input of the model is, as far as it could be followed."""
    told = next((fact.seen for fact in trace.all(PreparationFact) if fact.kind == INPUTS), {})
    of = {
        name: fact.site
        for name in [row[2] for row in told.get("columns_of", ())]
        if (fact := trace.get(PreparationFact, name))
    }
    followed = told.get("columns_of", ())
    rest = int(told.get("inputs", 0)) - len(followed)
    return Grid.of(
        followed[:_MOST_INPUTS],
        Number("input", lambda row: str(row[0])),
        Column("column", lambda row: clean(row[1])),
        Column("first at", lambda row: place(of.get(row[2]), trace.run)),
        caption="Inputs of the model",
        note=f"{plural(rest, 'input')} could not be followed to a column." if rest > 0 else "",
    )


def lineage_text(trace: Trace, accused: Collection[Site] = ()) -> RenderableType:
    made, inputs = rows(trace, accused), inputs_grid(trace)
    if not made:
        return Text("No call that prepares data was seen in this run.")
    return Group(Lineage(made), blank(), GridTable(inputs)) if inputs.rows else Lineage(made)


class Lineage:
    """The rows in a terminal: rails of box characters, then call, what it did and the line."""

    def __init__(self, made: tuple[Row, ...]) -> None:
        self.rows = made

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        plain = options.ascii_only
        width = max((max((row.column, *row.passing, *row.above)) for row in self.rows), default=0) * 2 + 3
        for row in self.rows:
            text = Text(row.call, "bold")
            if row.words:
                text.append(f"  {row.words.replace('`', '')}", STYLES["bad"] if row.bad else "")
            if row.place:
                text.append("  ").append(row.place, PLACE_STYLE)
            lines = text.wrap(console, max(20, options.max_width - width))
            for number, line in enumerate(lines):
                line.rstrip()
                rails = _rails(row, width, plain) if not number else _below(row, width, plain)
                yield Text(rails, STYLES["bad"] if row.bad and not number else "dim") + line


def _rails(row: Row, width: int, plain: bool) -> str:
    cells = [" "] * width
    for column in row.above:
        if column in row.passing:
            cells[2 * column] = "|" if plain else "│"
    if row.joins:
        low, high = min((*row.joins, row.column)), max((*row.joins, row.column))
        for cell in range(2 * low, 2 * high):
            if cells[cell] == " ":
                cells[cell] = "-" if plain else "─"
            elif cell % 2 == 0 and cells[cell] == "│":
                cells[cell] = "┼"
        for column in row.joins:
            if column != row.column:
                goes_on = column in row.passing
                corner = ("┤" if goes_on else "╯") if column > row.column else ("├" if goes_on else "╰")
                cells[2 * column] = "+" if plain else corner
    cells[2 * row.column] = "o" if plain else "●"
    return "".join(cells)


def _below(row: Row, width: int, plain: bool) -> str:
    cells = [" "] * width
    for column in row.passing:
        cells[2 * column] = "|" if plain else "│"
    return "".join(cells)


def rails_drawing(row: Row, widest: int) -> Markup:
    """The rails of one row for the page: as high as the row turns out to be."""

    def across(column: int) -> int:
        return _DOT + 2 + column * _STEP

    parts = [f'<svg class="rails" width="{across(widest) + _DOT + 2}" aria-hidden="true">']
    for column in row.above:
        end = "100%" if column in row.passing else _TOP
        parts.append(f'<line x1="{across(column)}" y1="0" x2="{across(column)}" y2="{end}"/>')
    for column in row.passing:
        if column not in row.above:
            parts.append(f'<line x1="{across(column)}" y1="{_TOP}" x2="{across(column)}" y2="100%"/>')
    for column in row.joins:
        if column != row.column:
            parts.append(
                f'<line x1="{across(column)}" y1="{_TOP}" x2="{across(row.column)}" y2="{_TOP}"'
                f"{' class=likely' if row.likely else ''}/>"
            )
    kind = ' class="bad"' if row.bad else ""
    parts.append(f'<circle cx="{across(row.column)}" cy="{_TOP}" r="{_DOT}"{kind}/></svg>')
    return Markup("".join(parts))


@dataclass(frozen=True)
class Drawn:
    """A row of the page."""

    row: Row
    rails: Markup


def drawn(made: tuple[Row, ...]) -> tuple[Drawn, ...]:
    widest = max((max((row.column, *row.passing, *row.above)) for row in made), default=0)
    return tuple(Drawn(row, rails_drawing(row, widest)) for row in made)
