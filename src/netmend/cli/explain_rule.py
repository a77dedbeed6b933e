"""The page of a static rule for `netmend explain`: from the rule itself, as lines with console markup."""

from __future__ import annotations

import inspect

from rich.markup import escape

from netmend.check.rule import FAMILIES, RULES, Snippet, StaticRule
from netmend.check.suppress import PAGES
from netmend.unit import page
from netmend.vocabulary.cause import LEAVES


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
        escape("\n\n".join(" ".join(part.split()) for part in rest.split("\n\n"))),
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
