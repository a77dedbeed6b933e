"""Worker seeds: random generators that every worker of a DataLoader gets the same copy of."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from netmend.adapters.torch.watch.code_names import (
    code_of,
    names_in,
    own_methods,
    reached_names,
    uses_argument,
)
from netmend.vocabulary import Site

_SEEDING = {"seed", "manual_seed", "seed_everything", "set_seed"}
_OWN_SEED = {"get_worker_info", "initial_seed", "getpid", "urandom", "SeedSequence", "time", "time_ns"}
_DEEPEST = 3
_MOST_ITEMS = 32


@dataclass(frozen=True)
class Copied:
    """Something random that all workers have in the same state."""

    kind: (
        str  # "Generator", "RandomState", "Random"; "seed" for a worker_init_fn that seeds all workers alike
    )
    name: str  # attribute that holds it, or the function that seeds
    owner: str  # class that holds it
    site: Site | None = None


def copied_to_workers(loader: Any) -> Copied | None:
    """What the workers of a loader will draw alike; None where each has numbers of its own, or where that is not known."""
    if loader.num_workers < 2:
        return None
    prepare = loader.worker_init_fn
    if prepare is not None:
        return _same_seed(prepare)
    for owner, name, kind in _generators(loader.dataset, _DEEPEST):
        if _draws(type(owner), name):
            return Copied(kind, name, type(owner).__name__)
    return None


def _same_seed(prepare: Any) -> Copied | None:
    """A `worker_init_fn` that seeds without asking which worker it is in."""
    code = code_of(prepare)
    if code is None:
        return None
    names = names_in(code)
    if not names & _SEEDING or names & _OWN_SEED or uses_argument(code) or code.co_freevars:
        return None
    return Copied(
        "seed", code.co_name, "", Site(code.co_filename, code.co_firstlineno, function=code.co_name)
    )


def _draws(kind: type, name: str) -> bool:
    """Whether samples are made with the generator, and no worker gives it a seed of its own."""
    methods = own_methods(kind)
    entry = next((m for m in ("__getitem__", "__iter__", "__call__", "forward") if m in methods), None)
    reached = reached_names(kind, entry) if entry is not None else set()
    return name in reached and not reached & _OWN_SEED


def _generators(thing: Any, depth: int) -> Iterator[tuple[Any, str, str]]:
    """Random generators among the attributes of a dataset, and of what it holds: transforms, a dataset it is a part of."""
    kinds = _kinds()
    for name, value in list(getattr(thing, "__dict__", {}).items())[:_MOST_ITEMS]:
        if isinstance(value, kinds):
            yield thing, name, type(value).__name__
        elif depth:
            inside = value[:_MOST_ITEMS] if isinstance(value, list | tuple) else (value,)
            for item in inside:
                if hasattr(item, "__dict__") and not isinstance(item, torch.Tensor | type):
                    yield from _generators(item, depth - 1)


def _kinds() -> tuple[type, ...]:
    numpy = sys.modules.get("numpy.random")
    known = () if numpy is None else (numpy.Generator, numpy.RandomState)
    return (*known, random.Random)
