"""Event: something that happened once and must not be forgotten, whatever is thinned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from netmend.vocabulary.site import Site


@dataclass(frozen=True)
class Event:
    """`kind` is one of: nonfinite, model changed, exception, part switched off, state loaded, loose parameter,
    replicas differ, phase, note."""

    step: int
    kind: str
    message: str  # one plain sentence
    component: str = ""
    site: Site | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
