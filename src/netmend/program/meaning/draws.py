"""Draws from a distribution that a network describes: with a way back for gradients, or without one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.library.operations import LIKE
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Item,
    Name,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.gradient_flow import layers_of
from netmend.program.meaning.judged_answers import model_of
from netmend.program.meaning.operations import operation, walk

# Distributions of which PyTorch has `rsample()`.
_WITH_WAY_BACK = frozenset(
    ("Normal", "MultivariateNormal", "LowRankMultivariateNormal", "LogNormal", "HalfNormal", "Laplace", "Gumbel", "Cauchy", "Uniform", "Gamma", "Beta",
     "Dirichlet", "StudentT", "Exponential", "Chi2", "Kumaraswamy", "Weibull", "Pareto", "RelaxedBernoulli", "RelaxedOneHotCategorical",
     "LogisticNormal", "Independent", "TransformedDistribution")
)  # fmt: skip
_NOISE = frozenset(("randn_like", "randn", "rand_like", "rand", "normal_", "normal", "uniform_"))


@dataclass(frozen=True)
class Draw:
    """A value drawn from what a network says, from where no gradient goes back to it."""

    value: Value
    node: ast.AST
    calls: frozenset[int]  # those of models that describe the distribution
    models: frozenset[int]  # these models and their layers
    is_sample: bool  # `dist.sample()`; else `z.detach()` of a draw that had a way back


def draws(program: Program, value: Value) -> Iterator[Draw]:
    """Those that a value is computed from."""
    for part in (*walk(value), *_as_once_followed(program, value)):
        part = resolved(part)
        found = _sample(part) or _cut_off(part)
        if found is not None and found.models:
            yield found


def _as_once_followed(program: Program, value: Value) -> Iterator[Value]:
    """A model's answer that was not looked into, as it was where the same model was."""
    for part in walk(value):
        base = part.base if isinstance(part, Item) else part
        if not isinstance(base, Call) or base.result is not None:
            continue
        inside = _followed(program).get(id(resolved(base.function)))
        if isinstance(part, Item) and isinstance(inside, Collection):
            place = constant(part.key)
            inside = inside.items[place] if isinstance(place, int) and place < len(inside.items) else None
        if inside is not None and (isinstance(part, Item) or not isinstance(inside, Collection)):
            yield from walk(inside)


@once
def _followed(program: Program) -> dict[int, Value]:
    found: dict[int, Value] = {}
    for event in program.calls:
        if event.call.result is not None and model_of(event.call) is not None:
            found.setdefault(id(resolved(event.call.function)), resolved(event.call))
    return found


def _sample(value: Value) -> Draw | None:
    if not isinstance(value, Call) or value.method != "sample" or value.receiver is None:
        return None
    if value.node is None:
        return None
    made = resolved(value.receiver)
    if not isinstance(made, Call) or not made.qualified.startswith("torch.distributions."):
        return None
    if made.qualified.rpartition(".")[2] not in _WITH_WAY_BACK or not _is_smooth(made):
        return None
    return Draw(value, value.node, *_asked(made), True)


def _is_smooth(made: Call) -> bool:
    """`Independent(Categorical(…), 1)` has no way back either."""
    inner = [resolved(argument) for argument in made.args]
    held = [
        part for part in inner if isinstance(part, Call) and part.qualified.startswith("torch.distributions.")
    ]
    return all(part.qualified.rpartition(".")[2] in _WITH_WAY_BACK and _is_smooth(part) for part in held)


def _cut_off(value: Value) -> Draw | None:
    """`.detach()` or `.data` of `mean + noise * spread`, or of `dist.rsample()`."""
    inner: Value | None = None
    if isinstance(value, Attribute) and value.name == "data" and not isinstance(value.base, Name):
        inner = value.base
    elif isinstance(value, Call) and value.method == "detach":
        inner = value.receiver
    inner = resolved(inner)
    if inner is None or value.node is None:
        return None
    is_drawn = isinstance(inner, Call) and inner.method == "rsample"
    op = operation(inner)
    is_sum = isinstance(inner, Operation) and inner.operator == "+"
    if is_sum or (op is not None and op.name in ("add", "add_", "addcmul")):
        is_drawn = any(_is_noise(part) for part in walk(inner))
    return Draw(value, value.node, *_asked(inner), False) if is_drawn else None


def _is_noise(value: Value) -> bool:
    if isinstance(value, Call) and value.method in _NOISE:
        return True
    return isinstance(value, Call) and value.qualified.rpartition(".")[2] in _NOISE


def _asked(value: Value) -> tuple[frozenset[int], frozenset[int]]:
    calls: set[int] = set()
    models: set[int] = set()
    for part in walk(value, into=_has_values):
        model = model_of(part) if isinstance(part, Call) else None
        if model is not None:
            calls.add(id(part))
            models |= layers_in(model)
    return frozenset(calls), frozenset(models)


def layers_in(model: Value) -> frozenset[int]:
    """A model and its layers, by identity."""
    return frozenset((id(model), *(id(layer) for layer in layers_of(model))))


def _has_values(value: Value) -> bool:
    op = operation(value)
    return op is None or op.name not in LIKE


def asked_openly(program: Program, value: Value) -> frozenset[int]:
    """The calls of models that gradients come to from a value."""
    cut = {id(draw.value) for draw in draws(program, value)}
    seen = walk(value, into=lambda part: id(part) not in cut and id(resolved(part)) not in cut)
    return frozenset(id(part) for part in seen if isinstance(part, Call) and model_of(part) is not None)


def scores_draw(value: Value, draw: Draw) -> bool:
    """Is the likelihood of the draw itself in the loss, as where its gradient is estimated from a reward?"""
    return any(
        isinstance(part, Call)
        and part.method == "log_prob"
        and any(inner is draw.value for argument in part.args for inner in walk(argument))
        for part in walk(value)
    )
