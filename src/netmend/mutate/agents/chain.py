"""A live agent: the chain of wrappers around its environments, copies of them, statistics held still; and what of it is kept on the disk."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from netmend.errors import UsageError


def layers(venv: Any) -> list[Any]:
    """Parallel environments with what is wrapped around them, outermost first."""
    found = [venv]
    while getattr(found[-1], "venv", None) is not None:
        found.append(found[-1].venv)
    return found


def singles(venv: Any) -> list[Any]:
    """The environments themselves, each with its own wrappers."""
    base = layers(venv)[-1]
    envs = getattr(base, "envs", None)
    if not envs:
        raise UsageError(
            f"the environments of {type(base).__name__} cannot be reached from outside; train in DummyVecEnv, SubprocVecEnv or with make_vec_env"
        )
    return list(envs)


def wrappers(env: Any) -> Iterator[Any]:
    """An environment's wrappers, outermost first, without the environment itself."""
    while hasattr(env, "env") and env is not env.unwrapped:
        yield env
        env = env.env


def everything(venv: Any) -> Iterator[Any]:
    yield from layers(venv)
    for env in singles(venv):
        yield from wrappers(env)


def hold_still(venv: Any) -> None:
    """Running statistics of observations are used as they are; rewards are given as they come."""
    for part in everything(venv):
        if hasattr(part, "obs_rms"):
            if hasattr(part, "norm_reward"):
                part.training = part.norm_reward = False
            elif hasattr(part, "update_running_mean"):
                part.update_running_mean = False


def statistics(venv: Any) -> list[Any]:
    """The running statistics of observations, in a fixed order."""
    found: list[Any] = []
    for part in everything(venv):
        own = part.__dict__.get("obs_rms")
        found.extend(own.values() if isinstance(own, dict) else [] if own is None else [own])
    return found


def copies(venv: Any, count: int) -> list[Any]:
    """The chain and copies of it; fewer where it cannot be copied (windows, simulators in C)."""
    made = [venv]
    try:
        while len(made) < count:
            made.append(_copied(venv))
    except Exception:  # noqa: BLE001 - whatever hinders it, one chain is enough
        return made[:1]
    return made


def _copied(venv: Any) -> Any:
    inner = getattr(venv, "venv", None)
    if inner is None:
        return copy.deepcopy(venv)
    below = _copied(inner)
    made = copy.deepcopy(venv, {id(inner): below})
    if made.__dict__.get("venv") is None:  # VecNormalize leaves it out of what is copied
        made.set_venv(below)
    return made


# A trained agent on disk: the weights of its policy and the statistics of its observations, as plain arrays.
#
# Not Stable-Baselines3's own archive: reading that unpickles. An agent is made again by running its program up to the call of `learn`, which
# builds network and wrappers as they were, and putting these numbers in.

FILE = "agent.npz"


def save(model: Any, folder: Path, calls: int, moved: bool) -> None:
    """`calls`: how many times `learn` had been called; `moved`: the agent was given other environments afterwards."""
    arrays: dict[str, Any] = {
        f"policy/{name}": tensor.detach().cpu().numpy() for name, tensor in model.policy.state_dict().items()
    }
    for place, each in enumerate(statistics(model.get_env())):
        for name in ("mean", "var", "count"):
            arrays[f"statistics/{place}/{name}"] = np.asarray(getattr(each, name))
    arrays["calls"], arrays["moved"] = np.asarray(calls), np.asarray(moved)
    temporary = folder / "agent.new.npz"
    np.savez(temporary, **arrays)
    temporary.replace(folder / FILE)


def calls_of(folder: Path) -> tuple[int, bool]:
    """How many times `learn` had been called, and whether other environments came afterwards."""
    with np.load(folder / FILE, allow_pickle=False) as data:
        return int(data["calls"]), bool(data["moved"])


def load(model: Any, folder: Path, with_statistics: bool) -> None:
    """Put the numbers into a model that the same program has just made."""
    import torch

    with np.load(folder / FILE, allow_pickle=False) as data:
        weights = {
            key.removeprefix("policy/"): torch.as_tensor(data[key])
            for key in data.files
            if key.startswith("policy/")
        }
        model.policy.load_state_dict(weights)
        model.policy.set_training_mode(False)
        for place, each in enumerate(statistics(model.get_env()) if with_statistics else ()):
            each.mean = data[f"statistics/{place}/mean"]
            each.var = data[f"statistics/{place}/var"]
            each.count = float(data[f"statistics/{place}/count"])
