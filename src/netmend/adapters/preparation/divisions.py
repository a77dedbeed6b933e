"""Divisions of rows into parts, and whether rows that belong together (one person, one recording) lie in both of them.

When rows are divided, the columns and lists beside them are looked at: those of the tables that are divided, and those of the same
length in the functions of the user's that lead to the call. What looks like an identity is kept as numbers until the end, where the
target is known from the batches.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netmend.adapters.preparation.beforehand import beforehand
from netmend.adapters.preparation.beside import beside, columns_of_items, length_of, user_frames
from netmend.adapters.preparation.identities import MOST_CLASSES, Column, numbered
from netmend.adapters.preparation.parts_in_frames import look
from netmend.adapters.preparation.tables import is_frame
from netmend.vocabulary import PreparationFact, Site

if TYPE_CHECKING:
    from netmend.adapters.preparation.watch import Preparation

_MOST_ROWS = 100_000
_MOST_COLUMNS = 60  # that are looked at beside one division
_MOST_DIVISIONS = 12
_FEWEST_GROUPS = 8
_MOST_READ = 50_000  # rows of a table whose identities are kept
_MOST_TABLES = 4
_MOST_KEPT = 8  # columns of one
_NEAR = 1e-4  # of a spread: the same number
_STEPS = 6  # that answers on a scale are cut into
_TRAIN, _TEST, _NEITHER = 0, 1, -1
_ANSWERS = frozenset(("label", "labels", "target", "targets", "y", "class", "outcome"))


@dataclass
class Division:
    fact: str
    parts: Any  # for each row: training, test, or neither
    columns: list[Column]
    target: Column | None = None
    values: list[tuple[str, Any]] = field(default_factory=list)  # columns of numbers that may be the target


class Divisions:
    """Kept beside a preparation until its end."""

    def __init__(self, preparation: Preparation) -> None:
        self.preparation = preparation
        self.kept: list[Division] = []
        self._read: dict[
            int, list[Column]
        ] = {}  # by the number of rows: a table may be gone when its rows are divided
        self._picked: list[tuple[weakref.ref[Any], Any]] = []
        self._selections: list[tuple[weakref.ref[Any], Any]] = []
        preparation.at_end("which rows were divided", lambda _: self.ask())
        preparation.at_first_batch("which rows were divided", lambda: look(self))

    def divided(
        self, call: str, parts: Any, given: tuple[Any, ...], target: Any = None, site: Site | None = None
    ) -> None:
        """Rows were divided: `parts` says for each row where it went."""
        rows = len(parts)
        beforehand(self.preparation).divided(np.asarray(parts) == _TEST, (*given, target))
        fact = self._fact(call, parts, site)
        if fact is None or not 20 <= rows <= _MOST_ROWS or len(self.kept) >= _MOST_DIVISIONS:
            return
        columns: list[Column] = []
        values: list[tuple[str, Any]] = []
        for label, column in beside(given, user_frames(self.preparation), rows):
            if len(columns) + len(values) >= _MOST_COLUMNS:
                break
            made = numbered(label, column)
            columns += [each for each in made if each.count < rows]
            if made and made[0].is_number and made[0].count > MOST_CLASSES:
                values.append((label, np.asarray(column, dtype=np.float32)))
            if not made and getattr(column, "dtype", None) is not None and column.dtype.kind == "f":
                values.append((label, np.asarray(column, dtype=np.float32)))
        columns += [
            column for column in self._read.get(rows, ()) if all(column.label != own.label for own in columns)
        ]
        told = numbered("target", target) if target is not None and length_of(target) == rows else []
        self.kept.append(
            Division(fact, np.asarray(parts, dtype=np.int8), columns, told[0] if told else None, values)
        )

    def _fact(self, call: str, parts: Any, site: Site | None) -> str | None:
        """The fact of the user's line that divides; None where there is one."""
        if site is None:
            site = self.preparation.sites.of(next(user_frames(self.preparation), None))
        name = f"{call.rpartition('.')[2]}@{site.short if site is not None else '?'} (parts)"
        if (
            site is None
            or name in self.preparation.facts
            or not (parts == _TEST).any()
            or not (parts == _TRAIN).any()
        ):
            return None
        seen = {"rows": int((parts == _TRAIN).sum()), "rows_tested": int((parts == _TEST).sum())}
        self.preparation.add(PreparationFact(name, call, "split", site, seen=seen))
        return name

    def by_numbers(
        self,
        call: str,
        rows: int,
        train: Any,
        test: Any,
        given: tuple[Any, ...],
        target: Any = None,
        site: Site | None = None,
    ) -> None:
        """Rows were divided by lists of their numbers."""
        parts = np.full(rows, _NEITHER, dtype=np.int8)
        parts[np.asarray(train, dtype=np.int64)] = _TRAIN
        parts[np.asarray(test, dtype=np.int64)] = _TEST
        self.divided(call, parts, given, target, site)

    def read(self, table: Any) -> None:
        """A table was read: what in it may say whose a row is."""
        rows = len(table)
        if not 20 <= rows <= _MOST_READ or len(self._read) >= _MOST_TABLES:
            return
        kept = self._read.setdefault(rows, [])
        for label, values in columns_of_items(table):
            if len(kept) < _MOST_KEPT and values.dtype.kind in "OUTiu":
                kept += [
                    column
                    for column in numbered(label, values)
                    if column.is_identity and _FEWEST_GROUPS <= column.count <= 0.7 * rows
                ]

    def picked(self, call: str, whole: Any, rows: int, numbers: Any, given: tuple[Any, ...]) -> None:
        """Rows were picked by their numbers: two picks that exclude one another divide what they are picked from."""
        chosen = np.asarray(numbers)
        if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or not 5 <= len(chosen) <= rows <= _MOST_ROWS:
            return
        for other_whole, other in self._picked:
            if (
                other_whole() is whole
                and len(chosen) + len(other) >= 0.7 * rows
                and not len(np.intersect1d(chosen, other))
            ):
                tested, trained = sorted((chosen, other), key=len)
                self.by_numbers(call, rows, trained, tested, given)
                self._picked.clear()
                return
        if hasattr(whole, "__weakref__"):
            self._picked = [*self._picked[-3:], (weakref.ref(whole), chosen.copy())]

    def selected(self, table: Any, mask: Any) -> None:
        """Rows of a table were picked by a mask: two masks that exclude one another divide it."""
        if not is_frame(table) or len(table) > _MOST_ROWS:
            return
        picked = np.asarray(mask)
        if picked.dtype != bool or picked.ndim != 1 or len(picked) != len(table):
            return
        for parent, other in self._selections:
            if parent() is table and len(other) == len(picked) and _divide(picked, other):
                smaller, larger = sorted((picked, other), key=np.count_nonzero)
                parts = np.where(smaller, _TEST, np.where(larger, _TRAIN, _NEITHER))
                self.divided("pandas.DataFrame.[]", parts, (table,))
                self._selections.clear()
                return
        self._selections = [*self._selections[-3:], (weakref.ref(table), picked.copy())]

    def ask(self) -> None:
        """What each division did to those who belong together, now that the target is known."""
        targets = _signature([batch.targets for batch in self.preparation.batches.training])
        inputs = [batch.inputs for batch in self.preparation.batches.training]
        for division in self.kept:
            fact = self.preparation.facts.get(division.fact)
            found = _groups(division, targets, inputs)
            if fact is not None and found is not None:
                self.preparation.facts[fact.name] = replace(fact, seen={**fact.seen, **found})


