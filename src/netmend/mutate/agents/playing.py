"""Listening to Stable-Baselines3 while a program trains, and playing its agent from starts that are given.

Each environment's `reset` and `step` are replaced, below all wrappers: the reset takes the next start, the step counts. So the agent sees
what its program would show it, while reward and end are the environment's own, whatever the program's wrappers make of them.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netmend.mutate.agents.chain import copies, hold_still, singles
from netmend.mutate.agents.environments import Rows, Space, space_of
from netmend.mutate.agents.episodes import Episodes

# Listening to Stable-Baselines3 while a program trains: who learned, for how long, and from which starts.


@dataclass
class Seen:
    """What passed by while the program ran."""

    model: Any = None  # the one that learned last
    env: Any = None  # what it learned in
    calls: int = 0  # of learn
    depth: int = 0
    starts: list[tuple[float, ...]] = field(default_factory=list)
    seconds: float = 0.0


def listen(seen: Seen, instead: Callable[[Any], Any] | None) -> None:
    """Be told of every call of `learn`, and do something else `instead` where wanted. Parallel environments stay in this process, where their starts can be chosen."""
    from stable_baselines3.common import base_class, vec_env

    with contextlib.suppress(ImportError):
        import sb3_contrib  # noqa: F401 - its algorithms become known
    for kind in _below(base_class.BaseAlgorithm):
        if "learn" in kind.__dict__:
            kind.learn = _watched(kind.learn, seen, instead)

    class InOneProcess(vec_env.DummyVecEnv):
        def __init__(self, env_fns: list[Callable[[], Any]], start_method: str | None = None) -> None:
            super().__init__(env_fns)

    for module in (vec_env, sys.modules["stable_baselines3.common.vec_env.subproc_vec_env"]):
        module.SubprocVecEnv = InOneProcess  # type: ignore[attr-defined]


def _below(kind: Any) -> list[Any]:
    return [kind, *(each for child in kind.__subclasses__() for each in _below(child))]


def _watched(
    learn: Callable[..., Any], seen: Seen, instead: Callable[[Any], Any] | None
) -> Callable[..., Any]:
    @functools.wraps(learn)
    def watched(model: Any, *args: Any, **kwargs: Any) -> Any:
        if seen.depth:  # an algorithm that calls its parent's
            return learn(model, *args, **kwargs)
        seen.model = model
        seen.calls += 1
        if instead is not None:
            return instead(model)
        undo = _note_starts(model, seen)
        seen.depth += 1
        started = time.perf_counter()
        try:
            return learn(model, *args, **kwargs)
        finally:
            seen.depth -= 1
            seen.seconds += time.perf_counter() - started
            seen.env = model.get_env()
            undo()

    return watched


def _note_starts(model: Any, seen: Seen) -> Callable[[], None]:
    """Keep the states from which episodes of the training start."""
    noted = []
    for env in singles(model.get_env()):
        base = env.unwrapped
        space = space_of(id_of(env))
        if space.is_seeded:
            continue
        plain = base.reset

        def reset(*, base: Any = base, plain: Any = plain, space: Space = space, **kwargs: Any) -> Any:
            result = plain(**kwargs)
            start = space.read(base)
            if start is not None:
                seen.starts.append(start)
            return result

        base.reset = reset
        noted.append(base)

    def undo() -> None:
        for base in noted:
            base.__dict__.pop("reset", None)

    return undo


def id_of(env: Any) -> str:
    """`CartPole-v1`; "" for an environment that was made without a registered id."""
    spec = getattr(env, "spec", None)
    return str(getattr(spec, "id", "") or "")


_AT_ONCE = 64  # environments that are asked for actions together
_LAST = 20  # steps that the final quality is the mean of
_MOST_STEPS = 1000  # of an episode where the environment names no limit


class Table:
    """The starts that are still to be played, and what came of the others."""

    def __init__(self, starts: Rows, space: Space) -> None:
        self.starts, self.space = starts, space
        self.waiting = deque(range(len(starts)))
        self.results: list[dict[str, float]] = [{} for _ in starts]
        self.features: list[np.ndarray[Any, Any] | None] = [None] * len(starts)
        self.open = len(starts)

    def end(self, index: int, result: dict[str, float]) -> None:
        self.results[index] = result
        self.open -= 1

    def episodes(self) -> Episodes:
        def column(name: str) -> Rows:
            return np.array([result.get(name, np.nan) for result in self.results], dtype=np.float64)

        return Episodes(
            starts=self.starts,
            features=self._features(),
            returns=column("return"),
            lengths=column("length"),
            terminated=column("terminated") == 1,
            quality=column("quality"),
            final=column("final"),
            last_reward=column("last_reward"),
        )

    def _features(self) -> Rows:
        if not self.space.is_seeded:
            return self.starts
        width = max((len(each) for each in self.features if each is not None), default=0)
        rows = [np.zeros(width) if each is None else each for each in self.features]
        return np.array(rows, dtype=np.float64).reshape(len(self.starts), width)


class Seat:
    """One environment at the table."""

    def __init__(self, env: Any, table: Table, seeded: Callable[[int], int], most: int) -> None:
        self.base, self.table, self.seeded, self.most = env.unwrapped, table, seeded, most
        self.reset_plain, self.step_plain = self.base.reset, self.base.step
        self.index: int | None = None
        self.steps, self.total, self.reward = 0, 0.0, 0.0
        self.qualities: list[float] = []
        self.base.reset, self.base.step = self.reset, self.step

    def leave(self) -> None:
        """The environment is its own again."""
        for name in ("reset", "step"):
            self.base.__dict__.pop(name, None)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.close(False)
        table = self.table
        if not table.waiting:
            return self.reset_plain(seed=self.seeded(0), options=options)
        self.index = table.waiting.popleft()
        start = table.starts[self.index]
        self.steps, self.total, self.reward, self.qualities = 0, 0.0, 0.0, []
        if table.space.is_seeded:
            observation, info = self.reset_plain(seed=self.seeded(int(start[0])), options=options)
            if not isinstance(observation, dict):
                table.features[self.index] = np.asarray(observation, dtype=np.float64).ravel()[:512]
            return observation, info
        _, info = self.reset_plain(seed=self.seeded(self.index), options=options)
        return table.space.put(self.base, start), info

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.step_plain(action)
        if self.index is not None:
            self.steps += 1
            self.reward = float(reward)
            self.total += self.reward
            if self.table.space.has_quality:
                self.qualities.append(self.table.space.quality(self.base))
            if self.steps >= self.most:
                truncated = True
            if terminated or truncated:
                self.close(bool(terminated))
        return observation, reward, terminated, truncated, info

    def close(self, terminated: bool) -> None:
        if self.index is None:
            return
        self.table.end(
            self.index,
            {
                "return": self.total,
                "length": self.steps,
                "terminated": terminated,
                "quality": min(self.qualities, default=np.nan),
                "final": float(np.mean(self.qualities[-_LAST:])) if self.qualities else np.nan,
                "last_reward": self.reward,
            },
        )
        self.index = None


def play(model: Any, starts: Rows, space: Space, seeded: Callable[[int], int]) -> Episodes:
    """One episode from each start. `seeded` turns a seed into the one to give, where seeds are moved (see trials/seeds.py)."""
    venv = model.get_env()
    hold_still(venv)
    own = singles(venv)
    most = _time_limit(own[0])
    table = Table(starts, space)
    chains = [venv]
    if len(starts) > len(own) and not _is_dict(venv):
        chains = copies(venv, min(-(-_AT_ONCE // len(own)), -(-len(starts) // len(own))))
    seats = [Seat(env, table, seeded, most) for chain in chains for env in singles(chain)]
    try:
        _rounds(model, chains, table, (len(starts) // len(seats) + 2) * most * 2)
    finally:
        for seat in seats:
            seat.close(False)
            seat.leave()
    return table.episodes()


def _rounds(model: Any, chains: list[Any], table: Table, most: int) -> None:
    sizes = [chain.num_envs for chain in chains]
    edges = np.cumsum([0, *sizes])
    seen = [chain.reset() for chain in chains]
    state: Any = None
    begun = np.ones(int(edges[-1]), dtype=bool)
    for _ in range(most):  # a wrapper that never lets an episode end must not keep us for ever
        if not table.open:
            return
        together = seen[0] if len(seen) == 1 else np.concatenate(seen)
        actions, state = model.predict(together, state=state, episode_start=begun, deterministic=True)
        done: list[Any] = []
        for place, chain in enumerate(chains):
            observed, _, ended, _ = chain.step(actions[edges[place] : edges[place + 1]])
            seen[place] = observed
            done.append(ended)
        begun = np.concatenate(done)


def _is_dict(venv: Any) -> bool:
    return type(venv.observation_space).__name__ in ("Dict", "Tuple")


def _time_limit(env: Any) -> int:
    limit = getattr(getattr(env, "spec", None), "max_episode_steps", None)
    return int(limit) if limit else _MOST_STEPS
