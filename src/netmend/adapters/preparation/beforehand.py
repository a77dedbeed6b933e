"""What looked at the targets, or made rows, before the rows were divided: does the test part consist of what was seen or made?"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netmend.adapters.preparation.beside import beside, user_frames

if TYPE_CHECKING:
    from netmend.adapters.preparation.watch import Preparation

RESAMPLE, FIT = "resample", "fit"
_MOST_ROWS = 100_000
_MOST_LOOKED_AT = 40  # columns and lists beside a division


@dataclass(frozen=True)
class _Kept:
    """The targets that a call made or was given, as numbers of their kinds."""

    site: str  # of the call, as its fact names it
    rows: int
    made_from: int  # rows from here on were made by the call
    codes: bytes
    columns: int = 0  # that a selection keeps


class Beforehand:
    """Kept beside a preparation: calls whose rows may be divided later."""

    def __init__(self, preparation: Preparation) -> None:
        self.preparation = preparation
        self._kept: list[_Kept] = []

    def resampled(self, site: str, targets: Any, made: Any) -> None:
        codes = codes_of(made)
        if codes is not None and len(made) > len(targets):
            is_behind = codes_of(made[: len(targets)]) == codes_of(targets)  # as most samplers put them
            self._kept.append(_Kept(site, len(made), len(targets) if is_behind else 0, codes))

    def chosen(self, site: str, targets: Any, columns: int) -> None:
        codes = codes_of(targets)
        if codes is not None:
            self._kept.append(_Kept(site, len(targets), 0, codes, columns))

    def divided(self, tested: Any, given: tuple[Any, ...]) -> None:
        """Rows were divided: are they those that a call before had made or seen? `tested` says which are held out."""
        alike = [kept for kept in self._kept if kept.rows == len(tested)]
        if not alike:
            return
        beside_them = beside(given, user_frames(self.preparation), len(tested))
        found = {
            codes_of(column) for _, (_, column) in zip(range(_MOST_LOOKED_AT), beside_them, strict=False)
        }
        shapes = [tuple(getattr(thing, "shape", ())) for thing in given]
        widths = {shape[1] for shape in shapes if len(shape) == 2}
        for kept in alike:
            if kept.codes not in found or (kept.columns and kept.columns not in widths):
                continue
            seen = {"tested": int(tested.sum()), "tested_made": int(tested[kept.made_from :].sum())}
            self._tell(kept.site, seen)

    def _tell(self, site: str, seen: dict[str, int]) -> None:
        for fact in self.preparation.facts.values():
            if fact.kind in (RESAMPLE, FIT) and fact.site is not None and fact.site.short == site:
                self.preparation.facts[fact.name] = replace(fact, seen={**fact.seen, **seen})


def codes_of(column: Any) -> bytes | None:
    """The values of a column as numbers of their kinds, so that texts, numbers and tensors compare; None where they are none or all alike."""
    try:
        values = np.asarray(column)
    except Exception:  # noqa: BLE001 - a strange column of the user's
        return None
    if values.ndim != 1 or not 20 <= len(values) <= _MOST_ROWS or values.dtype.kind not in "biufUS":
        if values.dtype.kind != "O" or values.ndim != 1 or not 20 <= len(values) <= _MOST_ROWS:
            return None
        values = values.astype(str)
    kinds, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int32).tobytes() if len(kinds) > 1 else None


_of: weakref.WeakKeyDictionary[Preparation, Beforehand] = weakref.WeakKeyDictionary()


def beforehand(preparation: Preparation) -> Beforehand:
    """What is kept of one run."""
    if preparation not in _of:
        _of[preparation] = Beforehand(preparation)
    return _of[preparation]
