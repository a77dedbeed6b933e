"""Symptom: something seen in a trace, with the numbers behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from netmend.vocabulary.site import Site


@dataclass(frozen=True)
class Symptom:
    """`message` is one plain sentence that names the values; everything in it can be checked in the trace."""

    code: str  # of the detector that saw it: "D104"
    message: str
    component: str = ""  # the layer, parameter, loss, optimiser, loader or model it was seen at
    first_step: int | None = None  # None: known before the first step, or not tied to one
    observed: float | None = None
    limit: float | None = None
    site: Site | None = None  # the user's line nearest to what was seen
    detail: Mapping[str, Any] = field(default_factory=dict)  # further values, for causes to reason with
