"""Episodes: what came of playing a list of starts, one number per start and quantity; and when one has failed."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from netmend.errors import UsageError

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Episodes:
    """All arrays have one entry per start. Measured at the environment itself, below every wrapper."""

    starts: Numbers  # [episodes, numbers of a start]
    features: Numbers  # [episodes, …]: what predicts a failure: the start, or the first observation
    returns: Numbers  # sums of the environment's own rewards
    lengths: Numbers
    terminated: NDArray[np.bool_]  # a real end, not the time limit
    quality: Numbers  # the worst moment; NaN where the environment has no such measure
    final: Numbers  # mean quality of the last steps
    last_reward: Numbers

    def __len__(self) -> int:
        return len(self.returns)

    def chosen(self, index: NDArray[np.intp]) -> Episodes:
        return Episodes(**{item.name: getattr(self, item.name)[index] for item in fields(self)})

    def first(self, count: int) -> Episodes:
        return self.chosen(np.arange(min(count, len(self))))


def write(file: Path, sets: dict[str, Episodes]) -> None:
    """Several sets of episodes into one file."""
    arrays = {
        f"{name}/{item.name}": getattr(episodes, item.name)
        for name, episodes in sets.items()
        for item in fields(episodes)
    }
    temporary = file.with_suffix(".new.npz")
    np.savez_compressed(temporary, **arrays)
    temporary.replace(file)


def read(file: Path) -> dict[str, Episodes]:
    """The sets of a file; nothing is unpickled."""
    with np.load(file, allow_pickle=False) as data:
        names = dict.fromkeys(key.rpartition("/")[0] for key in data.files)
        return {
            name: Episodes(**{item.name: data[f"{name}/{item.name}"] for item in fields(Episodes)})
            for name in names
        }


# When an episode has failed: by the environment's own goal, or by a number that the user names.

_FORM = re.compile(r"^\s*(return|length|quality)\s*(<=|<|>=|>)\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*$")
_UPRIGHT = 0.95  # mean of the last steps: within about 25 degrees
_LANDED = 99.0  # LunarLander pays 100 for coming to rest


@dataclass(frozen=True)
class Criterion:
    """`kind` is one of the names below, or a quantity of the episode that is compared with `limit`."""

    kind: str
    sign: str = "<"
    limit: float = 0.0

    def failed(self, episodes: Episodes) -> NDArray[np.bool_]:
        if self.kind == "fell":
            found = episodes.terminated
        elif self.kind == "not reached":
            found = ~episodes.terminated
        elif self.kind == "not upright":
            found = ~(episodes.final >= _UPRIGHT)
        elif self.kind == "not landed":
            found = ~(episodes.terminated & (episodes.last_reward >= _LANDED))
        else:
            value = {"return": episodes.returns, "length": episodes.lengths, "quality": episodes.quality}[
                self.kind
            ]
            with np.errstate(invalid="ignore"):
                found = {
                    "<": value < self.limit,
                    "<=": value <= self.limit,
                    ">": value > self.limit,
                    ">=": value >= self.limit,
                }[self.sign]
        return np.asarray(found | ~np.isfinite(episodes.returns), dtype=np.bool_)

    @property
    def words(self) -> str:
        return _WORDS.get(self.kind) or f"{self.kind} {self.sign} {self.limit:g}"


FELL = Criterion("fell")
NOT_REACHED = Criterion("not reached")
NOT_UPRIGHT = Criterion("not upright")
NOT_LANDED = Criterion("not landed")
_WORDS = {
    "fell": "the episode ends before its time limit",
    "not reached": "the goal is not reached within the time limit",
    "not upright": "the pendulum is not upright over the last steps",
    "not landed": "the lander does not come to rest on the ground",
}


def parse_criterion(text: str) -> Criterion:
    """`return < 200`."""
    match = _FORM.match(text)
    if match is None:
        raise UsageError(
            f'--fails {text!r} cannot be read; write when an episode has failed, as in "return < 200" or "length < 100" '
            "(return, length or quality; <, <=, > or >=; a number)"
        )
    return Criterion(match[1], match[2], float(match[3]))


def spread_criterion(originals: list[Episodes], threshold: float | None) -> Criterion:
    """Where nothing else is known: the return that the environment's makers call solved, if the originals mostly reach it;
    otherwise below nine tenths of what the originals do."""
    returns = np.concatenate([each.returns for each in originals]) if originals else np.zeros(0)
    returns = returns[np.isfinite(returns)]
    if not len(returns):
        raise UsageError(
            "no episode of the program as it is came to an end with a return that is a number; look at its reward"
        )
    if threshold is not None and float(np.mean(returns >= threshold)) > 0.5:
        return Criterion("return", "<", float(threshold))
    low = float(np.quantile(returns, 0.1))
    if low == float(returns.max()):
        raise UsageError(
            f"every episode of the program as it is has the same return ({low:g}): failures cannot be told from successes; "
            'say when an episode has failed, as in --fails "length < 100"'
        )
    return Criterion("return", "<", float(f"{low:.4g}"))
