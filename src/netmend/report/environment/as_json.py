"""A checked environment for machines: the JSON contract (docs/env.md)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from netmend.environment.check import Checked
from netmend.report.machine import json_text
from netmend.version import VERSION

SCHEMA = 1  # extended only by adding


def environment_json(checked: Checked) -> str:
    """One JSON object: everything that is known, and every problem."""
    data: dict[str, Any] = {
        "schema": SCHEMA,
        "netmend": VERSION,
        "bad": checked.bad,
        "problems": [asdict(problem) for problem in checked.problems],
        "environment": asdict(checked.environment),
        "paths": [asdict(path) for path in checked.paths],
    }
    return json_text(data)
