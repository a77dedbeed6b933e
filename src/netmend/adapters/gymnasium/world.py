"""World: one environment as one loop of the program sees it, what one copy of it is doing, and figures of what it hands out."""

from __future__ import annotations

import math
from operator import mul
from typing import Any

import numpy as np

from netmend.adapters.torch.watch.known import Known
from netmend.observe.recorder import Recorder
from netmend.vocabulary import Site, WorldFact

MOST_FEATURES = 64


class RewardFigures:
    """Count, mean, spread, range of numbers that come one by one."""

    def __init__(self) -> None:
        self.count = self.bad = 0
        self.total = self.squares = 0.0
        self.low, self.high = math.inf, -math.inf

    def add(self, value: float) -> None:
        if value - value != 0.0:  # infinite or not a number
            self.bad += 1
            return
        self.count += 1
        self.total += value
        self.squares += value * value
        if value < self.low:
            self.low = value
        if value > self.high:
            self.high = value

    def add_all(self, values: list[float]) -> None:
        """Many at once, in a tenth of the time."""
        total = sum(values)
        if total - total != 0.0 or not values:
            for value in values:
                self.add(value)
            return
        self.count += len(values)
        self.total += total
        self.squares += sum(map(mul, values, values))
        self.low, self.high = min(self.low, *values), max(self.high, *values)

    @property
    def mean(self) -> float | None:
        return self.total / self.count if self.count else None

    @property
    def std(self) -> float | None:
        if not self.count:
            return None
        mean = self.total / self.count
        return math.sqrt(max(0.0, self.squares / self.count - mean * mean))


