"""A diagnosis for machines: the JSON contract (docs/json.md), SARIF 2.1.0, and GitHub's workflow commands."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from netmend.diagnose.measures.progress import main_progress
from netmend.report.machine import artifact, json_text, region, sarif_text, workflow_command
from netmend.report.wording import metric_name
from netmend.unit import page
from netmend.version import VERSION
from netmend.vocabulary import CRASHED, LEAVES, Crash, Diagnosis, Fault, Site, Trace
from netmend.vocabulary.change import Patch

SCHEMA = 1  # of the JSON output; extended only by adding
FORMATS = ("text", "json", "sarif", "github")


def as_data(trace: Trace, diagnosis: Diagnosis) -> dict[str, Any]:
    """The diagnosis as plain data; see docs/json.md."""
    run = trace.run
    return {
        "schema": SCHEMA,
        "netmend": VERSION,
        "verdict": diagnosis.verdict,
        "reason": diagnosis.reason,
        "headline": diagnosis.headline,
        "faults": [_fault(trace, fault, rank) for rank, fault in enumerate(diagnosis.faults, start=1)],
        "suspects": [_fault(trace, fault, rank) for rank, fault in enumerate(diagnosis.suspects, start=1)],
        "advice": [
            {"code": item.code, "message": item.message, "site": _site(trace, item.site)}
            for item in diagnosis.advice
        ],
        "symptoms": [
            {
                "code": symptom.code,
                "message": symptom.message,
                "component": symptom.component,
                "step": symptom.first_step,
                "observed": _finite(symptom.observed),
                "limit": _finite(symptom.limit),
                "site": _site(trace, symptom.site),
            }
            for symptom in diagnosis.symptoms
        ],
        "run": {
            "id": run.name,
            "script": run.script,
            "arguments": list(run.arguments),
            "status": run.status,
            "steps": run.steps,
            "seconds": _finite(run.seconds),
            "overhead": _finite(run.overhead),
            "metric": _metric(trace),
            "missing": list(run.missing),
            "crash": _crash(trace, diagnosis.crash),
        },
        "failures": list(diagnosis.failures),
    }


def as_json(trace: Trace, diagnosis: Diagnosis) -> str:
    return json_text(as_data(trace, diagnosis))


def as_sarif(trace: Trace, diagnosis: Diagnosis) -> str:
    """SARIF 2.1.0, as code-scanning services read it."""
    used = dict.fromkeys(fault.cause for fault in diagnosis.faults)
    rules: list[dict[str, Any]] = [
        {
            "id": code,
            "shortDescription": {"text": LEAVES[code].title},
            "fullDescription": {"text": _explanation(code) or LEAVES[code].title},
        }
        for code in used
    ]
    results: list[dict[str, Any]] = []
    crash = diagnosis.crash if diagnosis.verdict == CRASHED else None
    if crash is not None:
        rules.append({"id": "D701", "shortDescription": {"text": "the program crashed"}})
        results.append(
            {
                "ruleId": "D701",
                "level": "error",
                "message": {"text": _crash_text(diagnosis)},
                **(
                    {}
                    if crash.site is None
                    else {"locations": [{"physicalLocation": _physical(trace, crash.site)}]}
                ),
            }
        )
    for fault in diagnosis.faults:
        result: dict[str, Any] = {
            "ruleId": fault.cause,
            "level": "error" if fault.confidence >= 0.8 else "warning",
            "message": {"text": f"{fault.summary} {fault.reason} {fault.remedy}"},
            "rank": round(100 * fault.confidence, 1),
            "partialFingerprints": {"netmend/v1": f"{fault.cause}:{fault.component}"},
        }
        if fault.site is not None:
            result["locations"] = [{"physicalLocation": _physical(trace, fault.site)}]
        if fault.related:
            result["relatedLocations"] = [
                {"physicalLocation": _physical(trace, site)} for site in fault.related
            ]
        results.append(result)
    return sarif_text(rules, results)


def as_github(trace: Trace, diagnosis: Diagnosis) -> str:
    """Workflow commands that GitHub shows as annotations at the lines."""
    lines = []
    if diagnosis.verdict == CRASHED and diagnosis.crash is not None:
        where = diagnosis.crash.site
        at: dict[str, str | int] = (
            {} if where is None else {"file": _relative(trace, where.file), "line": where.line}
        )
        lines.append(
            workflow_command("error", _crash_text(diagnosis), {**at, "title": "netmend: the program crashed"})
        )
    for fault in diagnosis.faults:
        properties: dict[str, str | int] = {}
        if fault.site is not None:
            properties |= {"file": _relative(trace, fault.site.file), "line": fault.site.line}
        properties["title"] = f"netmend {fault.cause}: {fault.title}"
        level = "error" if fault.confidence >= 0.8 else "warning"
        lines.append(workflow_command(level, f"{fault.summary} {fault.remedy}", properties))
    return "".join(lines)


def render(form: str, trace: Trace, diagnosis: Diagnosis) -> str:
    return {"json": as_json, "sarif": as_sarif, "github": as_github}[form](trace, diagnosis)


def _fault(trace: Trace, fault: Fault, rank: int) -> dict[str, Any]:
    return {
        "rank": rank,
        "code": fault.cause,
        "aliases": list(fault.aliases),
        "title": fault.title,
        "confidence": fault.confidence,
        "component": fault.component,
        "site": _site(trace, fault.site),
        "related": [_site(trace, site) for site in fault.related],
        "summary": fault.summary,
        "reason": fault.reason,
        "remedy": fault.remedy,
        "refutation": fault.refutation,
        "evidence": [
            {"message": item.message, "weight": item.weight, "symptom": item.symptom, "step": item.step}
            for item in fault.evidence
        ],
        "symptoms": list(fault.symptoms),
        "first_step": fault.first_step,
        "edit": _edit(trace, fault.edit),
    }


def _edit(trace: Trace, edit: Patch | None) -> dict[str, Any] | None:
    if edit is None:
        return None
    return {
        "title": edit.title,
        "diff": edit.diff,
        "edits": [
            {
                "file": _relative(trace, item.file),
                "line": item.edit.line,
                "column": item.edit.column,
                "end_line": item.edit.end_line,
                "end_column": item.edit.end_column,
                "text": item.edit.text,
            }
            for item in edit.edits
        ],
        "arguments": None if edit.arguments is None else list(edit.arguments),
    }


def _crash_text(diagnosis: Diagnosis) -> str:
    return " ".join((f"{diagnosis.reason}.", *diagnosis.story))


def _crash(trace: Trace, crash: Crash | None) -> dict[str, Any] | None:
    if crash is None:
        return None
    return {
        "exception": crash.exception,
        "message": crash.message,
        "site": _site(trace, crash.site),
        "step": crash.step,
        "notes": list(crash.notes),
    }


def _site(trace: Trace, site: Site | None) -> dict[str, Any] | None:
    if site is None:
        return None
    return {
        "file": _relative(trace, site.file),
        "line": site.line,
        "column": site.column,
        "end_line": site.end_line,
        "end_column": site.end_column,
    }


def _relative(trace: Trace, file: str) -> str:
    path = PurePath(file)
    if trace.run.working_directory and path.is_absolute():
        try:
            path = path.relative_to(trace.run.working_directory)
        except ValueError:
            return str(path)
    return str(path)


def _physical(trace: Trace, site: Site) -> dict[str, Any]:
    return {
        "artifactLocation": artifact(_relative(trace, site.file)),
        "region": region(site.line, site.column, site.end_line, site.end_column),
    }


def _metric(trace: Trace) -> dict[str, Any] | None:
    course = main_progress(trace)
    if course is None:
        return None
    evaluated = [table for table in trace.tables_of("evaluation") if len(table.known("metric")[0])]
    last = max(evaluated, key=lambda table: int(table.steps[-1]), default=None)
    return {
        "name": metric_name(trace) if course.metric_last is not None or last is not None else None,
        "training": _finite(course.metric_last),
        "evaluation": None if last is None else _finite(float(last.known("metric")[1][-1])),
        "loss": _finite(course.last),
        "relative_loss": _finite(course.last_relative),
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and value - value == 0 else None


def _explanation(code: str) -> str:
    from netmend.localise.cause import CAUSES

    unit = CAUSES.classes().get(code)
    return "" if unit is None else " ".join(" ".join(page(unit)).split())
