"""Small literal runs of a sequential network, for the examples of numeric detectors."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from netmend.diagnose.examples.curves import Part, falling, run_with, trace_of
from netmend.library.activations import ACTIVATION_LAYERS
from netmend.vocabulary import (
    Call,
    Event,
    Fact,
    GroupFact,
    ModelFact,
    ModuleFact,
    OptimizerFact,
    ParameterFact,
    Pattern,
    Site,
    Statistics,
    Table,
    Trace,
)
from netmend.vocabulary.table import COLUMNS

Value = float | Callable[[int], float]  # constant over the run, or a function of the step
NAN = float("nan")


def net_run(
    layers: str = "Linear(10,64) ReLU Linear(64,64) ReLU Linear(64,4)",
    losses: Sequence[float] | None = None,
    constant: float | None = 1.0,
    optimizer: str = "Adam",
    settings: Mapping[str, Any] | None = None,
    ratio: Value = 0.003,
    growth: Value = 1.2,
    gain: Mapping[int, float] | float = 0.58,
    activations: Mapping[int, Mapping[str, Value]] | None = None,
    gradients: Mapping[int, Value] | float = 0.01,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    events: Sequence[Event] = (),
    facts: Sequence[Fact] = (),
    batch: int = 32,
) -> Trace:
    """`model` is an nn.Sequential of the given layers; layer i was created on line 5 + i of train.py.

    Per layer index: `gain` is the initial rms times the root of the fan-in, `activations` columns of its activation table,
    `gradients` the rms of its weight's gradient. `parameters` overrides fields of parameter facts by name.
    """
    curve = list(falling(200)) if losses is None else list(losses)
    plain = run_with(curve, constant)
    steps = _full_steps(len(curve))
    modules = _modules(layers, batch)
    parts: list[Part] = [
        Table.of("step", "optimizer", {n: (v, 1.0) for n, v in enumerate(curve)}),
        ModelFact("model", "Sequential", created=Site("train.py", 4)),
        *modules,
    ]
    weights = []
    for index, module in enumerate(modules):
        parts.append(_activation(module.name, (activations or {}).get(index, {}), steps))
        for parameter in _parameters(module, gain if isinstance(gain, float) else gain.get(index, 0.58)):
            made = replace(parameter, **(parameters or {}).get(parameter.name, {}))
            weights.append(made)
            size = made.initial.rms or 0.0
            slope = gradients if isinstance(gradients, float) else gradients.get(index, 0.01)
            parts += [
                _rows("gradient", made.name, steps, (0.0, slope)),
                _update(made.name, steps, size, ratio),
                _weight(made.name, steps, size, growth, ratio),
            ]
    group = GroupFact({"lr": 0.001, **(settings or {})}, tuple(p.name for p in weights))
    calls = tuple(
        Call(what, "optimizer" if what == "step" else "", "", Site("train.py", 18 + place))
        for place, what in enumerate(("zero_grad", "forward", "loss", "backward", "step"))
    )
    return trace_of(
        *parts,
        OptimizerFact("optimizer", optimizer, (group,), Site("train.py", 15), Site("train.py", 22)),
        *weights,
        *facts,
        Pattern(calls, ((0, len(curve) - 1),)),
        *events,
        onto=plain,
    )


def _full_steps(count: int) -> list[int]:
    """As the recorder looks: every step at first, then ever more rarely."""
    return [step for step in range(count) if step % max(1, (1 << step.bit_length()) // 16) == 0]


def _modules(text: str, batch: int) -> list[ModuleFact]:
    found: list[ModuleFact] = []
    width = 0
    for index, (kind, given) in enumerate(re.findall(r"(\w+)(?:\(([\d.,]*)\))?", text)):
        numbers = [float(n) for n in given.split(",") if n]
        inside = width
        settings: dict[str, Any] = {}
        if kind == "Linear":
            inside, width = int(numbers[0]), int(numbers[1])
            settings = {"in_features": inside, "out_features": width, "bias": True}
        elif kind == "Dropout":
            settings = {"p": numbers[0]}
        found.append(
            ModuleFact(
                f"model.{index}",
                kind,
                "model",
                f"torch.nn.modules.{kind}",
                settings,
                ACTIVATION_LAYERS.get(kind),
                order=index + 1,
                calls=1,
                input_shapes=((batch, inside),),
                output_shapes=((batch, width),),
                created=Site("train.py", 5 + index),
                called=Site("train.py", 19),
            )
        )
    found.append(
        ModuleFact("model", "Sequential", "", "torch.nn.modules.container.Sequential", leaf=False, order=0)
    )
    return found


def _parameters(module: ModuleFact, gain: float) -> list[ParameterFact]:
    if module.kind != "Linear":
        return []
    inside, outside = module.settings["in_features"], module.settings["out_features"]
    size = gain / inside**0.5
    spread = Statistics(0.0, size, size, -1.7 * size, 1.7 * size, 0.0 if size else 1.0, 0)
    weight = ParameterFact(
        f"{module.name}.weight",
        module.name,
        (outside, inside),
        optimizer="optimizer",
        group=0,
        initial=spread,
        symmetric_share=0.0 if size else 1.0,
    )
    small = 0.58 / inside**0.5
    bias = Statistics(0.0, small, small, -1.7 * small, 1.7 * small, 0.0, 0)
    return [
        weight,
        ParameterFact(
            f"{module.name}.bias", module.name, (outside,), optimizer="optimizer", group=0, initial=bias
        ),
    ]


def _at(value: Value, step: int) -> float:
    return value(step) if callable(value) else value


def _rows(kind: str, name: str, steps: Sequence[int], row: Sequence[Value]) -> Table:
    return Table.of(kind, name, {step: tuple(_at(value, step) for value in row) for step in steps})


def _update(name: str, steps: Sequence[int], size: float, ratio: Value) -> Table:
    return Table.of("update", name, {step: (size * _at(ratio, step), _at(ratio, step)) for step in steps})


def _weight(name: str, steps: Sequence[int], size: float, growth: Value, ratio: Value) -> Table:
    """Sizes grow to `growth` times the first over the run, or as a function says."""
    last = max(steps[-1], 1)

    def grown(step: int) -> float:
        return growth(step) if callable(growth) else 1 + (growth - 1) * step / last

    rows = {
        step: (
            0.0,
            size * grown(step),
            0.0,
            0.0,
            0.0,
            0.0,
            abs(grown(step) - 1) + step * _at(ratio, step) / 2,
        )
        for step in steps
    }
    return Table.of("weight", name, rows)


def _activation(name: str, columns: Mapping[str, Value], steps: Sequence[int]) -> Table:
    usual = dict(
        zip(COLUMNS["activation"], (0.3, 0.5, 0.6, 0.0, 2.0, 0.5, 0.0, 0.02, 0.05, 0.7), strict=False)
    )
    row: list[Value] = list({**usual, **columns}.values())
    return _rows("activation", name, steps, row)
