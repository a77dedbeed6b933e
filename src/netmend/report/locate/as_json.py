"""Where a bug lies, for machines: the JSON contract (docs/json.md)."""

from __future__ import annotations

import math
from typing import Any

from netmend.locate.answer import RankedFile, RankedFunction, Reason
from netmend.locate.located import Located
from netmend.report.locate.outside import kind_data, outside_data
from netmend.report.locate.words import line_of
from netmend.report.machine import json_text
from netmend.version import VERSION

SCHEMA = 1  # extended only by adding


def locate_json(found: Located) -> str:
    """The answer as one JSON object; numbers that are not finite are null."""
    return json_text(locate_data(found))


def locate_data(found: Located) -> dict[str, Any]:
    """The answer as plain data; see docs/json.md."""
    answer, report = found.answer, found.report
    return {
        "schema": SCHEMA,
        "netmend": VERSION,
        "report": {
            "title": report.title,
            "failures": [{"kind": one.kind, "message": one.message} for one in report.failures],
            "traces": [
                [{"path": frame.path, "line": frame.line, "function": frame.function} for frame in trace]
                for trace in report.traces
            ],
            "code_blocks": len(report.code),
            "paths": list(report.paths),
            "modules": list(report.modules),
            "versions": [{"name": name, "version": version} for name, version in report.versions],
        },
        "repository": {"name": found.name, "root": answer.root, "revision": answer.revision},
        "candidates": answer.candidates,
        "files": [_file(rank, file) for rank, file in enumerate(answer.files, 1)],
        "kind": kind_data(found),
        "extrinsic": outside_data(found),
        "notes": list(answer.notes),
        "seconds": {stage: _finite(value) for stage, value in answer.seconds.items()},
    }


def _file(rank: int, file: RankedFile) -> dict[str, Any]:
    return {
        "rank": rank,
        "path": file.path,
        "line": line_of(file),
        "score": _finite(file.score),
        "reasons": [_reason(one) for one in file.reasons],
        "functions": [_function(one) for one in file.functions],
    }


def _function(one: RankedFunction) -> dict[str, Any]:
    return {
        "name": one.name,
        "line": one.line,
        "end_line": one.end,
        "score": _finite(one.score),
        "reasons": [_reason(reason) for reason in one.reasons],
    }


def _reason(one: Reason) -> dict[str, Any]:
    return {"kind": one.kind, "text": one.text, "line": one.line, "weight": _finite(one.weight)}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
