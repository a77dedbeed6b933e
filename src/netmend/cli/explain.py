"""`netmend explain CODE`: the page of a cause, a symptom, a unit or a rule; without a code, all of them."""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from netmend.check.rule import FAMILIES, RULES, Snippet, StaticRule
from netmend.check.select import did_you_mean
from netmend.check.suppress import PAGES
from netmend.errors import UsageError
from netmend.report.terminal import console
from netmend.unit import page
from netmend.vocabulary.cause import LEAVES

_RULE = re.compile(r"S\d{3}")
_LABEL = re.compile(r"(?:Says|Cause|Fix|Silence) +")


def explain_code(code: str | None) -> None:
    terminal = console(sys.stdout)
    if code is None:
        if not terminal.is_terminal:
            terminal.print(_overview())
            return
        os.environ.setdefault("LESS", "-FRX")  # colours as they are; gone at once where it fits the screen
        with terminal.pager(styles=True):
            terminal.print(_overview())
        return
    for line in explanation(code):
        for part in _hung(Text.from_markup(line), terminal):
            terminal.print(part)


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
    # the units that judge a run, and numpy, need not be loaded for a rule
    if _RULE.fullmatch(wanted) and (lines := rule_page(wanted)):
        return lines
    from netmend.diagnose.detector import DETECTORS

    if wanted in DETECTORS.classes():
        return _page(wanted, DETECTORS.classes()[wanted], "symptom")
    if wanted in LEAVES:
        return _leaf(wanted)
    for kind in KINDS:
        units = kind.units()
        if wanted in units:
            return [*_page(wanted, units[wanted], kind.name), *_about(kind.leads, kind.leaves(units[wanted]))]
    if lines := measures().get(wanted):
        return [escape(line) if line.startswith(" ") else f"[bold]{escape(line)}[/bold]" for line in lines]
    if named := [leaf.code for leaf in LEAVES.values() if wanted in leaf.aliases]:
        return [line for name in named for line in (*_leaf(name), "")]
    known = [*rule_titles(), *DETECTORS.classes(), *LEAVES, *measures()]
    known += [code for kind in KINDS for code in kind.units()]
    known += [alias for leaf in LEAVES.values() for alias in leaf.aliases]
    raise UsageError(f"there is no code {code!r}{did_you_mean(wanted, known)} All codes: netmend explain")


def _about(leads: str, causes: Iterable[str]) -> list[str]:
    lines = [f"  {cause}  {escape(LEAVES[cause].title)}" for cause in causes if cause in LEAVES]
    return ["", f"[bold]{leads}[/bold]", *lines] if lines else []


def _leaf(code: str) -> list[str]:
    from netmend.localise.cause import CAUSES

    leaf = LEAVES[code]
    aliases = f"  (also {', '.join(leaf.aliases)})" if leaf.aliases else ""
    units = [unit for unit in CAUSES.classes().values() if unit.code == code]
    rules = rules_for(code)
    from netmend.repair.repair import REPAIRS

    mends = [name for name, repair in REPAIRS.classes().items() if code in repair.cures]
    cured = ["", f"[bold]Fixed by[/bold] {', '.join(mends)} (netmend repair)"] if mends else []
    seen = ["", f"[bold]Found in source by[/bold] {', '.join(rules)} (netmend check)"] if rules else []
    if not units:
        return [f"[bold]{code}[/bold]  {escape(leaf.title)}{aliases}", *seen, *cured]
    more = (line for other in units[1:] for line in ("", *_page(code, other, "another sign")[2:]))
    return [*_page(code, units[0], f"cause: {leaf.title}{aliases}"), *more, *seen, *cured]


def _page(code: str, unit: type[Any], kind: str) -> list[str]:
    first, rest = page(unit)
    lines = [f"[bold]{code}[/bold]  {escape(kind)}", "", f"[bold]{escape(first)}[/bold]"]
    if rest:
        lines += ["", escape(_flow(rest))]
    shown = getattr(unit, "SHOWN", None)  # rows of a table: which of their fields decide something
    known = dataclasses.fields(unit) if dataclasses.is_dataclass(unit) else ()
    fields = [field for field in known if shown is None or field.name in shown]
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


_SURPRISES = ("LSA", "DSA", "MDSA")  # of one input; the coverage of their range is named LSC, DSC, MDSC


