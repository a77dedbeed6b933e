"""A study described in a small YAML: algorithm, environment, steps; and the ordinary script that is made of it."""

from __future__ import annotations

import contextlib
import difflib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netmend.errors import UsageError
from netmend.mutate.agents.places import ALGORITHMS

_KEYS = {
    "algorithm": "PPO, DQN, SAC …",
    "environment": "an id of Gymnasium",
    "steps": "total_timesteps",
    "environments": "parallel ones",
    "policy": "MlpPolicy",
    "seed": "a number",
    "settings": "keyword arguments of the algorithm",
    "environment_settings": "keyword arguments of gym.make",
    "normalize": "true: observations go through VecNormalize",
    "generators": "further generators, NAME=FILE.py:FUNCTION",
    "fails": "when an episode has failed, return < 200",
}

_LINEAR = re.compile(r"^lin_([\d.]+(?:[eE][-+]?\d+)?)$")


@dataclass(frozen=True)
class RlSettings:
    algorithm: str
    environment: str
    steps: int
    environments: int = 1
    policy: str = "MlpPolicy"
    seed: int = 0
    settings: dict[str, Any] = field(default_factory=dict)
    environment_settings: dict[str, Any] = field(default_factory=dict)
    normalize: bool = False
    generators: tuple[str, ...] = ()
    fails: str = ""


def read_settings(file: Path) -> RlSettings:
    """Every mistake is told with what to write instead."""
    try:
        import yaml
    except ImportError:
        raise UsageError("reading a YAML needs PyYAML: pip install netmend[rl]") from None
    try:
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"{file} cannot be read: {problem}") from None
    except yaml.YAMLError as problem:
        raise UsageError(f"{file} is no YAML: {problem}") from None
    if not isinstance(data, dict):
        raise UsageError(f"{file} must hold keys and values: algorithm, environment, steps")
    for key in data:
        if key not in _KEYS:
            near = difflib.get_close_matches(str(key), _KEYS, 1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(_KEYS)}"
            raise UsageError(f"{file}: the key {key!r} is not known; {hint}")
    for key in ("algorithm", "environment", "steps"):
        if key not in data:
            raise UsageError(f"{file}: the key {key} is missing ({_KEYS[key]})")
    return _checked(file, {**data, "generators": _texts(file, data.get("generators", ()))})


def _texts(file: Path, value: Any) -> tuple[str, ...]:
    """`strong` and `weak` are always there; what else is named is the user's own."""
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list | tuple) or not all(isinstance(each, str) for each in listed):
        raise UsageError(f"{file}: generators must be a list of texts, got {value!r}")
    own = [each for each in listed if each not in ("replay", "weak", "strong", "edge")]
    return tuple(own)


def _checked(file: Path, data: dict[str, Any]) -> RlSettings:
    name = str(data["algorithm"]).upper()
    if name not in ALGORITHMS:
        raise UsageError(
            f"{file}: algorithm {data['algorithm']!r} is not known; choose {', '.join(ALGORITHMS)}"
        )
    data["algorithm"] = name
    for key, least in (("steps", 1), ("environments", 1), ("seed", 0)):
        value = data.get(key, least)
        if isinstance(value, float) and value.is_integer():
            value = data[key] = int(value)  # 1e5
        if isinstance(value, str):
            with contextlib.suppress(ValueError):
                value = data[key] = int(float(value))  # YAML takes 1e5 for a text
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise UsageError(f"{file}: {key} must be a whole number of at least {least}, got {data[key]!r}")
    for key in ("environment", "policy", "fails"):
        if not isinstance(data.get(key, ""), str):
            raise UsageError(f"{file}: {key} must be a text, got {data[key]!r}")
    for key in ("settings", "environment_settings"):
        own = data.get(key, {}) or {}
        if not isinstance(own, dict) or not all(isinstance(k, str) and k.isidentifier() for k in own):
            raise UsageError(f"{file}: {key} must hold names and values, got {data[key]!r}")
        data[key] = {k: _number(v) for k, v in own.items()}
    if not isinstance(data.get("normalize", False), bool):
        raise UsageError(f"{file}: normalize must be true or false, got {data['normalize']!r}")
    return RlSettings(**data)


def _number(value: Any) -> Any:
    """`1e-3` is a text in YAML; here it is meant as a number."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return {k: _number(v) for k, v in value.items()} if isinstance(value, dict) else value


def _written(value: Any) -> str:
    """`lin_0.001`, as RL Baselines3 Zoo writes it: from there down to 0 over the training."""
    match = _LINEAR.match(value) if isinstance(value, str) else None
    return repr(value) if match is None else f"lambda left: {match[1]} * left"


def script_of(settings: RlSettings) -> str:
    """An ordinary script, as a person would write it."""
    algorithm = ALGORITHMS[settings.algorithm]
    make = [repr(settings.environment), f"n_envs={settings.environments}", f"seed={settings.seed}"]
    # make_vec_env asks for pictures by itself, which nobody looks at here
    make.append(f"env_kwargs={ {'render_mode': None} | settings.environment_settings!r}")
    given = "".join(f"    {name}={_written(value)},\n" for name, value in settings.settings.items())
    lines = [
        f"from {algorithm.package} import {algorithm.name}",
        "from stable_baselines3.common.env_util import make_vec_env",
    ]
    if settings.normalize:
        lines.append("from stable_baselines3.common.vec_env import VecNormalize")
    lines += ["", f"env = make_vec_env({', '.join(make)})"]
    if settings.normalize:
        lines.append("env = VecNormalize(env)")
    lines += [
        f"model = {algorithm.name}(\n    {settings.policy!r},\n    env,\n{given}    seed={settings.seed},\n)",
        f"model.learn(total_timesteps={settings.steps})",
        "",
    ]
    return "\n".join(lines)
