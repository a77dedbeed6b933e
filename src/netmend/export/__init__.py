"""Export: a trace in formats that other tools read."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

from netmend.errors import UsageError
from netmend.export.as_json import export_json
from netmend.export.as_parquet import export_parquet
from netmend.export.as_tensorboard import export_tensorboard
from netmend.vocabulary.trace import Trace

__all__ = ["FORMATS", "export"]

FORMATS: dict[str, Callable[[Trace, Path, bool], list[Path]]] = {
    "json": export_json,
    "parquet": export_parquet,
    "tensorboard": export_tensorboard,
}


def export(trace: Trace, to: str, destination: Path, force: bool = False) -> list[Path]:
    """Write the trace as `to` and return the files written.

    `destination` is a file, or a directory in which files named after the run are made; for TensorBoard it is the log
    directory. Files that exist are replaced only with `force`.
    """
    if to not in FORMATS:
        near = difflib.get_close_matches(to, FORMATS, n=1)
        advice = f"did you mean {near[0]}?" if near else f"choose one of: {', '.join(FORMATS)}"
        raise UsageError(f"cannot export to {to!r}; {advice}")
    return FORMATS[to](trace, destination, force)
