"""How often each rule spoke."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from netmend.report.check.look import Look
from netmend.report.check.shared import many, page_of
from netmend.report.machine import json_text
from netmend.report.signs import wrapped
from netmend.vocabulary.finding import SAFE

if TYPE_CHECKING:
    from netmend.check.outcome import Outcome


def counted(outcome: Outcome) -> list[dict[str, Any]]:
    """Per code, the most frequent first: count, title, how many a safe fix mends."""
    counts = Counter(finding.code for finding in outcome.findings)
    fixable = Counter(
        finding.code
        for finding in outcome.findings
        if finding.fix is not None and finding.fix.applicability == SAFE
    )
    return [
        {"code": code, "title": page_of(outcome, code)[0], "count": count, "fixable": fixable[code]}
        for code, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]


def as_table(outcome: Outcome, look: Look) -> str:
    rows = counted(outcome)
    if not rows:
        return ""
    widest = max(len(str(row["count"])) for row in rows)
    lines = []
    for row in rows:
        mark = "[*]" if row["fixable"] else "   "
        margin = widest + len(row["code"]) + len(mark) + 6
        head = f"{row['count']:{widest}}  {look.paint(row['code'], 'code')}  {look.paint(mark, 'fix')}  "
        room = max(20, look.width - margin) if look.width is not None else len(row["title"])
        first, *others = wrapped(row["title"], room, room)
        lines += [head + first, *(" " * margin + line for line in others)]
    total = sum(row["fixable"] for row in rows)
    if total:
        lines += ["", f"[*] {many(total, 'problem')} fixable with --fix."]
    return "".join(f"{line}\n" for line in lines)


def as_data(outcome: Outcome) -> str:
    return json_text(counted(outcome))
