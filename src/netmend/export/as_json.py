"""The whole trace as one JSON document; docs/format.md describes its shape."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from netmend.export.files import refuse_existing, replacing, target
from netmend.store.codec import encode, special_name
from netmend.version import VERSION
from netmend.vocabulary.table import Table
from netmend.vocabulary.trace import Trace

JSON_SCHEMA = 1  # extended only by adding


def export_json(trace: Trace, destination: Path, force: bool = False) -> list[Path]:
    path = target(trace, destination, ".json")
    refuse_existing([path], force)
    with replacing(path) as partial, partial.open("w", encoding="utf-8") as stream:
        for piece in pieces(trace):
            stream.write(piece)
    return [path]


def pieces(trace: Trace) -> Iterator[str]:
    """The document bit by bit, a table per line: a long trace as one string would need much memory."""
    yield f'{{"schema": {JSON_SCHEMA}, "netmend": {text(VERSION)},\n"facts": '
    yield text({kind: list(facts.values()) for kind, facts in trace.facts.items()})
    for name, items in (
        ("tables", map(plain_table, trace.tables.values())),
        ("patterns", trace.patterns),
        ("events", trace.events),
        ("batches", trace.batches),
    ):
        yield f',\n"{name}": ['
        for index, item in enumerate(items):
            yield (",\n" if index else "\n") + text(item)
        yield "]"
    yield "}\n"


def text(value: Any) -> str:
    return json.dumps(encode(value), allow_nan=False)


def plain_table(table: Table) -> dict[str, Any]:
    return {
        "kind": table.kind,
        "component": table.component,
        "columns": table.columns,
        "steps": table.steps.tolist(),
        "values": [[plain_number(value) for value in row] for row in table.values.tolist()],
    }


def plain_number(value: float) -> float | str | None:
    """NaN means "not measured" in tables, which is null in JSON; infinities are spelled out."""
    if math.isfinite(value):
        return value
    return None if math.isnan(value) else special_name(value)
