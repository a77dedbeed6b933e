"""D217 ModelRecreated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.data import epochs
from netmend.diagnose.measures.loop_examples import optimizer, trained
from netmend.diagnose.measures.wiring import wires
from netmend.unit import Run, threshold
from netmend.vocabulary import ModelFact, ParameterFact, Site, Symptom, Table, Trace


def _models(count: int, *held: int) -> list[ModelFact | ParameterFact | Table]:
    """Models from one line; those numbered in `held` are held by an optimiser of their own."""
    made: list[ModelFact | ParameterFact | Table] = []
    for number in range(count):
        name = f"net#{number + 1}" if number else "net"
        made.append(ModelFact(name, "Net", created=Site("train.py", 5)))
        holder = f"opt#{number}" if number in held else None
        made.append(ParameterFact(f"{name}.weight", name, (4, 4), optimizer=holder))
        made.append(Table.of("gradient", f"{name}.weight", dict.fromkeys(range(4), (0.0, 0.1))))
    return made


def _passes(count: int, each: int) -> list[tuple[str, int]]:
    loop = []
    for number in range(count):
        name = f"net#{number + 1}" if number else "net"
        step = f"zero_grad forward:{name}=train,grad backward step:opt"
        loop += [(f"epoch:loader {step}", each), (step, 10)]
    return loop


@register
class ModelRecreated:
    """The same line creates the model repeatedly during training.

    Everything learned so far is thrown away each time; only the last piece of training counts, or none at all where the optimiser
    still holds the first model.
    Usual cause: the model is created inside the loop over epochs.
    """

    code: ClassVar[str] = "D217"

    least_models: int = threshold(
        3,
        "convention",
        "two models from one line are a pair; seeds, folds and searches train each for several epochs",
    )
    most_passes: int = threshold(
        1, "exact", "a model that sees the data once and is then replaced has wasted it"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        lines: dict[tuple[Site, str], list[ModelFact]] = defaultdict(list)
        for model in trace.models:
            if model.created is not None:
                lines[model.created, model.kind].append(model)
        unheld = {w.model for w in wires(trace) if w.flows and w.fact.trainable and w.holder is None}
        held = {w.model for w in wires(trace) if w.holder is not None}
        for (site, kind), models in lines.items():
            names = [model.name for model in models if _trains(trace, model.name)]
            stale = [name for name in names if name in unheld and name not in held]
            passes = _passes_of(trace, names)
            single = len(names) >= self.least_models and set(passes.values()) == {self.most_passes}
            if not single and not (len(stale) >= 2 or (stale and len(names) > len(stale))):
                continue
            yield Symptom(
                self.code,
                f"`{kind}` was created {len(models)} times by the same line during training"
                + (
                    ", and the later ones are not in the optimiser."
                    if stale
                    else "; each one saw the data only once."
                ),
                component=names[-1],
                first_step=min((s for n in names[1:] if (s := _first(trace, n)) is not None), default=None),
                observed=float(len(models)),
                limit=float(self.least_models),
                site=site,
                detail={"models": names, "stale": stale, "passes": max(passes.values(), default=0)},
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("one model", lambda: trained(optimizer(), *_models(1, 0), loop=_passes(1, 5))),
        Run(
            "five folds of four epochs",
            lambda: trained(optimizer(), *_models(5, 0, 1, 2, 3, 4), loop=_passes(5, 4)),
        ),
        Run("a pair of models", lambda: trained(optimizer(), *_models(2, 0, 1), loop=_passes(2, 1))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "anew for every epoch",
            lambda: trained(optimizer(), *_models(6, 0, 1, 2, 3, 4, 5), loop=_passes(6, 1)),
        ),
        Run(
            "the optimiser holds the first one only",
            lambda: trained(replace(optimizer(), name="opt#0"), *_models(4, 0), loop=_passes(4, 1)),
        ),
    )


def _trains(trace: Trace, model: str) -> bool:
    return _first(trace, model) is not None


def _first(trace: Trace, model: str) -> int | None:
    starts = [
        pattern.spans[0][0]
        for pattern in trace.patterns
        if pattern.spans
        and any(
            c.what == "forward" and c.component == model and c.detail.endswith(", grad")
            for c in pattern.calls
        )
        and any(c.what == "step" for c in pattern.calls)
    ]
    return min(starts, default=None)


def _passes_of(trace: Trace, names: list[str]) -> dict[str, int]:
    """How often a loader was begun for training while each model was in use; its very first pass may not show its name."""
    starts = sorted((start, name) for name in names if (start := _first(trace, name)) is not None)
    begun: list[int] = []
    for pattern in trace.patterns:
        order = [call.what for call in pattern.calls]
        if "epoch" in order and "backward" in order[order.index("epoch") :]:
            begun += [step for first, last in pattern.spans for step in range(first, last + 1)]
    if not starts:
        return {}
    seen = epochs(trace)
    if not begun and seen is not None and not trace.loaders:
        # Batches cut by hand: passes follow from how often samples came again.
        return dict.fromkeys(names, round(seen / len(names)))
    ends = [start - 1 for start, _ in starts[1:]] + [1 << 62]
    return {
        name: sum(start - 1 <= step < end for step in begun)
        for (start, name), end in zip(starts, ends, strict=True)
    }
