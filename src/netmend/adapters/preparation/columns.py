"""Which column of which table each input of a model is: the same numbers, as they are or shifted and scaled."""

from __future__ import annotations

from collections import OrderedDict
from time import thread_time
from typing import TYPE_CHECKING, Any

import numpy as np

from netmend.adapters.preparation import tables
from netmend.vocabulary import PreparationFact

if TYPE_CHECKING:
    from netmend.adapters.preparation.watch import Preparation

INPUTS = "inputs"  # the kind of the fact that tells it
_MOST_BYTES = 16_000_000  # of numbers that are kept of tables: those of the latest lines
_MOST_ROWS, _MOST_COLUMNS = 20_000, 48
_SECONDS = 0.4  # that looking for columns may take
_VALUES = 400  # of an input that are looked up
_FEWEST_VALUES = 8  # different ones: fewer are the same in many columns
_ENDS = (
    6  # smallest and largest numbers of a column, of which an input's smallest and largest value may be one
)
_NEAR = 2e-5  # of a column's spread: the precision of single floats after a few operations
_STRIDE = 16  # of the values, for a first look
_SURE = 0.98  # share of the values that must be there
_ROUGHLY = 0.15  # of the spread: how far quantiles may differ before shift and scale are fitted


class Columns:
    """The numbers of the latest tables; kept until the end of the run, never stored."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._bytes = 0

    def keep(self, name: str, table: Any) -> None:
        """What the line `name` has made."""
        if name in self._kept or not tables.is_frame(table):
            return  # of a line that runs for several parts the first one: the training part, as a rule
        if not 2 * _FEWEST_VALUES <= len(table) <= _MOST_ROWS:
            return
        found = {}
        for place, column in enumerate(table.columns[:_MOST_COLUMNS]):
            if getattr(table.dtypes.iloc[place], "kind", "") in "iuf":
                found[str(column)] = table.iloc[:, place].to_numpy().astype(np.float32)
        self._kept[name] = found
        self._bytes += _size(found)
        while self._bytes > _MOST_BYTES and len(self._kept) > 1:
            self._drop(next(iter(self._kept)))

    def _drop(self, name: str) -> None:
        self._bytes -= _size(self._kept.pop(name, {}))

    def of_inputs(self, inputs: Any) -> dict[int, tuple[str, str]]:
        """For each input the earliest line that already had its numbers, and the only column there that has them."""
        until = thread_time() + _SECONDS
        told: dict[int, tuple[str, str]] = {}
        values = {place: _different(inputs[:, place]) for place in range(min(inputs.shape[1], _MOST_COLUMNS))}
        for name, columns in self._kept.items():
            numbers = {column: _different(own) for column, own in columns.items()}
            for place in values.keys() - told.keys():
                if thread_time() > until:
                    return told
                alike = [
                    column
                    for column, own in numbers.items()
                    if min(len(own), len(values[place])) >= _FEWEST_VALUES
                    and same_numbers(values[place], own)
                ]
                if len(alike) == 1:
                    told[place] = (name, alike[0])
        return dict(sorted(told.items()))


def _size(columns: dict[str, Any]) -> int:
    return sum(int(numbers.nbytes) for numbers in columns.values())


def _different(values: Any) -> Any:
    different = np.unique(values.astype(np.float64))
    return different[np.isfinite(different)]


def same_numbers(values: Any, numbers: Any) -> bool:
    """Whether the values of an input are numbers of a column after one shift and one scale."""
    shares = np.linspace(0.02, 0.98, 25)
    ours, theirs = np.quantile(values, shares), np.quantile(numbers, shares)
    spread = theirs[-1] - theirs[0]
    if not spread or ours[-1] == ours[0] or _SURE * len(values) > len(numbers):
        return False
    few = values[np.linspace(0, len(values) - 1, min(len(values), _VALUES)).astype(int)]
    if _held(few, numbers, spread) >= _SURE:
        return True
    scale, shift = np.polyfit(ours, theirs, 1)
    if scale <= 0 or np.abs(scale * ours + shift - theirs).max() > _ROUGHLY * spread:
        return False
    # A part of a table has nearly the same smallest and largest numbers: they tell shift and scale exactly.
    for low in numbers[:_ENDS]:
        for high in numbers[-_ENDS:]:
            if high <= low:
                continue
            scale = (high - low) / (few[-1] - few[0])
            placed = low + scale * (few - few[0])
            if _held(placed[::_STRIDE], numbers, spread) < _SURE:
                continue
            scale, shift = np.polyfit(few, _nearest(placed, numbers), 1)
            if _held(scale * few + shift, numbers, spread) >= _SURE:
                return True
    return False


def _nearest(values: Any, numbers: Any) -> Any:
    after = np.clip(np.searchsorted(numbers, values), 1, len(numbers) - 1)
    low, high = numbers[after - 1], numbers[after]
    return np.where(values - low < high - values, low, high)


def _held(values: Any, numbers: Any, spread: float) -> float:
    return float((np.abs(_nearest(values, numbers) - values) <= _NEAR * spread).mean())


def inputs_of_tables(preparation: Preparation) -> None:
    """At the end of a run: a fact for the inputs of which the column is known."""
    kept = [batch.inputs for batch in preparation.batches.training if batch.inputs.ndim == 2]
    if not kept or kept[0].dtype.kind != "f":
        return
    inputs = np.concatenate([rows for rows in kept if rows.shape[1] == kept[0].shape[1]])
    told = preparation.columns.of_inputs(inputs)
    if told:
        seen = {
            "inputs": inputs.shape[1],
            "columns_of": [[place, column, name] for place, (name, column) in told.items()],
        }
        takes = tuple(dict.fromkeys(name for name, _ in told.values()))
        preparation.add(PreparationFact("inputs of the model", "", INPUTS, takes=takes, seen=seen))
