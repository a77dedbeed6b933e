"""The strong generator: starts where, by what was seen of both so far, the mutant is likely to fail and the original is not.

µPRL's TG_S takes the most failure-prone of many random candidates, judged by a predictor of the mutant's failures. A start at which the
original fails as well reveals nothing, so a predictor of the original's failures counts against it. Half of the candidates come from the
larger range, where there is one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from netmend.mutate.agents.environments.space import Rows, Space
from netmend.mutate.agents.generators.predictor import Predictor


def most_telling(
    space: Space,
    mutant: Predictor,
    original: Predictor,
    count: int,
    candidates: int,
    pool: tuple[Rows, Rows] | None,
    random: np.random.Generator,
) -> Rows:
    """`count` starts, each the best of `candidates` drawn at random; from `pool` (starts and their features) where given."""
    if pool is None and space.is_seeded:
        return space.sample(count, random)  # nothing is known of a seed before it is played
    found: list[NDArray[np.float64]] = []
    left = None if pool is None else np.arange(len(pool[0]))
    for _ in range(count):
        if pool is None or left is None:
            near, wide = (
                space.sample(candidates // 2, random),
                space.sample(candidates // 2, random, wide=True),
            )
            starts = features = np.concatenate([near, wide])
        else:
            if not len(left):
                break
            drawn = random.choice(left, size=min(max(1, candidates // 10), len(left)), replace=False)
            starts, features = pool[0][drawn], pool[1][drawn]
        score = mutant.probability(features) * (1 - original.probability(features))
        best = int(np.argmax(score))
        found.append(starts[best])
        if pool is not None and left is not None:
            left = left[left != drawn[best]]
    return np.array(found)
