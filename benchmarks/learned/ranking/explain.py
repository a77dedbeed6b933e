"""Why the learned model thinks of a cause: the features that moved it most, in words with their values."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ranking.features import words
from ranking.features.suspicion import PREFIX
from ranking.predict import Judgement


@dataclass(frozen=True)
class Reason:
    feature: str
    value: float  # NaN: that it is missing is what spoke
    moved: float  # by how much it raised the cause's score
    message: str


def reasons(judgement: Judgement, cause: str, most: int = 3) -> tuple[Reason, ...]:
    """The features that spoke for a cause most, strongest first; none where the forest does not know the cause.

    What the rules said is left out: it stands as evidence of its own beside them.
    """
    forest = judgement.model.forest
    if cause not in forest.classes:
        return ()
    moved = forest.contributions(judgement.row, cause)
    spoke = [
        (amount, name)
        for name, amount in moved.items()
        if amount > 0 and not name.startswith((PREFIX, "rules_"))
    ]
    found = sorted(spoke, reverse=True)[:most]
    return tuple(_reason(judgement, name, amount) for amount, name in found)


def _reason(judgement: Judgement, name: str, amount: float) -> Reason:
    value = judgement.values.get(name, math.nan)
    said = words().get(name, name)
    shown = "not known" if math.isnan(value) else f"{value:.3g}"
    return Reason(name, value, amount, f"{said[:1].upper()}{said[1:]}: {shown}.")
