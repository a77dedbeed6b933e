"""The settings of an agent as plain values: what a person gave or a default chose."""

from __future__ import annotations

from typing import Any

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
