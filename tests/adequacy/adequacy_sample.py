"""Made-up models' doings: five groups of points, as a trained network would tell them apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from netmend.adequacy.collected import Collected

CENTRES = 4 * np.eye(5, 8)


def collected(
    count: int, seed: int, classes: Any = range(5), labelled: bool = True, **changes: Any
) -> Collected:
    random = np.random.default_rng(seed)
    label = random.choice(list(classes), count)
    traces = (CENTRES[label] + random.normal(size=(count, 8))).astype(np.float32)
    given: dict[str, Any] = {
        "traces": traces,
        "indices": np.arange(count),
        "outputs": traces[:, :5].copy(),
        "labels": label if labelled else None,
        "layers": {"first": traces.copy(), "second": np.tanh(traces)},
        "total": count,
        "trace_of": "input of layer head",
    }
    return Collected(**(given | changes))
