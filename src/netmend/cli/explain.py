"""`netmend explain`: the page of everything that any command names by a code, from the unit itself."""

from __future__ import annotations

import dataclasses
import os
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from netmend import report
from netmend.check.select import did_you_mean
from netmend.cli.explain_kinds import KINDS, measures
from netmend.errors import UsageError
from netmend.unit import page
from netmend.vocabulary.cause import LEAVES

_RULE = re.compile(r"S\d{3}")
_LABEL = re.compile(r"(?:Says|Cause|Fix|Silence) +")


def explain_code(code: str | None) -> None:
    console = report.console(sys.stdout)
    if code is None:
        if not console.is_terminal:
            console.print(_overview())
            return
        os.environ.setdefault("LESS", "-FRX")  # colours as they are; gone at once where it fits the screen
        with console.pager(styles=True):
            console.print(_overview())
        return
    for line in explanation(code):
        for part in _hung(Text.from_markup(line), console):
            console.print(part)


def _hung(text: Text, console: Console) -> Iterator[Text]:
    """The text wrapped, what follows the first line below its beginning; code is not indented further."""
    plain = text.plain
    label = _LABEL.match(plain)
    hang = len(label[0]) if label else len(plain) - len(plain.lstrip()) + 4 if plain.startswith("  ") else 0
    if not hang or "│" in plain or len(plain) <= console.width:
        yield text
        return
    first, *rest = text.wrap(console, console.width - hang)
    yield first
    for part in rest:
        yield Text(" " * hang).append_text(part)


def explanation(code: str) -> list[str]:
    """The page of a code, as lines with console markup."""
    wanted = code.strip().upper()
    if _RULE.fullmatch(wanted):  # the units that judge a run, and numpy, need not be loaded
        from netmend.cli.explain_rule import rule_page

        lines = rule_page(wanted)
        if lines is not None:
            return lines
    from netmend.cli.explain_rule import rule_titles
    from netmend.diagnose.detector import DETECTORS

    if wanted in DETECTORS.classes():
        return _page(wanted, DETECTORS.classes()[wanted], "symptom")
    if wanted in LEAVES:
        return _leaf(wanted)
    for kind in KINDS:
        units = kind.units()
        if wanted in units:
            return [*_page(wanted, units[wanted], kind.name), *_about(kind.leads, kind.leaves(units[wanted]))]
    if wanted in measures():
        return [
            f"[bold]{escape(line)}[/bold]" if not line.startswith(" ") else escape(line)
            for line in measures()[wanted]
        ]
    named = [leaf.code for leaf in LEAVES.values() if wanted in leaf.aliases]
    if named:
        return [line for name in named for line in (*_leaf(name), "")]
    known = [*rule_titles(), *DETECTORS.classes(), *LEAVES, *measures()]
    known += [code for kind in KINDS for code in kind.units()]
    known += [alias for leaf in LEAVES.values() for alias in leaf.aliases]
    raise UsageError(f"there is no code {code!r}{did_you_mean(wanted, known)} All codes: netmend explain")


def _about(leads: str, causes: Iterable[str]) -> list[str]:
    lines = [f"  {cause}  {escape(LEAVES[cause].title)}" for cause in causes if cause in LEAVES]
    return ["", f"[bold]{leads}[/bold]", *lines] if lines else []


def _leaf(code: str) -> list[str]:
    from netmend.cli.explain_rule import rules_for
    from netmend.localise.cause import CAUSES

    leaf = LEAVES[code]
    aliases = f"  (also {', '.join(leaf.aliases)})" if leaf.aliases else ""
    unit = CAUSES.classes().get(code)
    rules = rules_for(code)
    from netmend.repair.repair import REPAIRS

    mends = [name for name, repair in REPAIRS.classes().items() if code in repair.cures]
    cured = ["", f"[bold]Fixed by[/bold] {', '.join(mends)} (netmend repair)"] if mends else []
    seen = ["", f"[bold]Found in source by[/bold] {', '.join(rules)} (netmend check)"] if rules else []
    if unit is None:
        return [f"[bold]{code}[/bold]  {escape(leaf.title)}{aliases}", *seen, *cured]
    return [*_page(code, unit, f"cause: {leaf.title}{aliases}"), *seen, *cured]


def _page(code: str, unit: type[Any], kind: str) -> list[str]:
    first, rest = page(unit)
    lines = [f"[bold]{code}[/bold]  {escape(kind)}", "", f"[bold]{escape(first)}[/bold]"]
    if rest:
        lines += ["", escape(_flow(rest))]
    fields = dataclasses.fields(unit) if dataclasses.is_dataclass(unit) else ()
    shown = getattr(unit, "SHOWN", None)  # rows of a table: which of their fields decide something
    fields = tuple(field for field in fields if shown is None or field.name in shown)
    if fields:
        lines += ["", "[bold]Thresholds[/bold]"]
    for field in fields:
        if "basis" not in field.metadata:
            lines.append(f"  {field.name} = {getattr(unit, field.name, field.default)!r}")
            continue
        origin, basis = field.metadata.get("origin", ""), field.metadata.get("basis", "")
        lines.append(f"  {field.name} = {field.default!r}  [dim]({basis}: {escape(origin)})[/dim]")
    return lines


def _flow(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _overview() -> Table:
    from netmend.cli.explain_rule import rule_titles
    from netmend.diagnose.detector import DETECTORS

    table = Table(box=None, pad_edge=False)
    table.add_column("code", no_wrap=True, style="bold")
    table.add_column("meaning")
    for code, leaf in sorted(LEAVES.items()):
        table.add_row(code, escape(leaf.title))
    for code, unit in DETECTORS.classes().items():
        table.add_row(code, escape(page(unit)[0]))
    for code, title in sorted(rule_titles().items()):
        table.add_row(code, escape(title))
    for kind in KINDS:
        for code, other in kind.units().items():
            table.add_row(code, escape(page(other)[0]))
    for code, lines in measures().items():
        table.add_row(code, escape(lines[0].partition(": ")[2]))
    return table
