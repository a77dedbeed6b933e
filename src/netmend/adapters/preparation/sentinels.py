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
    suspected = [
        (fact, item) for fact in preparation.facts.values() for item in fact.seen.get("sentinels", ())
    ]
    if not suspected:
        return
    fed = list(_far_features(preparation))
    for fact in {fact.name: fact for fact, _ in suspected}.values():
        reached = [
            item
            for other, item in suspected
            if other is fact and any(_is_same(item, feature) for feature in fed)
        ]
        if reached:
            preparation.add(
                PreparationFact(
                    f"fed {fact.name}",
                    fact.call,
                    "fed",
                    fact.site,
                    takes=(fact.name,),
                    settings=fact.settings,
                    seen={"sentinels": reached, "filled_in": bool(fact.seen.get("filled_in"))},
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
