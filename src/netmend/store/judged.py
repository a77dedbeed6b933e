"""What a run was judged to be, kept beside its trace so that lists of runs need not judge again."""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from netmend.store.codec import from_json, to_json

FILE = "judged.json"


@dataclass(frozen=True)
class KeptFault:
    """A fault that was told, in a line."""

    cause: str
    title: str
    confidence: float
    place: str = ""  # file:line


@dataclass(frozen=True)
class Judged:
    """The verdict, the faults that were told, most likely first, and what the run came to."""

    verdict: str
    reason: str = ""
    faults: tuple[KeptFault, ...] = ()
    loss: float | None = None  # of training, at the end
    metric: float | None = None  # of the last evaluation, else of training
    metric_name: str = ""  # accuracy, R²
    netmend_version: str = ""


def write_judged(run: Path, judged: Judged) -> None:
    """Whole or not at all; a run on a read-only medium goes without."""
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(dir=run, prefix=".judged")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(to_json(judged))
        Path(name).replace(run / FILE)


def read_judged(run: Path) -> Judged | None:
    """None where the run was not judged, or what is there cannot be read."""
    try:
        return from_json(Judged, (run / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
