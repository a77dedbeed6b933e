"""Example: what a measure is given and what it must answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Example:
    title: str
    given: Mapping[str, Any]  # arguments; lists become arrays
    expected: Any
