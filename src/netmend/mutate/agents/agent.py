"""A trained agent on disk: the weights of its policy and the statistics of its observations, as plain arrays.

Not Stable-Baselines3's own archive: reading that unpickles. An agent is made again by running its program up to the call of `learn`, which
builds network and wrappers as they were, and putting these numbers in.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from netmend.mutate.agents.chain import statistics

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
