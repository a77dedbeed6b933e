"""Reports: a trace in, text for people out. Nothing here measures or judges.

Names are imported when first used, so that a training process that only needs the live status loads neither rich
nor jinja2 before its run is over.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netmend.report.as_diagnosis import diagnosis_text, summary
    from netmend.report.as_html import html
    from netmend.report.as_machine import FORMATS, as_json, render
    from netmend.report.as_page import page
    from netmend.report.as_runs_table import runs_table
    from netmend.report.live import LiveStatus
    from netmend.report.repair.document import repair_json, repair_text
    from netmend.report.repair.page import repair_page
    from netmend.report.terminal import console

__all__ = [
    "FORMATS",
    "LiveStatus",
    "as_json",
    "console",
    "diagnosis_text",
    "html",
    "page",
    "render",
    "repair_json",
    "repair_page",
    "repair_text",
    "runs_table",
    "summary",
]

_HOMES = {
    "FORMATS": "netmend.report.as_machine",
    "as_json": "netmend.report.as_machine",
    "diagnosis_text": "netmend.report.as_diagnosis",
    "render": "netmend.report.as_machine",
    "LiveStatus": "netmend.report.live",
    "console": "netmend.report.terminal",
    "html": "netmend.report.as_html",
    "page": "netmend.report.as_page",
    "repair_page": "netmend.report.repair.page",
    "repair_json": "netmend.report.repair.document",
    "repair_text": "netmend.report.repair.document",
    "runs_table": "netmend.report.as_runs_table",
    "summary": "netmend.report.as_diagnosis",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
