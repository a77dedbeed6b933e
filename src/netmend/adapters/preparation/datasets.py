"""Hugging Face datasets: `train_test_split`."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from netmend.adapters.preparation.divisions import divisions
from netmend.adapters.preparation.watch import Preparation, Seen

_MOST_ROWS = 50_000


def watch(preparation: Preparation) -> None:
    known = divisions(preparation)

    def divided(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], parts: Any) -> Seen | None:
        train, test = parts["train"], parts["test"]
        if len(train) + len(test) <= _MOST_ROWS and kwargs.get("shuffle", True):
            columns = {name: [*train[name], *test[name]] for name in train.column_names}
            # Side by side they stand in no order: as drawn.
            order = np.random.default_rng(0).permutation(len(train) + len(test))
            mixed = {name: [values[place] for place in order] for name, values in columns.items()}
            known.divided(
                "datasets.Dataset.train_test_split",
                np.array([0] * len(train) + [1] * len(test))[order],
                (mixed,),
            )
        return None

    preparation.wrap(sys.modules["datasets"].Dataset, "train_test_split", "split", divided)
