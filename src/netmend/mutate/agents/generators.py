"""Generators of starts: where agents are judged, which starts tell a mutant most, and lists of them.

Weak: of random starts, the easiest ones, as µPRL's TG_W takes them. Edge: the hardest starts that the program as it is still passes, one list
for all mutants, so it can be kept as a test suite. Strong: starts where, by what was seen of both so far, the mutant is likely to fail and the
original is not. µPRL's TG_S takes the most failure-prone of many random candidates, judged by a predictor of the mutant's failures. A start at
which the original fails as well reveals nothing, so a predictor of the original's failures counts against it. Half of the candidates come from
the larger range, where there is one. Own: a function in a file of the user's, `tests.py:starts`, called with the number of starts wanted and a seed.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from netmend.errors import UsageError
from netmend.mutate.agents.environments import Rows, Space
from netmend.mutate.agents.episodes import Criterion, Episodes
from netmend.mutate.agents.options import Profile
from netmend.mutate.agents.pair_verdicts import Counts
from netmend.mutate.agents.result import EDGE, WEAK


def ease(originals: Sequence[Episodes]) -> NDArray[np.float64]:
    """How easy each start is: the worst moment over all runs of the program as it is; the mean return where moments are not measured."""
    quality = np.array([each.quality for each in originals])
    if np.isfinite(quality).any():
        return np.asarray(np.nan_to_num(quality, nan=0.0).min(axis=0))
    return np.asarray(np.nan_to_num(np.array([each.returns for each in originals]), nan=-np.inf).mean(axis=0))


def passed(failed: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Starts at which not more than half of the runs fail."""
    return np.asarray(np.mean(np.array(failed, dtype=float), axis=0) <= 0.5)


def easiest(
    originals: Sequence[Episodes], failed: Sequence[NDArray[np.bool_]], count: int
) -> NDArray[np.intp]:
    """Indices of the easiest starts that the originals mostly pass."""
    kept = np.flatnonzero(passed(failed))
    order = np.argsort(-ease(originals)[kept], kind="stable")
    return np.asarray(kept[order][:count])


def hardest_passed(
    originals: Sequence[Episodes], failed: Sequence[NDArray[np.bool_]], count: int
) -> NDArray[np.intp]:
    """Indices of starts that fewest runs fail at, the hardest of them first; none where every run fails at all of them."""
    share = np.mean(np.array(failed, dtype=float), axis=0)
    kept = np.flatnonzero(share <= 0.5)
    easy = ease(originals)[kept]
    order = np.lexsort((easy, share[kept] > 0))  # first those that no run fails at
    return np.asarray(kept[order][:count])


Numbers = NDArray[np.float64]
_HIDDEN, _ROUNDS, _PATIENCE, _RATE, _DECAY = 24, 400, 40, 0.01, 1e-3
_HELD_OUT = 0.2


@dataclass(frozen=True, eq=False)
class Predictor:
    """`probability(features)`: of failing. Constant where only one outcome was ever seen."""

    centre: Numbers
    spread: Numbers
    weights: tuple[Numbers, ...]
    constant: float | None = None

    def probability(self, features: Numbers) -> Numbers:
        if self.constant is not None:
            return np.full(len(features), self.constant)
        return _forward(self.weights, (features - self.centre) / self.spread)[1]


def fitted(features: Numbers, failed: NDArray[np.bool_], seed: int = 0) -> Predictor:
    finite = np.isfinite(features).all(axis=1)
    features, failed = features[finite], failed[finite]
    width = features.shape[1] if features.ndim == 2 else 0
    centre = features.mean(axis=0) if len(features) else np.zeros(width)
    spread = features.std(axis=0) if len(features) else np.ones(width)
    spread = np.where(spread > 1e-12, spread, 1.0)
    share = float(failed.mean()) if len(failed) else 0.5
    if min(int(failed.sum()), int((~failed).sum())) < 3 or width == 0:
        return Predictor(centre, spread, (), share)
    random = np.random.default_rng(seed)
    x, y = (features - centre) / spread, failed.astype(float)
    held = random.random(len(x)) < _HELD_OUT
    if len(set(y[held])) < 2 or len(set(y[~held])) < 2:
        held = np.zeros(len(x), dtype=bool)
    importance = np.where(failed, 0.5 / share, 0.5 / (1 - share))
    return Predictor(centre, spread, _trained(x, y, importance, held, random))


