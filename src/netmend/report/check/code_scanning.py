"""Findings as SARIF 2.1.0, for GitHub's annotations and GitLab's code quality. None of them knows cells of a notebook, so the message tells them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netmend.check.rule import FAMILIES
from netmend.report.check.shared import ERROR, NOTE, WARNING, fingerprints, level, page_of, told
from netmend.report.machine import artifact, json_text, region, sarif_text, workflow_command
from netmend.vocabulary.finding import Edit, Finding, Fix, Related

if TYPE_CHECKING:
    from netmend.check.outcome import Outcome


def as_sarif(outcome: Outcome) -> str:
    used: dict[str, Finding] = {}
    for finding in outcome.findings:
        used.setdefault(finding.code, finding)
    codes = sorted(used)
    names = fingerprints(outcome.findings, outcome.source)
    results = [
        _result(outcome, finding, codes.index(finding.code), name)
        for finding, name in zip(outcome.findings, names, strict=True)
    ]
    rules = [_rule(outcome, used[code]) for code in codes]
    return sarif_text(rules, results, _invocation(outcome))


def _rule(outcome: Outcome, example: Finding) -> dict[str, Any]:
    code = example.code
    first, rest = page_of(outcome, code)
    paragraphs = [" ".join(part.split()) for part in rest.split("\n\n") if part.strip()]
    unit = outcome.rules.get(code)
    tags = [FAMILIES[code[:2]]] if code[:2] in FAMILIES else []
    rule: dict[str, Any] = {
        "id": code,
        "shortDescription": {"text": first},
        "fullDescription": {"text": " ".join([first, *paragraphs])},
        "help": {"text": "\n\n".join([first, *paragraphs])},
        "defaultConfiguration": {"level": level(outcome, example)},
        "properties": {"tags": tags},
    }
    if unit is not None:
        rule["name"] = unit.__name__
    return rule


def _result(outcome: Outcome, finding: Finding, index: int, name: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": level(outcome, finding),
        "message": {"text": told(finding)},
        "locations": [{"physicalLocation": _place(finding)}],
        "partialFingerprints": {"netmend/v1": name},
    }
    if finding.cause:
        result["properties"] = {"cause": finding.cause}
    if finding.related:
        result["relatedLocations"] = [
            _related(finding, related, number) for number, related in enumerate(finding.related, start=1)
        ]
    if finding.fix is not None and finding.fix.edits and finding.cell is None:
        result["fixes"] = [_fix(finding, finding.fix)]
    return result


def _place(finding: Finding) -> dict[str, Any]:
    where = region(1)
    if finding.cell is None:
        where = region(finding.line, finding.column, finding.end_line, finding.end_column)
    return {"artifactLocation": artifact(finding.file), "region": where}


def _related(finding: Finding, related: Related, number: int) -> dict[str, Any]:
    in_notebook = getattr(related, "cell", None) is not None or (
        finding.cell is not None and related.file == finding.file
    )
    where = region(1) if in_notebook else region(related.line, related.column)
    return {
        "id": number,
        "message": {"text": related.message},
        "physicalLocation": {"artifactLocation": artifact(related.file), "region": where},
    }


def _fix(finding: Finding, fix: Fix) -> dict[str, Any]:
    change = {
        "artifactLocation": artifact(finding.file),
        "replacements": [_replacement(edit) for edit in fix.edits],
    }
    return {"description": {"text": f"{fix.title} ({fix.applicability})"}, "artifactChanges": [change]}


def _replacement(edit: Edit) -> dict[str, Any]:
    return {
        "deletedRegion": region(edit.line, edit.column, edit.end_line, edit.end_column),
        "insertedContent": {"text": edit.text},
    }


def _invocation(outcome: Outcome) -> dict[str, Any]:
    notes = [
        {
            "level": "error",
            "message": {"text": message},
            "locations": [{"physicalLocation": {"artifactLocation": artifact(file)}}],
        }
        for file, message in (*outcome.problems, *outcome.failures)
    ]
    return {"executionSuccessful": True, "toolExecutionNotifications": notes}


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