def _divide(one: Any, other: Any) -> bool:
    """Do two masks exclude one another and leave hardly a row out?"""
    return not (one & other).any() and (one | other).mean() > 0.9 and 0.02 < one.mean() < 0.98


_of: weakref.WeakKeyDictionary[Preparation, Divisions] = weakref.WeakKeyDictionary()


def divisions(preparation: Preparation) -> Divisions:
    """Those of one run."""
    if preparation not in _of:
        _of[preparation] = Divisions(preparation)
    return _of[preparation]


# -- what a division did to groups


@dataclass(frozen=True)
class _Signature:
    """How often each answer occurs, without saying which is which; the answers themselves, each once."""

    shares: Any
    classes: int
    answers: Any


def _signature(targets: list[Any]) -> _Signature | None:
    arrays = [
        np.asarray(target).reshape(len(target), -1) for target in targets if np.ndim(target) and len(target)
    ]
    if not arrays or any(array.shape[1] != 1 for array in arrays):
        return None
    values = np.concatenate([array[:, 0] for array in arrays])
    kinds, counts = np.unique(values, return_counts=True)
    return _Signature(np.sort(counts / counts.sum()), len(kinds), kinds.astype(np.float64))


def _is_made_of(answers: Any, values: Any, trained: Any) -> bool:
    """Are the answers of the batches values of a column, as they are or scaled in a usual way?"""
    columns = [values, np.log1p(np.abs(values)), np.log(np.abs(values) + 1e-12)]
    scaled = [
        (column - own.mean()) / (own.std() or 1.0) for column in columns for own in (column[trained], column)
    ]
    ranged = [
        (column - own.min()) / (np.ptp(own) or 1.0)
        for column in columns[:1]
        for own in (column[trained], column)
    ]
    for column in (*columns, *scaled, *ranged):
        known = np.sort(column[np.isfinite(column)])
        if not len(known):
            continue
        after = np.searchsorted(known, answers).clip(1, max(1, len(known) - 1))
        near = np.minimum(np.abs(known[after - 1] - answers), np.abs(known[after % len(known)] - answers))
        if (near <= _NEAR * (known.std() or 1.0)).mean() > 0.98:
            return True
    return False


def _in_steps(label: str, values: Any) -> Column:
    """Answers on a scale as a few steps."""
    edges = np.nanquantile(values, np.linspace(0, 1, _STEPS + 1)[1:-1])
    codes = np.searchsorted(edges, values, side="right")
    return Column(label, codes.astype(np.int32), _STEPS, is_identity=False, is_number=True)


