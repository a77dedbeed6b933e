"""In which order inputs are worth a label, by each method; and how soon each order would have found known mistakes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from netmend.adequacy.answers import Answers
from netmend.adequacy.collected import Floats, Integers
from netmend.adequacy.measures.label_orders import (
    boundary_rounds,
    core_set,
    deep_gini,
    entropy,
    fault_order,
    margin,
)
from netmend.adequacy.result import Picked, Suggestion

DEEPGINI, ENTROPY, MARGIN, MCP, CORESET = "DeepGini", "entropy", "margin", "MCP", "CoreSet"
_SCORES = {DEEPGINI: deep_gini, ENTROPY: entropy, MARGIN: margin}


@dataclass(frozen=True)
class Order:
    """Inputs from the most valuable on."""

    method: str
    places: Integers
    scores: Floats | None = None  # of all inputs, by place


def orders(
    answers: Answers, traces: Floats, known: Floats, surprises: Mapping[str, Floats], count: int
) -> list[Order]:
    """Every order that can be made: uncertainty needs classes, CoreSet and surprise need traces only."""
    made = []
    if answers.probabilities is not None:
        for name, measure in _SCORES.items():
            made.append(_falling(name, measure(answers.probabilities)))
        made.append(Order(MCP, boundary_rounds(answers.probabilities)))
    made.append(Order(CORESET, core_set(traces, known, count)))
    made += [_falling(name, values) for name, values in surprises.items() if not np.isnan(values).all()]
    return made


def suggestions(made: list[Order], indices: Integers, answers: Answers, count: int) -> tuple[Suggestion, ...]:
    """The first inputs of each order, named as the user's set counts them."""
    told = []
    for order in made:
        picked = []
        for place in order.places[:count]:
            score = None if order.scores is None else float(order.scores[place])
            predicted = None if answers.probabilities is None else int(answers.predicted[place])
            picked.append(Picked(int(indices[place]), score, predicted))
        told.append(Suggestion(order.method, tuple(picked)))
    return tuple(told)


def mistakes_found(made: list[Order], answers: Answers) -> tuple[tuple[str, float], ...]:
    """APFD of each order, best first; nothing where no mistake is known."""
    wrong = answers.wrong
    if wrong is None or not wrong.any():
        return ()
    values = [
        (order.method, fault_order(order.places, wrong)) for order in made if len(order.places) == len(wrong)
    ]
    return tuple(sorted(values, key=lambda pair: -pair[1]))


def _falling(name: str, values: Floats) -> Order:
    """Largest first; what is not defined comes last."""
    return Order(name, np.argsort(-np.where(np.isnan(values), -np.inf, values), kind="stable"), values)
