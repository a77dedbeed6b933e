"""Findings for GitHub's annotations and GitLab's code quality. Neither knows cells, so the message tells them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netmend.report.check.shared import ERROR, NOTE, WARNING, fingerprints, level, page_of, told
from netmend.report.machine import json_text, workflow_command
from netmend.vocabulary.finding import Finding

if TYPE_CHECKING:
    from netmend.check.outcome import Outcome

_ANNOTATION = {ERROR: "error", WARNING: "warning", NOTE: "notice"}
_SEVERITY = {ERROR: "major", WARNING: "minor", NOTE: "info"}


def as_github(outcome: Outcome) -> str:
    """Workflow commands that GitHub shows as annotations at the lines."""
    return "".join(_annotation(outcome, finding) for finding in outcome.findings)


def _annotation(outcome: Outcome, finding: Finding) -> str:
    properties: dict[str, str | int] = {"file": finding.file.replace("\\", "/")}
    if finding.cell is None:
        properties |= {"line": finding.line, "endLine": finding.end_line}
        if finding.line == finding.end_line:  # GitHub takes columns within one line only
            properties |= {"col": finding.column + 1, "endColumn": finding.end_column + 1}
    properties["title"] = f"netmend {finding.code}: {page_of(outcome, finding.code)[0].rstrip('.')}"
    return workflow_command(_ANNOTATION[level(outcome, finding)], told(finding), properties)


def as_gitlab(outcome: Outcome) -> str:
    """GitLab's code quality report."""
    names = fingerprints(outcome.findings, outcome.source)
    return json_text(
        [_issue(outcome, finding, name) for finding, name in zip(outcome.findings, names, strict=True)]
    )


def _issue(outcome: Outcome, finding: Finding, name: str) -> dict[str, Any]:
    lines = {"begin": 1, "end": 1}
    if finding.cell is None:
        lines = {"begin": finding.line, "end": finding.end_line}
    return {
        "description": f"{finding.code}: {told(finding)}",
        "check_name": finding.code,
        "fingerprint": name,
        "severity": _SEVERITY[level(outcome, finding)],
        "location": {"path": finding.file.replace("\\", "/"), "lines": lines},
    }
