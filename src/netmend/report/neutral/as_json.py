"""A neutrality analysis for machines: the JSON contract (docs/neutral.md)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from netmend.neutral.neutrality import Alternative, Neutrality, Node
from netmend.report.machine import json_text
from netmend.report.neutral.words import metric_name
from netmend.report.repair.patch import places
from netmend.version import VERSION

SCHEMA = 1  # extended only by adding


def neutral_json(found: Neutrality) -> str:
    """The analysis as one JSON object; numbers that are not finite are null."""
    return json_text(neutral_data(found))


def neutral_data(found: Neutrality) -> dict[str, Any]:
    """The analysis as plain data; see docs/neutral.md."""
    objective, goal = found.objective, found.goal
    return {
        "schema": SCHEMA,
        "netmend": VERSION,
        "script": found.script,
        "arguments": list(found.arguments),
        "metric": {
            "name": None if objective is None else metric_name(found),
            "higher_is_better": None if objective is None else objective.higher_is_better,
            "description": None if objective is None else objective.name,
            "held_out": None if objective is None else objective.held_out,
        },
        "goal": {
            "kind": goal.kind,
            "value": _finite(goal.value),
            "values": _numbers(goal.values),
            "node": goal.node,
        },
        "seeds": list(found.seeds),
        "alternatives": [_alternative(found, one) for one in found.alternatives],
        "nodes": [_node(node) for node in found.nodes],
        "trainings": _finite(found.trainings),
        "seconds": _finite(found.seconds),
        "budget": found.budget,
        "stopped": found.stopped,
        "untried": found.untried,
        "failures": list(found.problems),
    }


def _alternative(found: Neutrality, one: Alternative) -> dict[str, Any]:
    best = found.node(one.nodes[0])
    return {
        "knobs": list(one.knobs),
        "causes": list(one.causes),
        "titles": list(best.titles),
        "minimal": one.minimal,
        "contains": list(one.contains),
        "nodes": list(one.nodes),
        "mean": _finite(best.mean),
        "deviation": _finite(best.spread),
        "lines": best.lines,
        "patch": best.patch,
        "arguments": None if best.new_arguments is None else list(best.new_arguments),
    }


def _node(node: Node) -> dict[str, Any]:
    changes = []
    for part, place in zip(node.version.parts, places(node.version), strict=True):
        file, line = place or (None, None)
        change = part.change
        changes.append(
            {
                "title": change.title,
                "cause": change.cause,
                "unit": change.repair,
                "knob": change.knob,
                "file": file,
                "line": line,
            }
        )
    return {
        "id": node.id,
        "parent": node.parent,
        "depth": node.depth,
        "step": None if node.change is None else node.change.title,
        "changes": changes,
        "status": node.status,
        "expanded": node.expanded,
        "values": _numbers(node.values),
        "mean": _finite(node.mean),
        "deviation": _finite(node.spread),
        "lines": node.lines,
        "cost": _finite(node.cost),
        "exception": node.note or None,
    }


def _numbers(values: Iterable[float | None]) -> list[float | None]:
    return [_finite(value) for value in values]


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
