"""What to add to a test set: the classes, or the few inputs, of a pool (training data, another test set) that would kill survivors.

A survivor was judged on the test set and not killed; its results on the pool are known too, input by input, so every enlarged test set can be judged
without training, by the same verdict. Classes come first: a class that a test set lacks is the plainest advice. What no class kills is tried
with single inputs, the most telling ones first. Both are greedy covers: each step takes what kills most survivors that are still left, and
later steps build on earlier ones.

Inputs picked because they differ *in these runs* differ by luck, too: among thousands some always do. Therefore only a choice that holds for
runs which had no part in it is told: each run in turn is scored on what the other runs would have picked, and those scores must kill as well.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from netmend.errors import UsageError
from netmend.mutate.verdicts import Verdict, scores_verdict
from netmend.vocabulary.table import FloatArray

if TYPE_CHECKING:
    from netmend.mutate.result import MutationResult

MOST_INPUTS = 50
_SHOWN = 10  # inputs named in a sentence
_SIZES = (1, 3, 10, 30, 100, 300)  # numbers of inputs that are judged
_SURE = 0.02  # p-value of a choice on runs that had no part in it: several choices are tried, each may err
BoolArray = npt.NDArray[np.bool_]
Judge = Callable[[Sequence[float], Sequence[float]], Verdict]


@dataclass(frozen=True, eq=False)
class Survivor:
    """Results [runs, inputs] of original and mutant, runs paired by seed: right (1) or not (0), or the error."""

    name: str
    original: FloatArray  # on the test set
    mutant: FloatArray
    pool_original: FloatArray  # on the pool
    pool_mutant: FloatArray

    def __post_init__(self) -> None:
        same = self.original.shape == self.mutant.shape and self.pool_original.shape == self.pool_mutant.shape
        if not same or len(self.original) != len(self.pool_original):
            shapes = (
                self.original.shape,
                self.mutant.shape,
                self.pool_original.shape,
                self.pool_mutant.shape,
            )
            raise UsageError(
                f"Results of {self.name} do not belong together: shapes {shapes} of original and mutant on test set and pool."
            )


@dataclass(frozen=True, eq=False)
class Pool:
    labels: npt.NDArray[np.int64] | None  # the class of each input; None where there are no classes
    numbers: npt.NDArray[np.int64]  # how the user counts the inputs


@dataclass(frozen=True)
class Addition:
    what: str  # "class 3", "inputs 17, 40, 81"
    kills: tuple[str, ...]  # names of survivors that are killed with this and all earlier additions
    inputs: tuple[int, ...]  # the user's numbers
    label: int | None = None  # where a whole class is added


def additions(
    survivors: Sequence[Survivor],
    pool: Pool,
    *,
    higher_is_better: bool,
    judge: Judge | None = None,
    most_inputs: int = MOST_INPUTS,
) -> list[Addition]:
    """In the order in which they should be made. Survivors that nothing of the pool kills are in none of them."""
    for survivor in survivors:
        if survivor.pool_original.shape[1] != len(pool.numbers):
            raise UsageError(
                f"{survivor.name} was judged on {survivor.pool_original.shape[1]} inputs of a pool of {len(pool.numbers)}. "
                "Examine all runs on the same pool."
            )
    asked = judge or (lambda old, new: scores_verdict(old, new, higher_is_better=higher_is_better))
    cover = _Cover(list(survivors), pool, asked, 1.0 if higher_is_better else -1.0)
    return [*cover.classes(), *cover.inputs(most_inputs)]


class _Cover:
    def __init__(self, left: list[Survivor], pool: Pool, judge: Judge, sign: float) -> None:
        self.left = left
        self.pool = pool
        self.judge = judge
        self.sign = sign
        self.added = np.zeros(len(pool.numbers), dtype=bool)

    def classes(self) -> list[Addition]:
        made: list[Addition] = []
        while self.left and self.pool.labels is not None and not self.added.all():
            groups = {
                int(label): self.pool.labels == label for label in np.unique(self.pool.labels[~self.added])
            }
            sure = [survivor for survivor in self.left if self._class_holds(survivor, groups)]
            killed = {label: self._killed(self.added | group, sure) for label, group in groups.items()}
            # Of two that kill as many the more telling one.
            best = max(
                groups, key=lambda label: (len(killed[label]), self._gain(groups[label], sure)), default=None
            )
            if best is None or not killed[best]:
                break
            made.append(self._add(f"class {best}", groups[best] & ~self.added, killed[best], best))
        return made

    def inputs(self, most: int) -> list[Addition]:
        made: list[Addition] = []
        picked: list[int] = []  # since the last kill
        for _ in range(min(most, int((~self.added).sum()))):
            if not self.left:
                break
            gains = np.sum(
                [np.maximum(self._gaps(survivor).mean(axis=0), 0) for survivor in self.left], axis=0
            )
            gains[self.added] = -1
            gains[picked] = -1
            best = int(gains.argmax())
            if gains[best] <= 0:
                break
            picked.append(best)
            if len(picked) not in (*_SIZES, most):
                continue
            new = np.zeros_like(self.added)
            new[picked] = True
            sure = [s for s in self._killed(self.added | new, self.left) if self._inputs_hold(s, len(picked))]
            if sure:
                made.append(self._add(_named(self.pool.numbers[new]), new, sure, None))
                picked = []
        return made

    def _gaps(self, survivor: Survivor) -> FloatArray:
        """By run and input of the pool: how much worse the mutant is."""
        gaps = self.sign * (survivor.pool_original.astype(float) - survivor.pool_mutant)
        return np.where(np.isfinite(gaps), gaps, 0.0)

    def _gain(self, group: BoolArray, survivors: Sequence[Survivor]) -> float:
        new = group & ~self.added
        return float(sum(self._gaps(survivor)[:, new].mean() for survivor in survivors))

    def _killed(self, chosen: BoolArray, survivors: Sequence[Survivor]) -> list[Survivor]:
        return [survivor for survivor in survivors if self._verdict(survivor, [chosen]).killed]

    def _verdict(self, survivor: Survivor, chosen: Sequence[BoolArray]) -> Verdict:
        """On the test set with inputs of the pool: one choice for all runs, or one for each."""
        old, new = [], []
        for run in range(len(survivor.original)):
            taken = chosen[run if len(chosen) > 1 else 0]
            old.append(
                float(np.concatenate([survivor.original[run], survivor.pool_original[run, taken]]).mean())
            )
            new.append(float(np.concatenate([survivor.mutant[run], survivor.pool_mutant[run, taken]]).mean()))
        return self.judge(old, new)

    def _class_holds(self, survivor: Survivor, groups: Mapping[int, BoolArray]) -> bool:
        def best_class(gaps: FloatArray) -> BoolArray:
            return max(groups.values(), key=lambda group: float(gaps[group & ~self.added].sum()))

        return self._holds(survivor, best_class)

    def _inputs_hold(self, survivor: Survivor, count: int) -> bool:
        def best_inputs(gaps: FloatArray) -> BoolArray:
            chosen = np.zeros_like(self.added)
            chosen[np.argsort(np.where(self.added, np.inf, -gaps), kind="stable")[:count]] = True
            return chosen

        return self._holds(survivor, best_inputs)

    def _holds(self, survivor: Survivor, pick: Callable[[FloatArray], BoolArray]) -> bool:
        """Whether it is killed, too, when each run is scored on what all other runs would have picked."""
        gaps = self._gaps(survivor)
        others = [np.delete(gaps, run, axis=0).mean(axis=0) for run in range(len(gaps))]
        if len(gaps) < 3:
            return False
        verdict = self._verdict(survivor, [self.added | pick(each) for each in others])
        return verdict.killed and verdict.p_value <= _SURE

    def _add(self, what: str, new: BoolArray, killed: list[Survivor], label: int | None) -> Addition:
        self.added = self.added | new
        self.left = [survivor for survivor in self.left if survivor not in killed]
        numbers = tuple(int(number) for number in self.pool.numbers[new])
        return Addition(what, tuple(survivor.name for survivor in killed), numbers, label)


def _named(numbers: npt.NDArray[np.int64]) -> str:
    shown = ", ".join(str(int(number)) for number in numbers[:_SHOWN])
    more = len(numbers) - _SHOWN
    word = "input" if len(numbers) == 1 else "inputs"
    return f"{word} {shown} and {more} more" if more > 0 else f"{word} {shown}"


def write_added(result: MutationResult, file: Path) -> int:
    """Inputs `x` (`x0`, `x1` … for models with several) and labels `y` for the first set with additions; how many there are."""
    chosen = next((each for each in result.sets if each.additions), None)
    if chosen is None:
        np.savez_compressed(_open(file), x=np.zeros(0), y=np.zeros(0))
        return 0
    numbers = sorted({number for addition in chosen.additions for number in addition.inputs})
    columns = rows_of(Path(result.data), chosen.pool, numbers)
    *inputs, labels = columns
    named = {"x": inputs[0]} if len(inputs) == 1 else {f"x{place}": each for place, each in enumerate(inputs)}
    np.savez_compressed(_open(file), **named, y=labels)  # type: ignore[arg-type]
    return len(labels)


def _open(file: Path) -> Path:
    return file if file.suffix == ".npz" else file.with_name(f"{file.name}.npz")


def rows_of(data: Path, name: str, numbers: list[int]) -> list[np.ndarray]:
    """Rows of a set, by their numbers: each of its inputs, and the labels last."""
    try:
        with np.load(data, allow_pickle=False) as arrays:
            about = json.loads(str(arrays["meta"]))["sets"][name]
            if about.get("packed"):
                raise UsageError(
                    "the model is given several inputs packed into one tensor, which cannot be written one by one; "
                    "take them by their numbers instead"
                )
            parts = [*map(str, range(len(about["names"]))), "label"]
            batches = [
                [arrays[f"{name}/{number}/{part}"] for part in parts] for number in range(about["batches"])
            ]
    except (OSError, KeyError, ValueError) as problem:
        raise UsageError(
            f"the data of the original is gone ({problem}); run the same command again"
        ) from None
    starts = np.cumsum([0, *(len(batch[-1]) for batch in batches)])
    rows: list[list[np.ndarray]] = [[] for _ in parts]
    for number in numbers:
        batch = int(np.searchsorted(starts, number, side="right")) - 1
        for column, array in zip(rows, batches[batch], strict=True):
            column.append(array[number - int(starts[batch])])
    if any(len({row.shape for row in column}) > 1 for column in rows):
        raise UsageError(
            "the inputs differ in size and do not fit into one array; take them by their numbers instead"
        )
    return [np.stack(column) for column in rows]
