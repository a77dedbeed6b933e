"""scikit-learn: which rows each of its splitters puts where, and whose targets a selection of columns has seen before."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

from netmend.adapters.preparation.beforehand import FIT, beforehand
from netmend.adapters.preparation.beside import user_frames
from netmend.adapters.preparation.divisions import divisions
from netmend.adapters.preparation.watch import Preparation, Seen

_FOLDS = 1  # of a cross-validation that are looked at


# Modules that are watched, with a name that is there once they have been imported.
_done: weakref.WeakKeyDictionary[Preparation, set[str]] = weakref.WeakKeyDictionary()


def watch(preparation: Preparation) -> None:
    """Called after the import of each module; which may be in the middle of the other's."""
    done = _done.setdefault(preparation, set())
    parts = {
        "sklearn.model_selection": ("KFold", _splitters),
        "sklearn.feature_selection": ("SelectKBest", _selections),
    }
    for name, (last, part) in parts.items():
        module = sys.modules.get(name)
        if name not in done and hasattr(module, last) and module is not None:
            done.add(name)
            part(preparation, module)


def _selections(preparation: Preparation, module: ModuleType) -> None:
    known = beforehand(preparation)
    kinds = [
        kind for kind in vars(module).values() if isinstance(kind, type) and hasattr(kind, "get_support")
    ]
    owners = {
        next(owner for owner in kind.__mro__ if "fit" in vars(owner))
        for kind in kinds
        if hasattr(kind, "fit")
    }

    def fitted(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], made: Any) -> Seen | None:
        given = kwargs.get("X", args[1] if len(args) > 1 else None)
        targets = kwargs.get("y", args[2] if len(args) > 2 else None)
        frame = next(user_frames(preparation), None)
        site = preparation.sites.of(frame) if frame is not None else None
        if given is None or targets is None or site is None or len(getattr(given, "shape", ())) != 2:
            return None
        kept = int(args[0].get_support().sum())
        if kept < given.shape[1]:
            known.chosen(site.short, targets, kept)
        return {
            "rows": int(given.shape[0]),
            "columns": int(given.shape[1]),
            "kept": kept,
            "by": type(args[0]).__name__,
        }

    for owner in owners:
        preparation.wrap(owner, "fit", FIT, fitted, label="sklearn.feature_selection.fit", inside=True)


def _splitters(preparation: Preparation, module: ModuleType) -> None:
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
