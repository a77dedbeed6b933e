"""One look at an agent of Stable-Baselines3: its settings, its logger, its buffer, its target network."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

NAMES = (
    "learning_rate", "gamma", "n_steps", "batch_size", "n_epochs", "gae_lambda", "ent_coef", "vf_coef", "max_grad_norm",
    "clip_range", "normalize_advantage", "buffer_size", "learning_starts", "tau", "gradient_steps", "train_freq",
    "target_update_interval", "exploration_initial_eps", "exploration_final_eps", "exploration_fraction", "use_sde",
    "policy_delay", "action_noise",
)  # fmt: skip


def settings_of(agent: Any) -> dict[str, Any]:
    """Numbers, words and booleans; schedules that do not change become their value, others are left out."""
    found: dict[str, Any] = {}
    held = vars(agent)
    for name in NAMES:
        if name not in held:
            continue
        value = _plain(held[name])
        if value is not None or name == "action_noise":
            found[name] = value
    return found


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if hasattr(value, "frequency"):  # TrainFreq(4, TrainFrequencyUnit.STEP)
        unit = getattr(getattr(value, "unit", None), "value", "step")
        return int(value.frequency) if unit == "step" else None
    sigma = getattr(value, "_sigma", None)  # noise on actions
    if sigma is not None:
        return float(abs(sigma).max()) if hasattr(sigma, "max") else float(abs(sigma))
    if callable(value):
        return _constant(value)
    return None


def _constant(schedule: Any) -> float | None:
    try:
        start, middle, end = (float(schedule(left)) for left in (1.0, 0.5, 0.0))
    except Exception:  # noqa: BLE001 - a schedule of the program's own may do anything
        return None
    return start if start == middle == end else None


def spaces_of(agent: Any) -> tuple[int, bool]:
    """How many actions there are (0: continuous), and whether observations are images that the library scales itself."""
    space = getattr(agent, "action_space", None)
    count: Any = getattr(space, "n", None)
    seen = getattr(agent, "observation_space", None)
    image = str(getattr(seen, "dtype", "")) == "uint8"
    whole = isinstance(count, int) or hasattr(
        count, "item"
    )  # several choices at once have an array of counts
    return (int(count) if whole and getattr(count, "ndim", 0) == 0 else 0), image


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
