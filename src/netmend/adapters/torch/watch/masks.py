"""Masks: where what hides positions from attention was made, found while a forward pass is run again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from netmend.adapters.torch.watch.eligible import tensors_in

_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_TRIANGLES = ("triu", "tril")
_FILLING = {"masked_fill": 1, "where": 0}  # where they are given the mask
_COPIES = ("_to_copy", "to_copy", "clone")
_MOST = 256  # masks that are remembered
_HIDES = -50.0  # a score that low is nothing beside usual ones
P = TypeVar("P")


class Masks(Generic[P]):
    """Follows comparisons and triangles through what is computed of them, until they fill scores."""

    def __init__(self, place: Callable[[], P]) -> None:
        self._place = place
        self._made: dict[int, tuple[Tensor, tuple[tuple[str, P], ...]]] = {}  # by memory, which views share
        self._used: tuple[tuple[str, P], ...] = ()
        self.weak: P | None = None  # where the last mask filled scores with a number that hides nothing

    def saw(self, name: str, args: Any, result: Any) -> None:
        """One operation of the replay."""
        if not isinstance(result, Tensor) or not result.dim():
            return
        scores = result.is_floating_point()
        given = args[_FILLING[name]] if name in _FILLING and scores else args
        known = tuple(
            dict.fromkeys(
                origin
                for tensor in tensors_in(given)
                if tensor.data_ptr() in self._made
                for origin in self._made[tensor.data_ptr()][1]
            )
        )
        if name in _COMPARISONS and not known:
            known = ((name, self._place()),)
        elif name in _TRIANGLES:
            known = (*known, (name, self._place()))
        if not known:
            return
        if name in _FILLING or name in _TRIANGLES:
            self._used = known
            self.weak = None
            triangle = any(origin in _TRIANGLES for origin, _ in known)
            if name == "masked_fill" and triangle and scores and _weak(args[2]):
                self.weak = self._place()
        if (not scores or name in (*_TRIANGLES, *_COPIES)) and len(self._made) < _MOST:
            self._made[result.data_ptr()] = (result, known)

    @property
    def compared(self) -> P | None:
        """Where the last mask that was put on was compared with something, or else made."""
        compared = [place for name, place in self._used if name in _COMPARISONS]
        return compared[0] if compared else self.triangle

    @property
    def triangle(self) -> P | None:
        """Where the last mask that was put on was cut to a triangle."""
        return next((place for name, place in self._used if name in _TRIANGLES), None)


def _weak(value: Any) -> bool:
    return not isinstance(value, Tensor) and float(value) > _HIDES


def hidden_rows(scores: Tensor, axis: int) -> tuple[float, bool]:
    """The share of rows of scores all of which are minus infinity, and whether these are the first queries of all others."""
    rows = torch.isneginf(scores).all(dim=axis)
    share = float(rows.float().mean())
    first = rows.dim() > 0 and rows.shape[-1] > 1 and bool(rows[..., 0].all() and not rows[..., 1:].any())
    return share, first
