"""A diagnosis for machines: the JSON contract (docs/json.md), SARIF 2.1.0, and GitHub's workflow commands."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from netmend.diagnose.measures.progress import main_progress
from netmend.report.machine import Fields, artifact, region, result_json, sarif_text, workflow_command
from netmend.report.run.wording import metric_name
from netmend.unit import page
from netmend.vocabulary import CRASHED, LEAVES, Diagnosis, Fault, Site, Trace
from netmend.vocabulary.change import Patch

FORMATS = ("text", "json", "sarif", "github")


def as_data(trace: Trace, diagnosis: Diagnosis) -> dict[str, Any]:
    """The diagnosis as plain data; see docs/json.md."""

    def site(item: Any) -> dict[str, Any] | None:
        return _site(trace, item.site)

    advice = Fields("code", "message", ("site", site))
    symptom = Fields("code", "message", "component", "step=first_step", "observed", "limit", ("site", site))
    crash = Fields("exception", "message", ("site", site), "step", "notes")
    run = Fields("id=name", "script", "arguments", "status", "steps", "seconds", "overhead")
    return {
        "verdict": diagnosis.verdict,
        "reason": diagnosis.reason,
        "headline": diagnosis.headline,
        "faults": [_fault(trace, fault, rank) for rank, fault in enumerate(diagnosis.faults, start=1)],
        "suspects": [_fault(trace, fault, rank) for rank, fault in enumerate(diagnosis.suspects, start=1)],
        "advice": advice.of(diagnosis.advice),
        "symptoms": symptom.of(diagnosis.symptoms),
        "run": {
            **run(trace.run),
            "metric": _metric(trace),
            "missing": trace.run.missing,
            "crash": crash.of(diagnosis.crash),
        },
        "failures": diagnosis.failures,
    }


def as_json(trace: Trace, diagnosis: Diagnosis) -> str:
    return result_json(as_data(trace, diagnosis))


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
    if diagnosis.verdict == CRASHED and diagnosis.crash is not None:
        rules.append({"id": "D701", "shortDescription": {"text": "the program crashed"}})
        message = {"text": _crash_text(diagnosis)}
        where = _locations(trace, diagnosis.crash.site)
        results.append({"ruleId": "D701", "level": "error", "message": message, **where})
    results += [
        {
            "ruleId": fault.cause,
            "level": _level(fault),
            "message": {"text": f"{fault.summary} {fault.reason} {fault.remedy}"},
            "rank": round(100 * fault.confidence, 1),
            "partialFingerprints": {"netmend/v1": f"{fault.cause}:{fault.component}"},
            **_locations(trace, fault.site),
            **_locations(trace, *fault.related, key="relatedLocations"),
        }
        for fault in diagnosis.faults
    ]
    return sarif_text(rules, results)


def _level(fault: Fault) -> str:
    return "error" if fault.confidence >= 0.8 else "warning"


def as_github(trace: Trace, diagnosis: Diagnosis) -> str:
    """Workflow commands that GitHub shows as annotations at the lines."""
    lines = []
    if diagnosis.verdict == CRASHED and diagnosis.crash is not None:
        properties = {**_place(trace, diagnosis.crash.site), "title": "netmend: the program crashed"}
        lines.append(workflow_command("error", _crash_text(diagnosis), properties))
    for fault in diagnosis.faults:
        properties = {**_place(trace, fault.site), "title": f"netmend {fault.cause}: {fault.title}"}
        lines.append(workflow_command(_level(fault), f"{fault.summary} {fault.remedy}", properties))
    return "".join(lines)


def _place(trace: Trace, site: Site | None) -> dict[str, str | int]:
    return {} if site is None else {"file": _relative(trace, site.file), "line": site.line}


def render(form: str, trace: Trace, diagnosis: Diagnosis) -> str:
    return {"json": as_json, "sarif": as_sarif, "github": as_github}[form](trace, diagnosis)


_EVIDENCE = Fields("message", "weight", "symptom", "step")
_EDIT = Fields("line", "column", "end_line", "end_column", "text")
_SITE = Fields("line", "column", "end_line", "end_column")
_WORDS = Fields(
    "summary", "reason", "remedy", "refutation", ("evidence", _EVIDENCE), "symptoms", "first_step"
)


def _fault(trace: Trace, fault: Fault, rank: int) -> dict[str, Any]:
    return {
        "rank": rank,
        "code": fault.cause,
        "aliases": fault.aliases,
        "title": fault.title,
        "confidence": fault.confidence,
        "component": fault.component,
        "site": _site(trace, fault.site),
        "related": [_site(trace, site) for site in fault.related],
        **_WORDS(fault),
        "edit": _edit(trace, fault.edit),
    }


def _edit(trace: Trace, edit: Patch | None) -> dict[str, Any] | None:
    if edit is None:
        return None
    edits = [{"file": _relative(trace, item.file), **_EDIT(item.edit)} for item in edit.edits]
    return {"title": edit.title, "diff": edit.diff, "edits": edits, "arguments": edit.arguments}


def _crash_text(diagnosis: Diagnosis) -> str:
    return " ".join((f"{diagnosis.reason}.", *diagnosis.story))


def _site(trace: Trace, site: Site | None) -> dict[str, Any] | None:
    return None if site is None else {"file": _relative(trace, site.file), **_SITE(site)}


def _relative(trace: Trace, file: str) -> str:
    path = PurePath(file)
    if trace.run.working_directory and path.is_absolute():
        try:
            path = path.relative_to(trace.run.working_directory)
        except ValueError:
            return str(path)
    return str(path)


def _locations(trace: Trace, *sites: Site | None, key: str = "locations") -> dict[str, Any]:
    """Nothing where there is no site."""
    found = [
        {
            "physicalLocation": {
                "artifactLocation": artifact(_relative(trace, site.file)),
                "region": region(site.line, site.column, site.end_line, site.end_column),
            }
        }
        for site in sites
        if site is not None
    ]
    return {key: found} if found else {}


def _metric(trace: Trace) -> dict[str, Any] | None:
    course = main_progress(trace)
    if course is None:
        return None
    evaluated = [table for table in trace.tables_of("evaluation") if len(table.known("metric")[0])]
    last = max(evaluated, key=lambda table: int(table.steps[-1]), default=None)
    return {
        "name": metric_name(trace) if course.metric_last is not None or last is not None else None,
        "training": course.metric_last,
        "evaluation": None if last is None else float(last.known("metric")[1][-1]),
        "loss": course.last,
        "relative_loss": course.last_relative,
    }


def _explanation(code: str) -> str:
    from netmend.localise.cause import CAUSES

    unit = CAUSES.classes().get(code)
    return "" if unit is None else " ".join(" ".join(page(unit)).split())