class FeatureFigures:
    """Root mean square and range per feature; looks at every observation first, then ever more rarely."""

    def __init__(self, dense: int = 200) -> None:
        self._dense = dense
        self._asked = 0
        self._next = 0
        self.looks = self.bad = 0
        self.shape: tuple[int, ...] = ()
        self.kind = ""
        self._squares: Any = None
        self._low: Any = None
        self._high: Any = None

    def wanted(self) -> bool:
        """Whether the observation at hand is one to look at."""
        self._asked += 1
        if self._asked <= self._next:
            return False
        distance = 1 if self._asked < self._dense else max(2, self._asked // self._dense)
        self._next = self._asked + distance - 1
        return True

    def add(self, rows: Any) -> None:
        """One observation per row."""
        values = np.asarray(rows)
        if values.dtype.kind not in "fiub" or values.ndim < 1 or not values.size:
            return
        if not self.kind:
            self.shape, self.kind = tuple(int(n) for n in values.shape[1:]), str(values.dtype)
        flat = values.reshape(len(values), -1)[:, :MOST_FEATURES].astype(np.float64)
        if self._squares is None:
            self._squares = np.zeros(flat.shape[1])
            self._low, self._high = np.full(flat.shape[1], np.inf), np.full(flat.shape[1], -np.inf)
        if flat.shape[1] != len(self._squares):
            return
        if not np.isfinite(flat).all():
            self.bad += 1
            return
        self.looks += len(flat)
        self._squares += (flat * flat).sum(axis=0)
        np.minimum(self._low, flat.min(axis=0), out=self._low)
        np.maximum(self._high, flat.max(axis=0), out=self._high)

    def figures(self) -> dict[str, Any]:
        """The fields of a WorldFact."""
        if not self.looks:
            return {"observation_shape": self.shape, "observation_type": self.kind}
        return {
            "observation_shape": self.shape,
            "observation_type": self.kind,
            "feature_rms": tuple(np.sqrt(self._squares / self.looks).tolist()),
            "feature_low": tuple(self._low.tolist()),
            "feature_high": tuple(self._high.tolist()),
        }


STRETCH = 256  # steps per row of behaviour
MOST_LEVELS = 16  # wrappers whose rewards are followed
RESET: tuple[Any, ...] = ()  # stands among the steps that are counted


def number_of(reward: Any) -> float:
    """A reward as a number; what is none (a branch that returns nothing) counts as not a number."""
    try:
        return float(reward)
    except (TypeError, ValueError):
        return float("nan")


class Copy:
    """One environment object: the episode in progress in each of its lanes (a vector environment has several)."""

    def __init__(self) -> None:
        self.world: World | None = None
        self.vector: bool | None = None  # several lanes at once
        self.ended = False  # the last step ended an episode, and no reset has followed
        self.reset_inside = False  # a wrapper has reset what it wraps since
        self.truncated_inside = False  # some inner wrapper called the step in progress a truncation
        self.terminated_inside = False
        self.returns: list[float] = []
        self.lengths: list[int] = []
        self.levels: list[tuple[str, Any]] = []  # rewards of inner environments before the loop is known
        self.seed: Any = None
        self.start: bytes = b""

    def begin(self, lanes: int) -> None:
        self.returns, self.lengths = [0.0] * lanes, [0] * lanes


class World:
    """Sums over all copies that one line steps."""

    def __init__(self, recorder: Recorder, name: str, about: dict[str, Any]) -> None:
        self.recorder = recorder
        self.name = name
        self.about = about
        self.copies = self.steps = self.resets = self.seeded_resets = self.same_starts = 0
        self.episodes = self.terminated = self.truncated = self.merged = self.after_end = 0
        self.before_learning: int | None = None
        self.reset_site: Site | None = None
        self.rewards = RewardFigures()
        self.features = FeatureFigures()
        self.levels: dict[str, RewardFigures] = {}
        self._actions: dict[int, int] = {}
        self._looked = 0  # steps that were looked at closely, over all lanes
        self._chooses = bool(about.get("actions"))
        self._stretch = RewardFigures()
        self.seen: Known[bool] = Known()

    def step(self, copy: Copy, action: Any, result: tuple[Any, ...], vector: bool) -> None:
        """A step that is looked at closely: what its wrappers did was seen, too."""
        if copy.ended and not copy.reset_inside:
            self.after_end += 1
        over = self.count(copy, result, vector)
        observation, _, terminated, truncated = result[:4]
        if self.features.wanted():
            self.features.add(observation if vector else np.asarray(observation)[None])
        chosen = np.ravel(action).tolist() if vector else [int(action)] if self._chooses else []
        for number in chosen if self._chooses else ():
            self._actions[number] = self._actions.get(number, 0) + 1
        if over and not vector and terminated and not truncated:
            self.merged += copy.truncated_inside and not copy.terminated_inside
        copy.reset_inside = False
        lanes = len(copy.returns)
        self._looked += lanes
        if self._looked % STRETCH < lanes:
            self._behaviour()

    def count(self, copy: Copy, result: tuple[Any, ...], vector: bool) -> bool:
        """What every step adds to: rewards, returns, ends of episodes. Says whether an episode is over."""
        if self.before_learning is None and self.recorder.step:
            self.before_learning = self.steps
        _, reward, terminated, truncated = result[:4]
        if not vector:  # plain numbers take a fifth of the time that arrays of one element would
            if len(copy.returns) != 1:
                copy.begin(1)
            copy.ended = over = bool(terminated or truncated)
            self._add(copy, 0, number_of(reward))
            if over:
                self._end(copy, 0, bool(terminated), bool(truncated))
            return over
        rewards = np.ravel(reward).tolist()
        ends, limits = np.ravel(terminated).tolist(), np.ravel(truncated).tolist()
        if len(copy.returns) != len(rewards):
            copy.begin(len(rewards))
        copy.ended = over = False
        for lane, value in enumerate(rewards):
            self._add(copy, lane, value)
            if ends[lane] or limits[lane]:
                over = True
                self._end(copy, lane, bool(ends[lane]), bool(limits[lane]))
        return over

    def count_all(self, copy: Copy, results: list[tuple[Any, ...]]) -> None:
        """Rewards and flags of many steps of one environment, and its resets."""
        if self.before_learning is None and self.recorder.step:
            self.before_learning = self.steps
        if len(copy.returns) != 1:
            copy.begin(1)
        values: list[float] = []
        total, length = copy.returns[0], copy.lengths[0]
        for row in results:
            if row is RESET:
                self.resets += 1
                total, length = 0.0, 0
                continue
            reward, terminated, truncated = row
            value = reward if type(reward) is float else number_of(reward)
            values.append(value)
            total += value
            length += 1
            if terminated or truncated:
                self.steps += len(values)
                self.rewards.add_all(values)
                values = []
                copy.returns[0], copy.lengths[0] = total, length
                self._end(copy, 0, bool(terminated), bool(truncated))
                total, length = 0.0, 0
        self.steps += len(values)
        self.rewards.add_all(values)
        copy.returns[0], copy.lengths[0] = total, length
        copy.ended = length == 0

    def _add(self, copy: Copy, lane: int, reward: float) -> None:
        self.steps += 1
        self.rewards.add(reward)
        self._stretch.add(reward)
        copy.returns[lane] += reward
        copy.lengths[lane] += 1

    def _end(self, copy: Copy, lane: int, terminated: bool, truncated: bool) -> None:
        self.episodes += 1
        self.terminated += terminated
        self.truncated += truncated and not terminated
        row = (copy.returns[lane], float(copy.lengths[lane]), float(terminated), float(truncated))
        self.recorder.row("episode", self.name, self.steps, row)
        copy.returns[lane], copy.lengths[lane] = 0.0, 0

    def _behaviour(self) -> None:
        total = sum(self._actions.values())
        share = max(self._actions.values()) / total if total else float("nan")
        mean, std = self._stretch.mean, self._stretch.std
        nan = float("nan")
        self.recorder.row(
            "behaviour",
            self.name,
            self.steps,
            (share, nan if mean is None else mean, nan if std is None else std),
        )
        self._actions.clear()
        self._stretch = RewardFigures()

    def level(self, kind: str, reward: Any) -> None:
        """The reward that a wrapper or environment of this class returned."""
        found = self.levels.get(kind)
        if found is None:
            if len(self.levels) >= MOST_LEVELS:
                return
            found = self.levels[kind] = RewardFigures()
        found.add(number_of(reward))

    def fact(self) -> WorldFact:
        rewards = self.rewards
        known = rewards.count > 0
        chain = self.about.get("chain", ())
        ranges = [
            (kind, self.levels[kind].low, self.levels[kind].high)
            for kind in dict.fromkeys(chain)
            if kind in self.levels and self.levels[kind].count
        ]
        return WorldFact(
            name=self.name,
            **self.about,
            reset=self.reset_site,
            copies=self.copies,
            steps=self.steps,
            resets=self.resets,
            seeded_resets=self.seeded_resets,
            same_starts=self.same_starts,
            episodes=self.episodes,
            terminated=self.terminated,
            truncated=self.truncated,
            merged=self.merged,
            after_end=self.after_end,
            steps_before_learning=self.before_learning,
            bad_observations=self.features.bad,
            bad_rewards=rewards.bad,
            reward_mean=rewards.mean,
            reward_std=rewards.std,
            reward_low=rewards.low if known else None,
            reward_high=rewards.high if known else None,
            reward_ranges=tuple(ranges),
            **self.features.figures(),
        )
