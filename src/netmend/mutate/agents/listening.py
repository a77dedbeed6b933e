"""Listening to Stable-Baselines3 while a program trains: who learned, for how long, and from which starts."""

from __future__ import annotations

import contextlib
import functools
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from netmend.mutate.agents.chain import singles
from netmend.mutate.agents.environments import Space, space_of


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
