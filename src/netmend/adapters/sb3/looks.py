"""One look at an agent of Stable-Baselines3 after it has trained: its logger, its buffer, its target network."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_LOGGED = {
    "policy_loss": ("train/policy_gradient_loss", "train/policy_loss", "train/actor_loss"),
    "value_loss": ("train/value_loss", "train/critic_loss", "train/loss"),
    "explained_variance": ("train/explained_variance",),
    "divergence": ("train/approx_kl",),
}
NAN = float("nan")


def logged(agent: Any) -> dict[str, float]:
    """What the library has written down in this training."""
    values = getattr(getattr(agent, "_logger", None), "name_to_value", None) or {}
    found: dict[str, float] = {}
    for name, keys in _LOGGED.items():
        value = next((values[key] for key in keys if key in values), NAN)
        found[name] = _number(value)
    entropy = _number(values.get("train/entropy_loss", NAN))
    found["entropy"] = -entropy
    return found


def gathered(agent: Any) -> dict[str, float]:
    """The sizes of what lies in the rollout buffer, as the agent is given it."""
    buffer = getattr(agent, "rollout_buffer", None)
    if buffer is None:
        return {}
    found: dict[str, float] = {}
    values, returns = _array(buffer, "values"), _array(buffer, "returns")
    if values is not None:
        found["value_rms"] = _rms(values)
        found["value_highest"] = float(np.abs(values).max()) if values.size else NAN
    if returns is not None:
        found["return_rms"] = _rms(returns)
    rewards = _array(buffer, "rewards")
    if rewards is not None:
        found["reward_rms"] = _rms(rewards)
    seen = _array(buffer, "observations")
    if seen is not None and seen.dtype.kind == "f" and seen.ndim >= 2 and seen[..., 0].size:
        flat = seen.reshape(-1, seen.shape[-1])[:2048].astype(np.float64)
        found["observation_rms"] = float(np.sqrt((flat * flat).mean(axis=0)).max())
    return found


def target_of(agent: Any) -> tuple[Any, Any] | None:
    """The trained network and its target, where the algorithm has one."""
    for online, target in (("q_net", "q_net_target"), ("critic", "critic_target")):
        pair = getattr(agent, online, None), getattr(agent, target, None)
        if pair[0] is not None and pair[1] is not None:
            return pair
    return None


def prints_of(network: Any) -> tuple[float, ...]:
    """Two numbers that change when the weights do; empty on a device, where asking would make it wait."""
    parameters = list(network.parameters())
    if not parameters or not parameters[0].is_cpu:
        return ()
    return tuple(float(p.detach().double().sum()) for p in (parameters[0], parameters[-1]))


def _array(buffer: Any, name: str) -> Any:
    found = getattr(buffer, name, None)
    return found if isinstance(found, np.ndarray) else None


def _rms(values: Any) -> float:
    return math.sqrt(float(np.square(values.astype(np.float64)).mean())) if values.size else NAN


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return NAN
