"""What DataLoaders hand out: how samples become a batch, whether labels stay with their inputs, what all workers draw alike."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.utils.data import default_collate

from netmend.adapters.patches import hide_from_warnings
from netmend.adapters.torch.guard import around, guarded
from netmend.adapters.torch.watch.eligible import tensors_in
from netmend.adapters.torch.watch.user_code import (
    code_of,
    names_in,
    own_methods,
    reached_names,
    uses_argument,
)
from netmend.vocabulary import Site

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.loss_calls import LossCall
    from netmend.adapters.torch.watch.session import TorchSession


# Collation: what a `collate_fn` makes of the samples of one batch, looked at once for each loader of the main process.

_DEEPEST = 4
_MOST_ITEMS = 4096
_PART = "DataLoaders"


class Collation:
    """Sets a watcher between a loader's iterator and the user's function for one batch. Nothing of the user's is touched:
    the function is held by an object that the iterator has made for itself."""

    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self._looked: set[str] = set()
        self._open: list[tuple[str, Any, Callable[..., Any]]] = []  # a function may read another loader

    @property
    def at_work(self) -> bool:
        return bool(self._open)

    def begins(self, iterator: Any, loader: str) -> None:
        """The next batch of a loader is about to be made."""
        if loader in self._looked:
            self._open.append(("", None, default_collate))
            return
        self._looked.add(loader)
        fetcher: Any = getattr(iterator, "_dataset_fetcher", None)  # none where workers make the batches
        function = getattr(fetcher, "collate_fn", None)
        if function is None or function is default_collate or not getattr(fetcher, "auto_collation", False):
            self._open.append(("", None, default_collate))
            return
        watched = around(self.session, _PART, None, self._collated, always=True)(function)
        hide_from_warnings(watched)
        self._open.append((loader, fetcher, function))
        fetcher.collate_fn = watched

    def ends(self) -> None:
        _, fetcher, function = self._open.pop()
        if fetcher is not None:
            fetcher.collate_fn = function

    def _collated(self, token: Any, args: Any, kwargs: Any, result: Any) -> None:
        if args and isinstance(args[0], list | tuple):
            self._record(args[0], result)

    @guarded(_PART)
    def _record(self, samples: Any, batch: Any) -> None:
        made = [tensor for tensor in tensors_in(batch) if tensor.dim()]
        if not made or not self._open:
            return
        loader, _, function = self._open[-1]
        code = code_of(function)
        site = None
        if code is not None and self.session.sites.is_user_file(code.co_filename):
            site = Site(code.co_filename, code.co_firstlineno, function=code.co_name)
        values = {
            "samples": len(samples),
            "given": amount(samples),  # numbers and words that the samples hold
            "made": sum(tensor.numel() for tensor in made),
            "rows": [len(tensor) for tensor in made],
        }
        self.session.recorder.probe("collation", loader, values, site)


def amount(thing: Any, depth: int = _DEEPEST) -> int:
    """How much there is: elements of tensors and arrays, words of texts, single numbers."""
    if isinstance(thing, Tensor):
        return thing.numel()
    if isinstance(thing, str):
        return len(thing.split())
    if isinstance(thing, int | float):
        return 1
    size = getattr(thing, "size", None)
    if isinstance(size, int):  # an array
        return size
    if not depth:
        return 0
    if isinstance(thing, Mapping):
        return sum(amount(value, depth - 1) for value in list(thing.values())[:_MOST_ITEMS])
    if isinstance(thing, list | tuple):
        return sum(amount(value, depth - 1) for value in thing[:_MOST_ITEMS])
    return 0


# Handed labels: whether a loss is given the labels that came with the inputs, or the same labels in another order.

_ENOUGH = 8  # comparisons of each loss
_BATCHES = 64  # of loaders, of which the first are kept until the loss is computed
_LEAST_SAMPLES = 4  # samples that an order is told from
_COLUMNS = 256  # numbers of a sample, evenly spaced
_SAME_ORDER = 0.999  # correlation of the samples' means: brightness, normalisation and reshaping keep it


class HandedLabels:
    """Keeps a loader's batch until the loss was computed: by reference, only for looked-at steps, nothing is copied."""

    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self._batches = 0
        self._inputs: Tensor | None = None
        self._labels: list[Tensor] = []
        self._in_order = False
        self._counts: dict[str, dict[str, int]] = {}

    def arrived(self, batch: Any) -> None:
        """A loader has handed out a batch."""
        self.forget()
        self._batches += 1
        if self._batches > _BATCHES:
            return
        tensors = [tensor for tensor in tensors_in(batch) if tensor.dim() and tensor.device.type == "cpu"]
        if len(tensors) < 2 or len(tensors[0]) < _LEAST_SAMPLES or tensors[0].numel() == len(tensors[0]):
            return
        self._inputs = tensors[0]
        rows = len(tensors[0])
        self._labels = [tensor for tensor in tensors[1:] if len(tensor) == tensor.numel() == rows]

    def forget(self) -> None:
        self._inputs, self._labels, self._in_order = None, [], False

    def fed(self, inputs: Tensor) -> None:
        """A model is given its inputs: are they the loader's, in the loader's order?"""
        if self._labels and self._inputs is not None and inputs.device.type == "cpu":
            self._in_order = inputs is self._inputs or same_order(self._inputs, inputs.detach())

    def compared(self, call: LossCall, site: Site | None) -> None:
        target, counts = call.target, self._counts.setdefault(call.name, {})
        if not self._labels or not self._in_order or target is None or sum(counts.values()) >= _ENOUGH:
            return
        if target.device.type != "cpu" or target.numel() != self._labels[0].numel():
            return
        given = target.flatten()
        found = {_relation(labels.flatten(), given) for labels in self._labels}
        relation = next((name for name in ("same", "permuted", "shifted") if name in found), "other")
        counts[relation] = counts.get(relation, 0) + 1
        values = {name: counts.get(name, 0) for name in ("same", "permuted", "shifted", "other")}
        self.session.recorder.probe("handed labels", call.name, values, site)