def _groups(division: Division, targets: _Signature | None, inputs: list[Any]) -> dict[str, Any] | None:
    """The identity whose rows lie in both parts and that answers the target, with its numbers."""
    target = division.target or _target_among(division, targets)
    if target is None or target.count > MOST_CLASSES:
        return None
    of_amounts = all(column is not target for column in division.columns)
    found = [
        shared
        for column in division.columns
        if not (of_amounts and _is_ordered_by(column, target))
        and (shared := _shared(column, division.parts, target)) is not None
        and not (column.is_number and _is_an_input(column, division.parts, inputs))
    ]
    # the widest identity that is torn apart, by its own name rather than by those of files
    return min(
        found,
        key=lambda shared: (
            shared["in_both"] < 0.5,
            -round(shared["same_answer"], 1),
            shared["groups"],
            shared["of_files"],
        ),
        default=None,
    )


def _is_ordered_by(column: Column, target: Column) -> bool:
    """Whether the answers rise or fall with the numbers of a column: it is the target itself, in other words."""
    if not column.is_number:
        return False
    steps = np.diff(target.codes[np.argsort(column.codes, kind="stable")])
    return bool((steps >= 0).all() or (steps <= 0).all())


def _target_among(division: Division, targets: _Signature | None) -> Column | None:
    """The column whose values occur as often as the targets of the batches do."""
    if targets is None:
        return next(
            (
                column
                for column in division.columns
                if column.label.lower() in _ANSWERS and column.count <= MOST_CLASSES
            ),
            None,
        )
    if targets.classes > MOST_CLASSES:
        trained = division.parts == _TRAIN
        own = [
            (label, values)
            for label, values in division.values
            if _is_made_of(targets.answers, values, trained)
        ]
        return _in_steps(*own[0]) if own else None
    best, least = None, 0.06
    for column in division.columns:
        if column.count != targets.classes:
            continue
        counts = np.bincount(column.codes[division.parts == _TRAIN], minlength=column.count)
        distance = float(np.abs(np.sort(counts / max(1, counts.sum())) - targets.shares).max())
        if distance < least:
            best, least = column, distance
    return best


def _shared(column: Column, parts: Any, target: Column) -> dict[str, Any] | None:
    if column is target or column.label == target.label or not column.is_identity:
        return None
    if column.count < max(_FEWEST_GROUPS, 3 * target.count) or column.count > 0.7 * len(parts):
        return None
    train = np.bincount(column.codes[parts == _TRAIN], minlength=column.count)
    tested = column.codes[parts == _TEST]
    both = float((train[tested] > 0).mean())
    alike, usual = _agreement(column.codes, target.codes, column.count, target.count)
    return {
        "identity": column.label,
        "of_files": column.is_path,
        "groups": int(column.count),
        "rows_each": float(np.median(np.bincount(column.codes, minlength=column.count))),
        "in_both": both,
        "same_answer": alike,
        "same_answer_usual": usual,
        "order": _order(column.codes, parts, column.count),
        "neighbours": _neighbours(column, target) if column.is_number else usual,
    }


def _agreement(groups: Any, answers: Any, count: int, kinds: int) -> tuple[float, float]:
    """How often two rows of one group have the same answer, and two rows at all."""
    table = np.zeros((count, kinds))
    np.add.at(table, (groups, answers), 1)
    sizes, totals = table.sum(1), table.sum(0)
    pairs = float((sizes * (sizes - 1)).sum())
    alike = float((table * (table - 1)).sum()) / pairs if pairs else 0.0
    rows = float(totals.sum())
    return alike, float((totals * (totals - 1)).sum()) / (rows * (rows - 1))


def _order(groups: Any, parts: Any, count: int) -> float:
    """The share of pairs of one group in which the test row comes after the training row: a half where rows were drawn."""
    places = np.arange(len(groups))
    sums, rows = [], []
    for part in (_TRAIN, _TEST):
        own = parts == part
        sums.append(np.bincount(groups[own], weights=places[own], minlength=count))
        rows.append(np.bincount(groups[own], minlength=count))
    has_both = (rows[0] > 0) & (rows[1] > 0)
    if not has_both.any():
        return 0.5
    later = sums[1][has_both] / rows[1][has_both] - sums[0][has_both] / rows[0][has_both]
    return float((later > 0).mean() + 0.5 * (later == 0).mean())


def _neighbours(column: Column, target: Column) -> float:
    """How often groups with neighbouring numbers have the same answer: often, where the number is a quantity."""
    table = np.zeros((column.count, target.count))
    np.add.at(table, (column.codes, target.codes), 1)
    usual = table.argmax(1)
    return float((usual[1:] == usual[:-1]).mean())


def _is_an_input(column: Column, parts: Any, inputs: list[Any]) -> bool:
    """Does some input take as many different values as the column: is it fed to the model?"""
    if not inputs:
        return False
    try:
        rows = np.concatenate([np.asarray(each).reshape(len(each), -1) for each in inputs if np.ndim(each)])
    except ValueError:
        return False
    if rows.shape[1] > 500:
        return False
    seen = len(np.unique(column.codes[parts == _TRAIN]))
    return any(abs(len(np.unique(rows[:, place])) - seen) <= 0.02 * seen for place in range(rows.shape[1]))