def _trained(
    x: Numbers, y: Numbers, importance: Numbers, held: NDArray[np.bool_], random: np.random.Generator
) -> tuple[Numbers, ...]:
    weights = [
        random.normal(0, 1 / np.sqrt(x.shape[1]), (x.shape[1], _HIDDEN)),
        np.zeros(_HIDDEN),
        random.normal(0, 1 / np.sqrt(_HIDDEN), _HIDDEN),
        np.zeros(1),
    ]
    first = [np.zeros_like(each) for each in weights]
    second = [np.zeros_like(each) for each in weights]
    best, kept, waited = np.inf, tuple(each.copy() for each in weights), 0
    watched = held if held.any() else ~held
    for step in range(1, _ROUNDS + 1):
        gradients = _gradients(tuple(weights), x[~held], y[~held], importance[~held])
        for place, gradient in enumerate(gradients):
            gradient = gradient + _DECAY * weights[place]
            first[place] = 0.9 * first[place] + 0.1 * gradient
            second[place] = 0.999 * second[place] + 0.001 * gradient**2
            scaled = np.sqrt(second[place] / (1 - 0.999**step)) + 1e-8
            weights[place] = weights[place] - _RATE * first[place] / (1 - 0.9**step) / scaled
        loss = _loss(_forward(tuple(weights), x[watched])[1], y[watched], importance[watched])
        if loss < best - 1e-5:
            best, kept, waited = loss, tuple(each.copy() for each in weights), 0
        else:
            waited += 1
            if waited >= _PATIENCE:
                break
    return kept


def _forward(weights: tuple[Numbers, ...], x: Numbers) -> tuple[Numbers, Numbers]:
    hidden = np.tanh(x @ weights[0] + weights[1])
    return hidden, 1 / (1 + np.exp(-np.clip(hidden @ weights[2] + weights[3], -40, 40)))


def _gradients(
    weights: tuple[Numbers, ...], x: Numbers, y: Numbers, importance: Numbers
) -> tuple[Numbers, ...]:
    hidden, output = _forward(weights, x)
    error = (output - y) * importance / importance.sum()
    back = np.outer(error, weights[2]) * (1 - hidden**2)
    return x.T @ back, back.sum(axis=0), hidden.T @ error, np.array([error.sum()])


def _loss(output: Numbers, y: Numbers, importance: Numbers) -> float:
    safe = np.clip(output, 1e-9, 1 - 1e-9)
    return float(-np.average(y * np.log(safe) + (1 - y) * np.log(1 - safe), weights=importance))


