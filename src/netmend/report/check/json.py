"""Findings as JSON, the contract of which is in docs/json.md; and how often each rule spoke."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from netmend.report.check.look import Look
from netmend.report.check.shared import many, page_of
from netmend.report.machine import Fields, json_text
from netmend.report.signs import wrapped
from netmend.vocabulary.cause import LEAVES
from netmend.vocabulary.finding import SAFE, Finding

if TYPE_CHECKING:
    from netmend.check.outcome import Outcome

_HEAD = Fields(
    "code",
    "cause",
    ("aliases", lambda finding: LEAVES[finding.cause].aliases if finding.cause in LEAVES else ()),
    "file",
    "cell",
    "line",
    "column",
    "end_line",
    "end_column",
    "message",
)
_RELATED = Fields(
    "message", "file", ("cell", lambda related: getattr(related, "cell", None)), "line", "column"
)
_EDIT = Fields("line", "column", "end_line", "end_column", "text")
_FIX = Fields("title", "applicability", ("edits", _EDIT))


def _finding(outcome: Outcome, finding: Finding) -> dict[str, Any]:
    rule = outcome.rules.get(finding.code)
    return {
        **_HEAD(finding),
        "advisory": rule is not None and rule.advisory,
        "related": _RELATED.of(finding.related),
        "fix": _FIX.of(finding.fix),
    }


def _messages(messages: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"file": file, "message": message} for file, message in messages]


OUTCOME = Fields(
    ("findings", lambda outcome: [_finding(outcome, finding) for finding in outcome.findings]),
    ("problems", lambda outcome: _messages(outcome.problems)),
    ("failures", lambda outcome: _messages(outcome.failures)),
    "files",
    ("fixed", lambda outcome: len(outcome.fixed)),
    "hidden",
)


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
