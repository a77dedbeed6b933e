"""From the device's raw sums to the rows of a trace.

The kernels (and the torch operations that stand in for them) reduce a tensor to the numbers named by COLUMN_*; the entries
here remember what those numbers were taken from and turn them into columns, with the same meaning as in HostMeter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from netmend.adapters.torch.meters.host_meter import FLAT_ENDS
from netmend.library.activations import RELU_LIKE

NAN = float("nan")
Numbers = npt.NDArray[np.float64]
Slots = slice | list[int]  # rows of the results, counted from the end where negative
Row = tuple[str, str, tuple[float, ...]]  # kind, component, values

COLUMNS = 11
(
    COLUMN_SUM,
    COLUMN_SQUARES,
    COLUMN_LOW,
    COLUMN_HIGH,
    COLUMN_ZEROS,
    COLUMN_NONFINITE,
    COLUMN_NAN,
    COLUMN_SATURATED,
    COLUMN_SPREAD,  # squared distance of samples from their mean …
    COLUMN_COMPARED,  # … and sum of squares of the same values
    COLUMN_SILENT,
) = range(COLUMNS)

# Comparisons with kept samples use the same row, so that one kernel folds both.
COLUMN_CHANGE_SQUARES = COLUMN_SUM
COLUMN_KEPT_SQUARES = COLUMN_SQUARES
COLUMN_LARGEST_CHANGE = COLUMN_HIGH
COLUMN_UNCHANGED = COLUMN_ZEROS


class ActivationFacts:
    """What is known of some activations before their numbers arrive. `units` is 0 where they were not looked at."""

    def __init__(
        self, components: list[str], counts: list[int], units: list[int], functions: list[str | None]
    ) -> None:
        self.components = components
        self.functions = functions
        self.counts = np.array(counts, dtype=np.float64)
        self.all_units = units
        self.has_units = np.array(units) > 0
        self.units = np.maximum(np.array(units, dtype=np.float64), 1.0)
        self.rectified = np.array([function in RELU_LIKE for function in functions], dtype=bool)
        self.bounded = np.array([f == "hardtanh" or f in FLAT_ENDS for f in functions], dtype=bool)

    @classmethod
    def joined(cls, parts: Sequence[ActivationFacts]) -> ActivationFacts:
        return cls(
            [name for part in parts for name in part.components],
            [int(count) for part in parts for count in part.counts],
            [units for part in parts for units in part.all_units],
            [function for part in parts for function in part.functions],
        )


@dataclass(frozen=True)
class ActivationEntry:
    facts: ActivationFacts
    slots: Slots

    def rows(self, results: Numbers) -> Iterator[Row]:
        facts, numbers = self.facts, results[self.slots]
        with np.errstate(all="ignore"):
            mean, rms, low, high = moments(numbers, facts.counts)
            finite = np.isfinite(rms)
            std = np.where(finite, np.sqrt(np.maximum(rms * rms - mean * mean, 0.0)), NAN)
            can_be_silent = facts.has_units & (facts.rectified | (low == 0.0))
            silent = np.where(can_be_silent, numbers[:, COLUMN_SILENT] / facts.units, NAN)
            saturated = np.where(facts.bounded, numbers[:, COLUMN_SATURATED] / facts.counts, NAN)
            compared = numbers[:, COLUMN_COMPARED]
            spread = np.where(finite & (compared > 0), np.sqrt(numbers[:, COLUMN_SPREAD] / compared), NAN)
            # Elsewhere HostMeter does not count zeros either.
            counted = facts.rectified | (low == 0.0) | (high == 0.0)
            zero_share = np.where(counted, numbers[:, COLUMN_ZEROS] / facts.counts, NAN)
        nonfinite = numbers[:, COLUMN_NONFINITE]
        columns = (mean, std, rms, low, high, zero_share, nonfinite, silent, saturated, spread)
        yield from _rows("activation", facts.components, columns)


class Joiner:
    """Puts all activations of a step into one entry: one calculation for a hundred of them instead of one for each few."""

    def __init__(self) -> None:
        self._parts: list[ActivationFacts] = []
        self._whole = ActivationFacts([], [], [], [])

    def join(self, entries: Sequence[Entry]) -> list[Entry]:
        few: list[ActivationEntry] = []
        others: list[Entry] = []
        for entry in entries:
            if isinstance(entry, ActivationEntry):
                few.append(entry)
            else:
                others.append(entry)
        if len(few) < 2:
            return list(entries)
        parts = [entry.facts for entry in few]
        if parts != self._parts:  # as a rule every step is like the one before
            self._parts, self._whole = parts, ActivationFacts.joined(parts)
        slots: list[int] = []
        for entry in few:
            found = entry.slots
            slots += range(found.start, found.stop) if isinstance(found, slice) else found
        return [ActivationEntry(self._whole, slots), *others]


@dataclass(frozen=True)
class ParameterEntry:
    """Gradients or weights; `counts` are numbers of elements, more than were stored for a sparse gradient."""

    kind: str
    names: Sequence[str]
    slots: Slots
    counts: Numbers
    stored: Numbers
    drift_slots: Slots | None = None

    def rows(self, results: Numbers) -> Iterator[Row]:
        numbers = results[self.slots]
        with np.errstate(all="ignore"):
            mean, rms, low, high = moments(numbers, self.counts)
            zero_share = (numbers[:, COLUMN_ZEROS] + self.counts - self.stored) / self.counts
            columns: tuple[Numbers, ...] = (mean, rms, low, high, zero_share, numbers[:, COLUMN_NONFINITE])
            if self.kind == "weight":
                drift = np.full(len(numbers), NAN)
                if self.drift_slots is not None:
                    drift = relative_change(results[self.drift_slots])
                columns = (*columns, drift)
        yield from _rows(self.kind, self.names, columns)


@dataclass(frozen=True)
class UpdateEntry:
    names: Sequence[str]
    slots: Slots
    samples: Numbers

    def rows(self, results: Numbers) -> Iterator[Row]:
        numbers = results[self.slots]
        with np.errstate(all="ignore"):
            rms = np.sqrt(numbers[:, COLUMN_CHANGE_SQUARES] / self.samples)
            largest = np.where(np.isnan(rms), NAN, numbers[:, COLUMN_LARGEST_CHANGE])
            unchanged = numbers[:, COLUMN_UNCHANGED] / self.samples
            columns = (rms, relative_change(numbers), largest, unchanged)
        yield from _rows("update", self.names, columns)


Entry = ActivationEntry | ParameterEntry | UpdateEntry


def norm_of_gradients(entries: Sequence[Entry], results: Numbers) -> float:
    """The norm of all gradients of a step together, from the sums of squares that are there anyway."""
    with np.errstate(all="ignore"):
        total = sum(
            float(results[entry.slots][:, COLUMN_SQUARES].sum())
            for entry in entries
            if isinstance(entry, ParameterEntry) and entry.kind == "gradient"
        )
        return float(np.sqrt(total))


def moments(numbers: Numbers, counts: Numbers) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Mean, root mean square, minimum, maximum; a NaN among the values makes all four NaN."""
    spoilt = np.where(numbers[:, COLUMN_NAN] > 0, NAN, 0.0)
    mean = numbers[:, COLUMN_SUM] / counts + spoilt
    rms = np.sqrt(numbers[:, COLUMN_SQUARES] / counts) + spoilt
    return mean, rms, numbers[:, COLUMN_LOW] + spoilt, numbers[:, COLUMN_HIGH] + spoilt


def relative_change(numbers: Numbers) -> Numbers:
    """Size of a change relative to what was there before."""
    change = np.sqrt(numbers[:, COLUMN_CHANGE_SQUARES])
    kept = np.sqrt(numbers[:, COLUMN_KEPT_SQUARES])
    ratio: Numbers = np.where(kept == 0.0, np.where(change == 0.0, 0.0, np.inf), change / kept)
    return ratio


def _rows(kind: str, names: Sequence[str], columns: tuple[Numbers, ...]) -> Iterator[Row]:
    for name, values in zip(names, np.stack(columns, axis=1).tolist(), strict=True):
        yield kind, name, tuple(values)
