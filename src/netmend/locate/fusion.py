"""From the signals of all files to one order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from netmend.locate.features import Features
from netmend.locate.postings import Floats

MODEL = Path(__file__).with_name("model.json")


class Fusion(Protocol):
    @property
    def name(self) -> str: ...

    def rank(self, features: Features) -> Floats:
        """A score for each file; the highest comes first."""
        ...


@dataclass(frozen=True)
class FixedFusion:
    """The weighted sum of fixed_fusion.py."""

    name: str = "fixed weights"

    def rank(self, features: Features) -> Floats:
        return features.column("fixed")


@cache
def default_fusion() -> Fusion:
    """The trained trees that come with the package, or fixed weights where there are none."""
    from netmend.locate.fusion_trees import read_trees

    return read_trees(MODEL) if MODEL.is_file() else FixedFusion()
