"""Which inputs to mend with, where there are more than one wants to label: by name, most valuable first.

DeepGini, MCP and CoreSet are those of `netmend.adequacy`; BADGE and the neighbours of failures (HybridRepair) are here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from netmend.adequacy.collected import Floats, Integers, nearest
from netmend.adequacy.measures.label_orders import boundary_rounds, core_set, deep_gini
from netmend.adequacy.torch.layers import (
    ANSWER,
    listening,
    places_of,
    projected,
    unit_rows,
)
from netmend.errors import UsageError
from netmend.mend.torch.spec import Examples
from netmend.mend.torch.undisturbed import undisturbed

SELECTORS = ("deep_gini", "mcp", "core_set", "badge", "neighbours")


def selected(
    name: str, model: nn.Module, pool: Examples, count: int, failing: Examples | None = None, seed: int = 0
) -> Integers:
    """Places of the inputs of the pool that are worth most; `neighbours` needs known failures."""
    if name not in SELECTORS:
        raise UsageError(f"there is no selector called {name!r}; choose among {', '.join(SELECTORS)}")
    if count < 1:
        raise UsageError(f"{count} inputs were asked for; ask for at least one")
    answers = _probabilities(pool)
    features = features_of(model, pool)
    orders: dict[str, Callable[[], Integers]] = {
        "deep_gini": lambda: np.argsort(-deep_gini(answers), kind="stable"),
        "mcp": lambda: boundary_rounds(answers),
        "core_set": lambda: core_set(features, np.empty((0, features.shape[1])), count),
        "badge": lambda: badge(answers, features, count, np.random.default_rng(seed)),
    }
    if name == "neighbours":
        if failing is None or not len(failing):
            raise UsageError("neighbours of failures were asked for, but no failing input is known")
        return neighbours(features, features_of(model, failing), count)
    return orders[name]()[:count]


def badge(answers: Floats, features: Floats, count: int, random: np.random.Generator) -> Integers:
    """k-means++ seeding on the last layer's gradients (p − onehot of the answer) ⊗ h; the longest one first.

    Never formed: the distance of two such products follows from the products of their factors.
    """
    left = answers.copy()
    left[np.arange(len(left)), answers.argmax(axis=1)] -= 1.0
    sizes = (left**2).sum(1) * (features**2).sum(1)
    taken = [int(sizes.argmax())]
    away = np.full(len(left), np.inf)
    while len(taken) < min(count, len(left)):
        last = taken[-1]
        common = (left @ left[last]) * (features @ features[last])
        away = np.minimum(away, np.maximum(sizes + sizes[last] - 2.0 * common, 0.0))
        away[taken] = 0.0
        total = away.sum()
        if total <= 0.0:  # the others are copies of what was taken
            taken += [place for place in range(len(left)) if place not in set(taken)][: count - len(taken)]
            break
        taken.append(int(random.choice(len(left), p=away / total)))
    return np.array(taken, dtype=np.int64)


def neighbours(features: Floats, failures: Floats, count: int) -> Integers:
    """Inputs of the pool in the order of their distance to the nearest failure, in the model's own features."""
    return np.argsort(nearest(features, failures)[1], kind="stable")[:count]


def features_of(model: nn.Module, data: Examples) -> Floats:
    """What the last layer is given, inputs × features."""
    heard: list[tuple[str, nn.Module, Any, Any]] = []
    with undisturbed(model), torch.no_grad():
        with listening(model, None, lambda *call: heard.append(call)):
            model(*next(data.parts(8)).inputs)
        calls = [(name, module) for name, module, _, _ in heard if name]
        places = places_of(calls, None, model, len(data))
        if places.side == ANSWER:
            return np.asarray(data.reference.double().cpu().numpy())
        rows: list[Tensor] = []
        for part in data.parts():
            heard.clear()
            with listening(model, {places.trace}, lambda *call: heard.append(call)):
                model(*part.inputs)
            found = unit_rows(heard[-1][2], nn.Identity(), len(part))
            if found is None:
                return np.asarray(data.reference.double().cpu().numpy())
            rows.append(projected(found))
    return np.asarray(torch.cat(rows).double().cpu().numpy())


def _probabilities(pool: Examples) -> Floats:
    if pool.wanted.is_floating_point():
        raise UsageError("selection by uncertainty is for classes; the outputs here are numbers")
    return np.asarray(pool.reference.double().softmax(dim=-1).cpu().numpy())
