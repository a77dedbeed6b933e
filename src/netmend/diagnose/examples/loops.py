"""Small literal runs for the examples of loop and wiring detectors."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from netmend.diagnose.examples.curves import Part, trace_of
from netmend.vocabulary import (
    Call,
    Event,
    Fact,
    GroupFact,
    LossFact,
    ModelFact,
    ModuleFact,
    OptimizerFact,
    ParameterFact,
    Pattern,
    RunFact,
    Site,
    Statistics,
    Table,
    Trace,
)

_WORD = re.compile(r"(\w+)(?::([\w.#]+))?(?:=([\w,]+))?(?:@(\d+))?(?:\*(\d+))?")


def calls(text: str) -> tuple[Call, ...]:
    """`zero_grad:opt forward:model=train,grad backward*4 step:opt`; lines count from 10 unless given as `@line`."""
    found = []
    lines: dict[str, int] = {}
    for word in text.split():
        match = _WORD.fullmatch(word)
        assert match is not None, word
        what, component, detail, line, times = match.groups()
        key = f"{what}:{component}={detail}"
        number = int(line) if line else lines.setdefault(key, 10 + len(lines))
        found.append(
            Call(
                what,
                component or "",
                (detail or "").replace(",", ", "),
                Site("train.py", number),
                int(times or 1),
            )
        )
    return tuple(found)


def patterns(*parts: tuple[str, int]) -> tuple[Pattern, ...]:
    made, start = [], 0
    for text, steps in parts:
        made.append(Pattern(calls(text), ((start, start + steps - 1),)))
        start += steps
    return tuple(made)


@dataclass(frozen=True)
class Layer:
    """One layer with a weight, for examples."""

    name: str
    kind: str = "Linear"
    trainable: bool = True
    optimizer: str | None = "optimizer"
    gradient: float | None = 0.01  # None: there never is one
    update: float | None = 0.001  # None: not watched
    executed: bool = True
    registered: bool = True
    fresh: bool = True
    zeros: bool = False
    start: int = 0  # layers with the same number start with the same weights
    weight: bool = True
    settings: Mapping[str, Any] | None = None


def network(*layers: Layer, model: str = "model") -> list[Fact | Table]:
    """Facts and tables of one model whose layers run in the given order."""
    found: list[Fact | Table] = [
        ModelFact(
            model, "Net", tuple(f"{model}.{layer.name}" for layer in layers), created=Site("train.py", 5)
        ),
        ModuleFact(model, "Net", model, leaf=False, order=0, calls=1, called=Site("train.py", 11)),
    ]
    for number, layer in enumerate(layers, start=1):
        name, weight = f"{model}.{layer.name}", f"{model}.{layer.name}.weight"
        found.append(
            ModuleFact(
                name,
                layer.kind,
                model,
                settings=layer.settings or {},
                registered=layer.registered,
                order=number if layer.executed else None,
                calls=int(layer.executed),
                created=Site("train.py", 30 + number),
                called=Site("train.py", 40 + number) if layer.executed else None,
            )
        )
        if not layer.weight:
            continue
        rms = 0.1 + 0.01 * (layer.start or number)
        peak = (1.7 if layer.fresh else 4.0) * rms
        start = Statistics(0.01 * (layer.start or number), rms, rms, -peak, peak, 0.0, 0)
        if layer.zeros:
            start = Statistics(0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0)
        found.append(
            ParameterFact(
                weight, name, (16, 16), trainable=layer.trainable, optimizer=layer.optimizer, initial=start
            )
        )
        if layer.gradient is not None:
            rows = dict.fromkeys(range(8), (0.0, layer.gradient))
            found.append(Table.of("gradient", weight, rows))
        if layer.update is not None:
            found.append(Table.of("update", weight, dict.fromkeys(range(8), (layer.update, layer.update))))
    return found


def optimizer(name: str = "optimizer", kind: str = "SGD", **settings: Any) -> OptimizerFact:
    group = GroupFact({"lr": 0.1, **settings}, ("model.fc.weight",))
    return OptimizerFact(name, kind, (group,), Site("train.py", 8), Site("train.py", 13))


_USUAL = ("zero_grad:optimizer forward:model=train,grad backward step:optimizer", 64)


def trained(
    *things: Fact | Table | Event | Layer | tuple[str, int],
    losses: Sequence[float] = (),
    optimised: bool = True,
    **run: Any,
) -> Trace:
    """A run made of facts, tables, events, layers of one model, and calls of the loop with the number of steps they make up.

    With an optimiser, unless it is not `optimised`. With losses (relative to the best constant prediction) it has a course of learning.
    """
    layers = [thing for thing in things if isinstance(thing, Layer)]
    loop = [thing for thing in things if isinstance(thing, tuple)] or [_USUAL]
    known: list[Part] = [thing for thing in things if not isinstance(thing, Layer | tuple)]
    known += network(*layers) if layers else []
    if optimised and not any(isinstance(thing, OptimizerFact) for thing in known):
        known.append(optimizer())
    made = patterns(*loop)
    steps = sum(pattern.steps for pattern in made)
    stepped = next((call.component for pattern in made for call in pattern.calls if call.what == "step"), "")
    parts: list[Part] = [
        RunFact("example", "train.py", steps=steps, **{"status": "finished", **run}),
        Table.of("step", stepped, dict.fromkeys(range(8), (0.5, 1.0, 0.0, 1.0, 2.0))),
        *known,
    ]
    if losses:
        name = "cross_entropy@train.py:12"
        every = max(1, steps // len(losses))
        rows = {index * every: (value, 1.0) for index, value in enumerate(losses)}
        parts += [
            LossFact(name, "cross_entropy", "module", backward=Site("train.py", 12)),
            Table.of("progress", name, rows),
        ]
    return trace_of(*parts, *made)