def most_telling(
    space: Space,
    mutant: Predictor,
    original: Predictor,
    count: int,
    candidates: int,
    pool: tuple[Rows, Rows] | None,
    random: np.random.Generator,
) -> Rows:
    """`count` starts, each the best of `candidates` drawn at random; from `pool` (starts and their features) where given."""
    if pool is None and space.is_seeded:
        return space.sample(count, random)  # nothing is known of a seed before it is played
    found: list[NDArray[np.float64]] = []
    left = None if pool is None else np.arange(len(pool[0]))
    for _ in range(count):
        if pool is None or left is None:
            near, wide = (
                space.sample(candidates // 2, random),
                space.sample(candidates // 2, random, wide=True),
            )
            starts = features = np.concatenate([near, wide])
        else:
            if not len(left):
                break
            drawn = random.choice(left, size=min(max(1, candidates // 10), len(left)), replace=False)
            starts, features = pool[0][drawn], pool[1][drawn]
        score = mutant.probability(features) * (1 - original.probability(features))
        best = int(np.argmax(score))
        found.append(starts[best])
        if pool is not None and left is not None:
            left = left[left != drawn[best]]
    return np.array(found)


@dataclass(frozen=True)
class Own:
    """`text` as the user wrote it: FILE:FUNCTION, or NAME=FILE:FUNCTION."""

    name: str
    file: Path
    function: str

    def starts(self, count: int, seed: int, space: Space) -> Rows:
        """What the function returns, checked: rows of numbers as the environment's start has them."""
        told = f"the generator {self.name} ({self.file.name}:{self.function})"
        try:
            made = self._load()(count, seed)
        except UsageError:
            raise
        except Exception as problem:
            raise UsageError(f"{told} failed: {type(problem).__name__}: {problem}") from problem
        try:
            rows = np.array([np.atleast_1d(np.asarray(each, dtype=np.float64)) for each in made])
        except (TypeError, ValueError) as problem:
            raise UsageError(
                f"{told} must return a list of starts, each a list of numbers: {problem}"
            ) from None
        wanted = len(space.names)
        if rows.ndim != 2 or not len(rows) or rows.shape[1] != wanted:
            raise UsageError(
                f"{told} must return starts of {wanted} number{'s' * (wanted > 1)} ({', '.join(space.names)}), "
                f"got an array of shape {rows.shape}"
            )
        if not np.isfinite(rows).all():
            raise UsageError(f"{told} returned a start that is not a finite number")
        return rows

    def _load(self) -> Any:
        spec = importlib.util.spec_from_file_location(f"netmend_generator_{self.file.stem}", self.file)
        if spec is None or spec.loader is None:
            raise UsageError(f"{self.file} is no Python file; give FILE.py:FUNCTION")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        function = getattr(module, self.function, None)
        if not callable(function):
            raise UsageError(
                f"there is no function {self.function} in {self.file}; it is called with (count, seed)"
            )
        return function


def parse_own(text: str) -> Own:
    """`edge=tests.py:edge_starts`."""
    name, equals, rest = text.partition("=")
    place = rest if equals else text
    file, colon, function = place.rpartition(":")
    if not colon or not file.endswith(".py") or not function.isidentifier():
        raise UsageError(f"--generator {text!r} cannot be read; write NAME=FILE.py:FUNCTION")
    if not Path(file).is_file():
        raise UsageError(f"--generator {text!r}: there is no file {file}")
    name = name if equals else function
    if name in ("replay", "weak", "strong", "edge"):
        raise UsageError(f"--generator {text!r}: the name {name} is taken; choose another one")
    return Own(name, Path(file).resolve(), function)


# Lists of starts, and which of them count for which pair.
#
# A list that is chosen by how an original fares favours it: at starts that it passes with luck, an equal agent fails more often. So
# a pair is judged only at starts that were chosen without its own agents; all pairs' starts together are played by all, to say which ones reveal what.

Failed = NDArray[np.bool_]  # per start
Places = NDArray[np.intp]
Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class StartList:
    """Starts of one generator."""

    rows: Rows
    own: tuple[Places, ...]  # by pair: the starts that it is judged at

    def rows_of(self, pair: int) -> Rows:
        return np.asarray(self.rows[self.own[pair]])

    def counts(self, pair: int, failed: Failed) -> Counts:
        return counts(failed[self.own[pair]])


def counts(failed: Failed) -> Counts:
    failures = int(failed.sum())
    return Counts(len(failed) - failures, failures)


def same_for_all(rows: Rows, pairs: int) -> StartList:
    """A list that owes nothing to any agent."""
    return StartList(rows, (np.arange(len(rows)),) * pairs)


def one_after_another(lists: Sequence[Rows], of_pair: Sequence[int]) -> StartList:
    """`of_pair`: which of the lists each pair is judged at."""
    ends = np.cumsum([len(each) for each in lists])
    places = [np.arange(end - len(each), end) for end, each in zip(ends, lists, strict=True)]
    return StartList(np.concatenate(list(lists)), tuple(places[which] for which in of_pair))


def weak_and_edge(
    near: Sequence[Episodes], wide: Sequence[Episodes], criterion: Criterion, plan: Profile
) -> tuple[dict[str, StartList], dict[str, list[Failed]]]:
    """The lists that are the same for all mutants, and where each original fails; `near`, `wide`: what the originals have played."""
    lists, failed = {}, {}
    for name, played, choose, count in (
        (WEAK, near, easiest, plan.weak),
        (EDGE, wide, hardest_passed, plan.edge),
    ):
        known = [criterion.failed(each) for each in played]
        chosen = [choose(_without(played, pair), _without(known, pair), count) for pair in range(len(played))]
        together = np.unique(np.concatenate(chosen))
        own = tuple(np.searchsorted(together, each) for each in chosen)
        lists[name] = StartList(played[0].starts[together], own)
        failed[name] = [each[together] for each in known]
    return lists, failed


def _without(items: Sequence[Item], place: int) -> list[Item]:
    return [item for at, item in enumerate(items) if at != place]
