"""Findings as JSON; the contract is in docs/json.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netmend.report.machine import Fields
from netmend.vocabulary.cause import LEAVES
from netmend.vocabulary.finding import Finding

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
