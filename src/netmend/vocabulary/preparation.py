"""What a program did to its data before a network saw them: one fact for each line that read, joined, converted, cut or changed something."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from netmend.vocabulary.site import Site


@dataclass(frozen=True)
class PreparationFact:
    """One line that prepares data. Of a line that runs often the first calls are looked at, then ever fewer."""

    name: str  # "merge@prepare.py:31"
    call: str  # "pandas.DataFrame.merge"
    kind: str  # "read" | "join" | "order" | "select" | "assign" | "convert" | "encode" | "fit" | "split" | "image" | "mapping" | …
    site: Site | None = None
    order: int = 0  # of its first call among all lines
    calls: int = 1  # up to the last one that was looked at
    takes: tuple[str, ...] = ()  # the lines that made its arguments, in their order
    settings: Mapping[str, Any] = field(
        default_factory=dict
    )  # arguments of the first call that are plain values
    seen: Mapping[str, Any] = field(
        default_factory=dict
    )  # what it did, in numbers: the most of the calls that were looked at