def _relation(labels: Tensor, given: Tensor) -> str:
    labels = labels.to(given.dtype)
    if torch.equal(labels, given):
        return "same"
    if torch.equal(labels.sort().values, given.sort().values):
        return "permuted"
    return "shifted" if _shifted(labels, given) else "other"


def _shifted(labels: Tensor, given: Tensor) -> bool:
    """`(labels + 1) % classes`: all class numbers moved on, the last round to the first. Two classes may well be exchanged on purpose."""
    if labels.is_floating_point() or bool((labels < 0).any()):
        return False
    differences = torch.unique(given - labels).tolist()
    if len(differences) != 2 or not differences[0] < 0 < differences[1]:
        return False
    classes = differences[1] - differences[0]
    return classes > 2 and torch.equal(given, (labels + differences[1]) % classes)


def same_order(batch: Tensor, inputs: Tensor) -> bool:
    if len(batch) != len(inputs) or batch.numel() != inputs.numel():
        return False
    first, second = _means(batch), _means(inputs)
    spread = first.norm() * second.norm()
    return bool(spread > 0) and float(first @ second / spread) > _SAME_ORDER


def _means(samples: Tensor) -> Tensor:
    rows = samples.reshape(len(samples), -1)
    few = rows[:, :: max(1, rows.shape[1] // _COLUMNS)].float().mean(dim=1)
    return few - few.mean()


# Worker seeds: random generators that every worker of a DataLoader gets the same copy of.

_SEEDING = {"seed", "manual_seed", "seed_everything", "set_seed"}
_OWN_SEED = {"get_worker_info", "initial_seed", "getpid", "urandom", "SeedSequence", "time", "time_ns"}
_DEEPEST_HOLDER = 3
_MOST_HELD = 32


@dataclass(frozen=True)
class Copied:
    """Something random that all workers have in the same state."""

    kind: str  # "Generator", "RandomState", "Random"; "seed": a worker_init_fn seeds all workers alike
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
    for owner, name, kind in _generators(loader.dataset, _DEEPEST_HOLDER):
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
    for name, value in list(getattr(thing, "__dict__", {}).items())[:_MOST_HELD]:
        if isinstance(value, kinds):
            yield thing, name, type(value).__name__
        elif depth:
            inside = value[:_MOST_HELD] if isinstance(value, list | tuple) else (value,)
            for item in inside:
                if hasattr(item, "__dict__") and not isinstance(item, torch.Tensor | type):
                    yield from _generators(item, depth - 1)


def _kinds() -> tuple[type, ...]:
    numpy = sys.modules.get("numpy.random")
    known = () if numpy is None else (numpy.Generator, numpy.RandomState)
    return (*known, random.Random)
