"""Collation: what a `collate_fn` makes of the samples of one batch, looked at once for each loader of the main process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor
from torch.utils.data import default_collate

from netmend.adapters.torch.guard import around, guarded
from netmend.adapters.torch.watch.code_names import code_of
from netmend.adapters.torch.watch.eligible import tensors_in
from netmend.adapters.torch.watch.patches import hide_from_warnings
from netmend.vocabulary import ProbeFact, Site

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession

WHAT = "collation"
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
        watched = around(self.session, _PART, self._interested, self._collated, always=True)(function)
        hide_from_warnings(watched)
        self._open.append((loader, fetcher, function))
        fetcher.collate_fn = watched

    def ends(self) -> None:
        _, fetcher, function = self._open.pop()
        if fetcher is not None:
            fetcher.collate_fn = function

    def _interested(self, args: Any, kwargs: Any) -> bool:
        return True

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
        step = self.session.recorder.step
        self.session.recorder.fact(ProbeFact(f"{WHAT}@{loader}", WHAT, loader, step, values, site))


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
