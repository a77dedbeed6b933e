"""The examination of a trained agent, in the trial's process: what it trained from, how it plays the starts it is given.

Two ways. "train": the program runs as it is; then the agent is saved and plays. "play": the same program runs up to its last call of
`learn`, which puts a saved agent in instead of training, plays, and ends the program (a program that gives its agent other environments
afterwards runs on to its end first). See trials/examination.py for when this is called.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from netmend.launch.run import Finished
from netmend.mutate.agents import chain, episodes
from netmend.mutate.agents.chain import singles
from netmend.mutate.agents.environments import Rows, Space, space_of
from netmend.mutate.agents.playing import Seen, id_of, listen, play

EPISODES, FACTS = "episodes.npz", "rl.json"
TRAIN, PLAY = "train", "play"
_RANDOM = 20_231  # the random starts are the same for all agents of a study
_TWICE = 4  # starts that are played again, to see whether the same comes of them
_STRIDE, _MOST = 1_000_003, 2**32 - 1  # of trials/seeds.py


@dataclass(frozen=True)
class Orders:
    """What to do; travels as JSON and is part of the trial's key."""

    mode: str = TRAIN
    seed: int = 0  # of the trial
    agent: str = ""  # name of the folder, beside this trial's, that holds the agent to play
    replay: int = 0  # starts of the training to play again
    random: int = 0  # starts drawn at random
    wide: int = 0  # starts drawn from a larger range than the environment's own, where there is one
    # starts whose features are wanted (where they cannot be told without the environment)
    candidates: int = 0
    sets: dict[str, list[list[float]]] = field(default_factory=dict)  # further starts by name

    def to_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)


@dataclass
class _Trained:
    """The examination of this process's trial."""

    orders: Orders
    folder: Path
    seen: Seen
    done: bool = False


_trained: _Trained | None = None


def begin(options: str, folder: Path) -> None:
    global _trained
    orders = Orders(**json.loads(options))
    trained = _trained = _Trained(orders, folder, Seen())
    for name in (EPISODES, FACTS):
        (folder / name).unlink(missing_ok=True)
    listen(trained.seen, (lambda model: _instead(model, trained)) if orders.mode == PLAY else None)


def end(options: str, finished: Finished) -> None:
    trained = _trained
    if trained is None or trained.done:
        return
    if trained.seen.model is None:
        raise RuntimeError("no agent of Stable-Baselines3 called learn() in the program's own process")
    if trained.orders.mode == PLAY:
        chain.load(trained.seen.model, _kept(trained), with_statistics=True)
    _examine(trained)


def _instead(model: Any, trained: _Trained) -> Any:
    """What the call of `learn` does where a saved agent is to play."""
    calls, moved = chain.calls_of(_kept(trained))
    if trained.seen.calls < calls:
        return model
    chain.load(model, _kept(trained), with_statistics=not moved)
    if moved:
        return model  # the program goes on to give it the environments that it is used in
    _examine(trained)
    raise SystemExit(0)  # what else the program does with a trained agent is not asked for


def _kept(trained: _Trained) -> Path:
    return trained.folder.parent / trained.orders.agent


def _examine(trained: _Trained) -> None:
    seen, orders, folder = trained.seen, trained.orders, trained.folder
    model = seen.model
    env = singles(model.get_env())[0]
    space = space_of(id_of(env))
    facts = _facts(model, env, seen)
    if orders.mode == TRAIN:
        chain.save(model, folder, seen.calls, model.get_env() is not seen.env)
    started = time.perf_counter()

    def seeded(seed: int) -> int:
        return (seed - _STRIDE * orders.seed) % _MOST if orders.seed else seed

    sets = {name: np.array(rows, dtype=np.float64) for name, rows in orders.sets.items()}
    drawn = np.random.Generator(_plain_bits(_RANDOM))
    if orders.random:
        sets["random"] = space.sample(orders.random, drawn)
    if orders.wide:
        sets["wide"] = space.sample(orders.wide, drawn, wide=True)
    if orders.replay:
        sets["replay"] = _replayed(seen, orders, space)
    played = {name: play(model, rows, space, seeded) for name, rows in sets.items() if len(rows)}
    if orders.random:
        again = play(model, sets["random"][:_TWICE], space, seeded)
        facts["repeats"] = bool(
            np.array_equal(again.returns, played["random"].returns[:_TWICE], equal_nan=True)
        )
    if orders.candidates and space.is_seeded:
        rows = space.sample(orders.candidates, np.random.Generator(_plain_bits(_RANDOM + 1)))
        _features_of(env, rows, seeded, folder)
    facts["play_seconds"] = time.perf_counter() - started
    # of the trial so far; other work on the machine does not count
    facts["cpu_seconds"] = time.process_time()
    episodes.write(folder / EPISODES, played)
    (folder / FACTS).write_text(json.dumps(facts), encoding="utf-8")
    trained.done = True


def _plain_bits(seed: int) -> Any:
    """A source of random numbers whose seed no trial moves."""
    from numpy.random._pcg64 import PCG64
    from numpy.random.bit_generator import SeedSequence

    return PCG64(SeedSequence(seed))


def _replayed(seen: Seen, orders: Orders, space: Space) -> Rows:
    """Starts of the training, evenly over it. Fresh ones for those that are missing: where the start is a seed, and where episodes were few."""
    count, own = orders.replay, seen.starts
    chosen = (
        np.unique(np.linspace(0, len(own) - 1, min(count, len(own))).astype(int)) if own else np.zeros(0, int)
    )
    fresh = space.sample(count, np.random.Generator(_plain_bits(_RANDOM + 7 + orders.seed)))
    return np.array([*(own[index] for index in chosen), *fresh[len(chosen) :]], dtype=np.float64)


def _features_of(env: Any, rows: Rows, seeded: Callable[[int], int], folder: Path) -> None:
    first = []
    for row in rows:
        observation, _ = env.unwrapped.reset(seed=seeded(int(row[0])))
        if isinstance(observation, dict):
            return
        first.append(np.asarray(observation, dtype=np.float64).ravel()[:512])
    np.savez_compressed(folder / "candidates.npz", starts=rows, features=np.array(first))


def _facts(model: Any, env: Any, seen: Seen) -> dict[str, Any]:
    spec = getattr(env, "spec", None)
    return {
        "algorithm": type(model).__name__,
        "environment": id_of(env) or type(env.unwrapped).__name__,
        "known": bool(id_of(env)),
        "environments": int(model.get_env().num_envs),
        "threshold": getattr(spec, "reward_threshold", None),
        "steps": int(getattr(model, "num_timesteps", 0)),
        "episodes": len(seen.starts),
        "train_seconds": seen.seconds,
    }
