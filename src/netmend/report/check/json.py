"""Findings as JSON; the contract is in docs/json.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netmend.report.machine import json_text
from netmend.version import VERSION
from netmend.vocabulary.cause import LEAVES
from netmend.vocabulary.finding import Edit, Finding, Fix, Related

if TYPE_CHECKING:
    from netmend.check.outcome import Outcome

SCHEMA = 1  # extended only by adding


def as_json(outcome: Outcome) -> str:
    return json_text(
        {
            "schema": SCHEMA,
            "netmend": VERSION,
            "findings": [_finding(outcome, finding) for finding in outcome.findings],
            "problems": [{"file": file, "message": message} for file, message in outcome.problems],
            "failures": [{"file": file, "message": message} for file, message in outcome.failures],
            "files": outcome.files,
            "fixed": len(outcome.fixed),
            "hidden": outcome.hidden,
        }
    )


def _finding(outcome: Outcome, finding: Finding) -> dict[str, Any]:
    leaf = LEAVES.get(finding.cause)
    rule = outcome.rules.get(finding.code)
    return {
        "code": finding.code,
        "cause": finding.cause,
        "aliases": list(leaf.aliases) if leaf is not None else [],
        "file": finding.file,
        "cell": finding.cell,
        "line": finding.line,
        "column": finding.column,
        "end_line": finding.end_line,
        "end_column": finding.end_column,
        "message": finding.message,
        "advisory": rule is not None and rule.advisory,
        "related": [_related(related) for related in finding.related],
        "fix": None if finding.fix is None else _fix(finding.fix),
    }


def _related(related: Related) -> dict[str, Any]:
    return {
        "message": related.message,
        "file": related.file,
        "cell": getattr(related, "cell", None),
        "line": related.line,
        "column": related.column,
    }


def _fix(fix: Fix) -> dict[str, Any]:
    edits = [_edit(edit) for edit in fix.edits]
    return {"title": fix.title, "applicability": fix.applicability, "edits": edits}


def _edit(edit: Edit) -> dict[str, Any]:
    return {
        "line": edit.line,
        "column": edit.column,
        "end_line": edit.end_line,
        "end_column": edit.end_column,
        "text": edit.text,
    }