@dataclass(frozen=True)
class Kind:
    """A family of units with codes, and the field that names leaves of the taxonomy."""

    name: str
    home: str  # module:name of the family
    leads: str = ""
    field: str = ""

    def units(self) -> dict[str, type[Any]]:
        module, _, family = self.home.partition(":")
        try:
            units: dict[str, type[Any]] = getattr(import_module(f"netmend.{module}"), family).classes()
        except ImportError:  # some are written with torch
            return {}
        return units

    def leaves(self, unit: type[Any]) -> Iterable[str]:
        return getattr(unit, self.field, ()) if self.field else ()


KINDS = (
    Kind("repair", "repair.repair:REPAIRS", "Mends", "cures"),
    Kind("mutation operator", "mutate.mutation:OPERATORS", "Seeds", "causes"),
    Kind("change tried by netmend neutral", "neutral.move:MOVES", "Would mend", "causes"),
    # last: only here torch is loaded
    Kind("mutant of trained weights", "adapters.torch.weight_mutants.mutant:MUTANTS"),
)


def measures() -> dict[str, list[str]]:
    """Measures of a test set by the names that `netmend adequacy` prints."""
    from netmend.adequacy.measures import PAGES

    found: dict[str, list[str]] = {}
    for name, words in PAGES.items():
        found[name.upper()] = [f"{name}: {words}", "", "  netmend adequacy (docs/adequacy.md)"]
        if name in _SURPRISES:
            covered = f"{name[:-1]}C: how much of the range of {name} a set of inputs reaches"
            found[f"{name[:-1]}C"] = [covered, "", f"  {name}: {words}"]
    return found


def rule_titles() -> dict[str, str]:
    """Every code of `netmend check` with its first line."""
    titles = {code: title for code, (title, _) in PAGES.items()}
    for code, rule in RULES.classes().items():
        titles[code] = page(rule)[0] + (
            " (advisory)" if rule.advisory else " (preview)" if rule.preview else ""
        )
    return titles


def rules_for(cause: str) -> list[str]:
    return [code for code, rule in RULES.classes().items() if rule.cause == cause]


def rule_page(code: str) -> list[str] | None:
    """The lines of a page; None when there is no such rule."""
    if code in PAGES:
        title, text = PAGES[code]
        return [f"[bold]{code}[/bold]  about comments", "", f"[bold]{escape(title)}[/bold]", "", escape(text)]
    rule = RULES.classes().get(code)
    if rule is None:
        return None
    first, rest = page(rule)
    leaf = LEAVES.get(rule.cause)
    lines = [
        f"[bold]{code}[/bold]  rule: {escape(FAMILIES.get(code[:2], ''))}",
        "",
        f"[bold]{escape(first)}[/bold]",
        "",
        escape(_flow(rest)),
        "",
        f"[bold]Says[/bold]     {escape(rule.message)}",
        f"[bold]Cause[/bold]    {rule.cause}" + (f"  {escape(leaf.title)}" if leaf is not None else ""),
    ]
    if rule.advisory:
        lines.append(f"[bold]Advisory[/bold] off until selected: netmend check --extend-select {code}")
    if rule.preview:
        lines.append("[bold]Preview[/bold]  off until asked for: netmend check --preview")
    lines.append(f"[bold]Fix[/bold]      {_fix(rule)}")
    lines.append(f"[bold]Silence[/bold]  {escape(f'# netmend: ignore[{code}]')} at the end of the line")
    lines += _example("Bad", rule.BAD) + _example("Good", rule.GOOD)
    return lines


def _fix(rule: type[StaticRule]) -> str:
    """How it is mended, learnt from its own examples."""
    from netmend.check.run import check_text

    for snippet in rule.BAD:
        if snippet.fixed is not None:
            for finding in check_text(snippet.source, rules=[rule()]).findings:
                if finding.fix is not None:
                    option = "--fix" if finding.fix.applicability == "safe" else "--fix --unsafe-fixes"
                    return f"{escape(finding.fix.title)}: netmend check {option}"
    return "by hand"


def _example(kind: str, snippets: tuple[Snippet, ...]) -> list[str]:
    if not snippets:
        return []
    snippet = snippets[0]
    lines = ["", f"[bold]{kind}[/bold]: {escape(snippet.title)}", ""]
    for number, line in enumerate(inspect.cleandoc(snippet.source).splitlines(), start=1):
        mark = "▸" if snippet.line == number else " "
        lines.append(f" {mark} {number:2} │ {escape(line)}".rstrip())
    return lines
