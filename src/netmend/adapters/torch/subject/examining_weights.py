"""Mutants made of the weights of a trained model: no training, only the test sets once more."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import nn

from netmend.adapters.torch.subject.examining_answers import Task
from netmend.adapters.torch.subject.examining_data import Data
from netmend.mutate.examined import WEIGHTS

_LONGEST = 120.0  # seconds; what is not reached by then is left out

Answers = Callable[[nn.Module, Data, Task], np.ndarray]


def examine_weights(
    model: nn.Module,
    sets: dict[str, Data],
    task: Task,
    arrays: dict[str, np.ndarray],
    answers: Answers,
    wishes: dict[str, Any],
    notes: list[str],
) -> list[str]:
    """Every operator at a few layers and shares; the results go into `arrays`. The names of the mutants."""
    from netmend.adapters.torch.weight_mutants import MUTANTS

    made: list[str] = []
    kind = "right" if task.higher_is_better else "error"
    started = perf_counter()
    for operator in MUTANTS.all():
        for place in _spread(operator.places(model), int(wishes["places"])):
            for share in wishes["shares"]:
                if perf_counter() - started > _LONGEST:
                    return made
                name = f"{WEIGHTS}/{operator.code}/{place.replace('/', '|') or 'model'}/{share:g}"
                generator = torch.Generator().manual_seed(_number(name))
                found: dict[str, np.ndarray] = {}
                try:
                    with operator.apply(model, place, float(share), generator):
                        for test, data in sets.items():
                            values = answers(model, data, task)
                            found[f"{name}/{test}/{kind}"] = (
                                values.astype(bool) if kind == "right" else values
                            )
                except Exception as problem:  # noqa: BLE001 - a layer that an operator does not fit must not cost the others
                    notes.append(f"{operator.code} at {place}: {type(problem).__name__}: {problem}")
                    break
                arrays.update(found)
                made.append(name)
    return made


def _spread(places: list[str], most: int) -> list[str]:
    """A few of the places, from the first to the last."""
    if len(places) <= most:
        return places
    return (
        [places[round(number * (len(places) - 1) / (most - 1))] for number in range(most)]
        if most > 1
        else places[:1]
    )


def _number(name: str) -> int:
    """The same for every model, so that all originals are changed alike."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=4).digest(), "big")
