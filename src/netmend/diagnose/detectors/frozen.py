"""Parameters that are left out of the training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.loops import Layer, optimizer, trained
from netmend.diagnose.examples.probes import probed
from netmend.diagnose.measures.wiring import Part, Wire, by_model, layers_of, loaded, wires
from netmend.diagnose.measures.words import few
from netmend.unit import convention, exact
from netmend.vocabulary import Event, ModuleFact, OptimizerFact, Symptom, Table, Trace
from netmend.vocabulary.table import FloatArray, IntArray

_SKIPPED = Layer("encoder", update=0.0)


class StepSkipsParameters(Detector, code="D229"):
    """The optimiser's step leaves parameters exactly as they are although they have gradients; others of its group move.

    These layers stay where they are for the rest of the run, and the loss hardly shows it.
    Usual causes: a step that was compiled or traced while some gradients were missing, an in-place operation that is lost for tensors of
    another memory layout, a hand-written optimiser that passes over some parameters.
    """

    least_looks = convention(
        4, "closely observed steps in a row with a gradient and without a change, to the last"
    )
    far_apart = convention(
        100,
        "steps between the first and the last of fewer looks, two at least: a short program is looked at rarely",
    )
    least_step = exact(
        1e-5,
        "rate times gradient over weight: a plain step this long is a hundred times what single precision can lose",
    )
    most_zeros = convention(
        0.5, "share of a gradient: large weights of which few rows are used are looked at in part"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        held = [wire for wire in wires(trace) if wire.held and wire.fact.trainable and wire.flows]
        for holder in trace.optimizers:
            own = [wire for wire in held if wire.holder == holder.name]
            skipped = [(wire, since) for wire in own if (since := self._since(trace, wire, holder))]
            still = {wire.name for wire, _ in skipped}
            moving = {wire.fact.group for wire in own if wire.name not in still and wire.changed}
            found = [(wire, since) for wire, since in skipped if wire.fact.group in moving]
            if not found:
                continue
            layers = layers_of([wire for wire, _ in found])
            first = min(since for _, since in found)
            message = (
                f"`{holder.name}.step()` does not change {len(found)} of its {len(own)} parameters "
                f"({few(layers)}), although they have gradients."
            )
            detail = {
                "layers": layers,
                "optimizer": holder.name,
                "kind": holder.kind,
                "created": holder.created,
                "always": all(not wire.changed for wire, _ in found),
            }
            yield self.symptom(
                message, layers[0], float(len(found)), 0.0, detail, first_step=first - 1, site=holder.stepped
            )

    def _since(self, trace: Trace, wire: Wire, optimizer: OptimizerFact) -> int:
        """The step (from 1 on) from which the parameter stands still, to its last look; 0 if it does not."""
        if wire.fact.dtype in ("float16", "bfloat16"):
            return 0  # updates may be too small for the number format
        updates, gradients = trace.table("update", wire.name), trace.table("gradient", wire.name)
        steps, at, known = np.intersect1d(updates.steps, gradients.steps, return_indices=True)
        sparse = gradients.column("zero_share")[known] > self.most_zeros
        pushed = (
            self._lengths(trace, wire, optimizer, steps, gradients.column("rms")[known]) > self.least_step
        )
        still = (updates.column("rms")[at] == 0) & pushed & ~sparse
        moved = np.flatnonzero(~still)
        begin = int(moved[-1]) + 1 if len(moved) else 0
        looks = len(steps) - begin
        enough = looks >= self.least_looks or (looks >= 2 and steps[-1] - steps[begin] >= self.far_apart)
        return int(steps[begin]) + 1 if enough else 0

    def _lengths(
        self, trace: Trace, wire: Wire, optimizer: OptimizerFact, steps: IntArray, gradients: FloatArray
    ) -> FloatArray:
        """How far the plainest rule, rate times gradient, would have moved the parameter, relative to its size."""
        group = wire.fact.group or 0
        settings = optimizer.groups[group].settings if group < len(optimizer.groups) else {}
        known, rates = trace.table("rate", f"{optimizer.name}[{group}]").known("rate")
        rate: float | FloatArray = float(settings.get("lr", 0.0) or 0.0)
        if len(known):  # the one in force at each of the steps
            rate = rates[np.clip(np.searchsorted(known, steps, side="right") - 1, 0, None)]
        # Rules that divide by the gradient's own size move by about the rate, however small the gradient is.
        adaptive = "betas" in settings or "alpha" in settings
        push = np.where(gradients > 0, 1.0, 0.0) if adaptive else gradients
        if {"rho", "lr_decay", "etas"}.intersection(settings):
            push = np.zeros_like(gradients)  # how far these rules move depends on the whole past
        sizes = self._sizes(trace, wire, steps)
        finite = np.isfinite(gradients) & np.isfinite(sizes)
        lengths = rate * np.where(finite, push, 0.0) / np.where(finite, sizes, 1.0)
        return np.asarray(lengths, dtype=np.float64)

    def _sizes(self, trace: Trace, wire: Wire, steps: IntArray) -> FloatArray:
        """Of the weights at these steps: where they have grown a thousandfold, the same step is lost to rounding."""
        initial = np.full(len(steps), wire.fact.initial.rms or 1.0)
        known, sizes = trace.table("weight", wire.name).known("rms")
        if not len(known):
            return initial
        now = sizes[np.clip(np.searchsorted(known, steps, side="right") - 1, 0, None)]
        return np.asarray(np.fmax(initial, now), dtype=np.float64)

    HEALTHY = {
        "everything moves": lambda: trained(Layer("encoder"), Layer("decoder")),
        "too little for the number format": lambda: trained(
            replace(_SKIPPED, gradient=1e-9), Layer("decoder")
        ),
        "a group whose rate is 0": lambda: trained(
            optimizer(), _SKIPPED, Layer("decoder"), Table.of("rate", "optimizer[0]", {0: (0.0,)})
        ),
        "weights that have grown so large that the step is lost to rounding": lambda: trained(
            _SKIPPED,
            Layer("decoder"),
            Table.of("weight", "model.encoder.weight", dict.fromkeys(range(8), (0.0, 1e12, 1e12))),
        ),
        "nothing moves: another fault": lambda: trained(_SKIPPED),
        "moved again at the end": lambda: trained(
            replace(_SKIPPED, update=None),
            Layer("decoder"),
            Table.of(
                "update", "model.encoder.weight", {**dict.fromkeys(range(7), (0.0, 0.0)), 7: (0.1, 0.1)}
            ),
        ),
        "two looks close to one another": lambda: trained(
            replace(_SKIPPED, update=None),
            Layer("decoder"),
            Table.of(
                "update",
                "model.encoder.weight",
                {**dict.fromkeys(range(6), (0.1, 0.1)), 6: (0.0, 0.0), 7: (0.0, 0.0)},
            ),
        ),
    }
    FAULTY = {
        "one layer is passed over": lambda: trained(
            _SKIPPED, Layer("decoder"), Layer("head"), losses=[0.5] * 40
        ),
        "passed over from some step on": lambda: trained(
            replace(_SKIPPED, update=None),
            Layer("decoder"),
            Layer("head"),
            Table.of(
                "update",
                "model.encoder.weight",
                {0: (0.1, 0.1), 1: (0.1, 0.1), **dict.fromkeys(range(2, 8), (0.0, 0.0))},
            ),
        ),
    }


_FROZEN = Layer("body", trainable=False, gradient=None, update=None, optimizer=None)


class FrozenParameters(Detector, code="D220"):
    """Layers are frozen at random values while the rest of the model is trained.

    Freezing makes sense for layers that were trained before. Random layers that stay random only throw information away.
    Usual causes: requires_grad=False on the wrong part, freezing a backbone whose weights were never loaded.
    """

    least_share = convention(0.05, "of the model's parameters: small fixed projections are made on purpose")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for model, own in by_model(trace).items():
            if not any(wire.fact.trainable and wire.flows for wire in own):
                continue  # frozen as a whole: a teacher, a target, a fixed judge
            part = Part(model, own, [wire for wire in own if self._random(wire)])
            if not part.some or part.share < self.least_share or loaded(trace, part.some[0].name):
                continue
            message = f"{part.words} are frozen at their random initial values ({few(part.layers)})."
            resting = _resting(trace, model, part.some[0].module)
            adapted = _adapted(own, part.layers)
            detail = {**part.detail, "share": part.share, "adapted": adapted, "resting": resting}
            place = part.layers[0], part.some[0].created
            yield self.symptom(message, place, part.share, self.least_share, detail, first_step=0)

    def _random(self, wire: Wire) -> bool:
        frozen = not wire.fact.trainable and wire.executed and not wire.changed and not wire.twin
        embeds = wire.module is None or wire.module.kind.startswith("Embedding")
        return bool(frozen and wire.fresh and not embeds)

    HEALTHY = {
        "nothing is frozen": lambda: trained(Layer("body"), Layer("head")),
        "a backbone with loaded weights": lambda: trained(
            _FROZEN, Layer("head"), Event(0, "state loaded", "loaded", "model.body", detail={"matched": 4})
        ),
        "weights that training has shaped": lambda: trained(replace(_FROZEN, fresh=False), Layer("head")),
        "a frozen model as a whole": lambda: trained(_FROZEN),
        "trained earlier in the same run": lambda: trained(
            replace(_FROZEN, update=0.01, optimizer="optimizer"), Layer("head")
        ),
    }
    FAULTY = {
        "random layers are frozen": lambda: trained(_FROZEN, Layer("head"), losses=[0.9] * 40),
        "random layers are frozen, and the best state is brought back at the end": lambda: trained(
            _FROZEN,
            Layer("head"),
            Event(64, "state loaded", "loaded", "model", detail={"matched": 4}),
            losses=[0.9] * 40,
        ),
    }


def _resting(trace: Trace, model: str, layer: ModuleFact | None) -> bool:
    """Whether the layer was in evaluation mode while the model was in training mode."""
    root = trace.get(ModuleFact, model)
    return root is not None and layer is not None and root.training and not layer.training


def _adapted(own: list[Wire], layers: list[str]) -> bool:
    """Whether each frozen layer lies in a block, below the model itself, that has trainable parameters beside it."""
    blocks = {name.rpartition(".")[0] for name in layers}
    learning = [wire.fact.module for wire in own if wire.fact.trainable]
    return all(
        "." in block and any(name == block or name.startswith(f"{block}.") for name in learning)
        for block in blocks
    )


def _late(steps: int, count: int = 800) -> Trace:
    names: dict[str, Any] = {"class": "Backbone", "count": count, "total": 2000, "steps": steps}
    return probed("frozen late", **names, names=["model.stem.weight"])


class FrozenLate(Detector, code="D230"):
    """Parts that the model's own train() freezes were trained, because train() had not been called before.

    A new module is in training mode already, so nobody needs to call train(), and what a class does in its own train() has not happened
    when training begins: stages that should stay as they were loaded are changed.
    Usual causes: freezing only inside an overridden train().
    """

    least_steps = exact(1, "optimiser steps between the first training pass and the freezing")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes("frozen late"):
            steps, count = int(probe.values["steps"]), int(probe.values["count"])
            if steps < self.least_steps or not count:
                continue
            message = (
                f"{count:,} parameters of {probe.component} were trained for {steps} steps before {probe.values['class']}.train() "
                "froze them."
            )
            detail = {"class": probe.values["class"]}
            yield self.symptom(message, probe, float(steps), float(self.least_steps), detail)

    HEALTHY = {
        "frozen before the first step": lambda: _late(0),
        "train() freezes nothing here": lambda: _late(50, count=0),
    }
    FAULTY = {"frozen at the first evaluation": lambda: _late(40)}
