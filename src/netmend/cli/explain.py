"""`netmend explain`: the page of a cause or a symptom, from the unit itself."""

from __future__ import annotations

import dataclasses
import difflib
import sys
from typing import Any

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from netmend import report
from netmend.diagnose.detector import DETECTORS
from netmend.errors import UsageError
from netmend.localise.cause import CAUSES
from netmend.unit import page
from netmend.vocabulary import LEAVES


def explain_code(code: str | None) -> None:
    console = report.console(sys.stdout)
    if code is None:
        console.print(_overview())
        return
    for line in explanation(code):
        console.print(Text.from_markup(line))


def explanation(code: str) -> list[str]:
    """The page of a code, as lines with console markup."""
    wanted = code.strip().upper()
    if wanted in DETECTORS.classes():
        return _page(wanted, DETECTORS.classes()[wanted], "symptom")
    if wanted in LEAVES:
        return _leaf(wanted)
    named = [leaf.code for leaf in LEAVES.values() if wanted in leaf.aliases]
    if named:
        return [line for name in named for line in (*_leaf(name), "")]
    known = [*DETECTORS.classes(), *LEAVES, *(alias for leaf in LEAVES.values() for alias in leaf.aliases)]
    near = difflib.get_close_matches(wanted, known, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise UsageError(f"there is no code {code!r}{hint} All codes: netmend explain")


def _leaf(code: str) -> list[str]:
    leaf = LEAVES[code]
    aliases = f"  (also {', '.join(leaf.aliases)})" if leaf.aliases else ""
    unit = CAUSES.classes().get(code)
    if unit is None:
        return [f"[bold]{code}[/bold]  {escape(leaf.title)}{aliases}"]
    return _page(code, unit, f"cause: {leaf.title}{aliases}")


def _page(code: str, unit: type[Any], kind: str) -> list[str]:
    first, rest = page(unit)
    lines = [
        f"[bold]{code}[/bold]  {escape(kind)}",
        "",
        f"[bold]{escape(first)}[/bold]",
        "",
        escape(_flow(rest)),
    ]
    fields = dataclasses.fields(unit)
    if fields:
        lines += ["", "[bold]Decides by[/bold]"]
    for field in fields:
        origin, basis = field.metadata.get("origin", ""), field.metadata.get("basis", "")
        lines.append(f"  {field.name} = {field.default!r}  [dim]({basis}: {escape(origin)})[/dim]")
    return lines


def _flow(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _overview() -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("code", no_wrap=True, style="bold")
    table.add_column("meaning")
    for code, leaf in sorted(LEAVES.items()):
        table.add_row(code, escape(leaf.title))
    for code, unit in DETECTORS.classes().items():
        table.add_row(code, escape(page(unit)[0]))
    return table
