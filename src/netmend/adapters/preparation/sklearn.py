"""scikit-learn's model selection: which rows each of its splitters puts where."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from netmend.adapters.preparation.divisions import divisions
from netmend.adapters.preparation.watch import Preparation

_FOLDS = 1  # of a cross-validation that are looked at


def watch(preparation: Preparation) -> None:
    module = sys.modules["sklearn.model_selection"]
    kinds = [kind for kind in vars(module).values() if isinstance(kind, type)]
    owners = {owner for kind in kinds for owner in kind.__mro__ if "split" in vars(owner)}

    def make(original: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        def split(splitter: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
            for place, pair in enumerate(original(splitter, *args, **kwargs)):
                if place < _FOLDS:
                    name = f"sklearn.model_selection.{type(splitter).__name__}.split"
                    preparation.observe(name, partial(_divided, preparation, name, pair, args, kwargs))
                yield pair

        return split

    for owner in owners:
        preparation.patch(owner, "split", make)


def _divided(
    preparation: Preparation, call: str, pair: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    given = (*args, *kwargs.values())
    rows = next((len(thing) for thing in given if hasattr(thing, "__len__")), 0)
    target = kwargs.get("y", args[1] if len(args) > 1 else None)
    divisions(preparation).by_numbers(call, rows, pair[0], pair[1], given, target)
