"""Numbers that stand for "not measured": in a table that was read, and still there in what reaches the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from netmend.adapters.preparation.values import far_value
from netmend.vocabulary import PreparationFact

if TYPE_CHECKING:
    from netmend.adapters.preparation.watch import Preparation

_FEATURES = 512
_SAMPLES = 20_000
_LEAST_FAR = (
    0.9  # quartile ranges, for a number that was farther when it was read: other rows, other quartiles
)
_SAME_GAP = 0.3  # by how much the distance may differ, as scaling keeps it
_SAME_SHARE = 0.35  # the same for the share of rows
_SURE = 4.0  # standard deviations of a share in a sample


def reach_the_model(preparation: Preparation) -> None:
    """Ask, at the end of a run, which of the numbers found when tables were read are in the inputs of the model."""
    known = {"sentinels", "gaps_as_zero"}
    suspected = [fact for fact in preparation.facts.values() if known & fact.seen.keys()]
    fed = list(_far_features(preparation)) if suspected else []
    told: set[tuple[str, float]] = set()  # columns and numbers whose line is found
    for fact in sorted(suspected, key=lambda fact: "filled_in" not in fact.seen):
        for key in ("sentinels", "gaps_as_zero"):
            items = [item for item in fact.seen.get(key, ()) if (item[0], item[1]) not in told]
            reached = [item for item in items if any(_is_same(item, feature) for feature in fed)]
            if reached:
                told |= {(item[0], item[1]) for item in reached}
                filled = key == "gaps_as_zero" or bool(fact.seen.get("filled_in"))
                seen = {"sentinels": reached, "filled_in": filled, "somewhere": key == "gaps_as_zero"}
                name = f"fed {fact.name}{' gaps' if key == 'gaps_as_zero' else ''}"
                preparation.add(
                    PreparationFact(
                        name,
                        fact.call,
                        "fed",
                        fact.site,
                        takes=(fact.name,),
                        settings=fact.settings,
                        seen=seen,
                    )
                )


def _far_features(preparation: Preparation) -> Iterator[tuple[int, float, float]]:
    """For each feature of the inputs with such a number: how many samples were looked at, its share, how far it is."""
    kept = [batch.inputs for batch in preparation.batches.training]
    kept = [inputs for inputs in kept if inputs.ndim >= 2 and inputs.dtype.kind == "f"]
    kept = [inputs for inputs in kept if inputs.shape[1:] == kept[0].shape[1:]]
    if not kept:
        return
    inputs = np.concatenate(kept)
    inputs = inputs.reshape(-1, inputs.shape[-1]) if inputs.shape[-1] > 1 else inputs.reshape(len(inputs), -1)
    if inputs.shape[1] > _FEATURES:
        return
    inputs = inputs[:: -(-len(inputs) // _SAMPLES)]
    for feature in range(inputs.shape[1]):
        far = far_value(inputs[:, feature].astype(float), _LEAST_FAR)
        if far is not None:
            yield len(inputs), far[1], far[2]


def _is_same(item: Any, feature: tuple[int, float, float]) -> bool:
    """Scaling keeps how often a number stands in a column, and its distance in quartile ranges."""
    _, _, share, gap = item
    count, fed_share, fed_gap = feature
    off = max(_SAME_SHARE * share, _SURE * float(np.sqrt(share * (1 - share) / count)))
    return bool(abs(share - fed_share) <= off and abs(fed_gap - gap) <= _SAME_GAP * gap)
