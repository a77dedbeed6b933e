"""Two Parquet files: all tables as one long table, and the facts with their JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from netmend.errors import MissingExtra
from netmend.export.files import refuse_existing, replacing, target
from netmend.store.codec import to_json
from netmend.vocabulary.trace import Trace


def export_parquet(trace: Trace, destination: Path, force: bool = False) -> list[Path]:
    """`NAME.parquet` with kind, component, column, step, value, and `NAME-facts.parquet` with kind, name, json."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra(
            "exporting to parquet needs pyarrow; install it: pip install 'netmend[export]'"
        ) from error
    series = target(trace, destination, ".parquet")
    facts = series.with_name(f"{series.stem}-facts{series.suffix}")
    refuse_existing([series, facts], force)
    names = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    schema = pyarrow.schema(
        [
            ("kind", names),
            ("component", names),
            ("column", names),
            ("step", pyarrow.int64()),
            ("value", pyarrow.float64()),
        ]
    )
    with replacing(series) as first, replacing(facts) as second:
        # One group for all: a group per series would make files of thousands of tiny groups.
        parts = [pyarrow.table(columns, schema=schema) for columns in long_columns(trace)]
        pyarrow.parquet.write_table(pyarrow.concat_tables([schema.empty_table(), *parts]), first)
        pyarrow.parquet.write_table(pyarrow.table(fact_columns(trace)), second)
    return [series, facts]


def long_columns(trace: Trace) -> Iterator[dict[str, Any]]:
    """Each measured value as one row; what was not measured has no row."""
    for table in trace.tables.values():
        for index, column in enumerate(table.columns):
            values = table.values[:, index]
            measured = ~np.isnan(values)
            count = int(np.count_nonzero(measured))
            yield {
                "kind": [table.kind] * count,
                "component": [printable(table.component)] * count,
                "column": [column] * count,
                "step": table.steps[measured],
                "value": values[measured],
            }


def fact_columns(trace: Trace) -> dict[str, list[str]]:
    facts = [(kind, name, fact) for kind, named in trace.facts.items() for name, fact in named.items()]
    return {
        "kind": [kind for kind, _, _ in facts],
        "name": [printable(name) for _, name, _ in facts],
        "json": [to_json(fact) for _, _, fact in facts],
    }


def printable(text: str) -> str:
    """Parquet holds UTF-8 only; names may come from file names that are not."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
