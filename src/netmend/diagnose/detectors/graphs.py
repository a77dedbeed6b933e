"""Graphs of earlier steps that are kept, and parts of the network that no gradient reaches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import trace_of
from netmend.diagnose.examples.loops import Layer, network, trained
from netmend.diagnose.measures.wiring import (
    ZERO_GRADIENT,
    Part,
    Wire,
    by_model,
    cut_off,
    cutting,
    layers_of,
    loaded,
    plain_execution,
    wires,
)
from netmend.diagnose.measures.words import few
from netmend.unit import calibrated, convention
from netmend.vocabulary import FunctionFact, LossFact, Site, Symptom, Table, Trace

LOSS = "cross_entropy@train.py:20"


def graphs(*rows: tuple[float, float, float]) -> Trace:
    """A run with looks at the graphs of earlier steps."""
    table = Table.of("graphs", LOSS, {8 * number: row for number, row in enumerate(rows)})
    loss = LossFact(LOSS, "cross_entropy", backward=Site("train.py", 21))
    return trace_of(loss, table)


class GraphsKept(Detector, code="D219"):
    """The graphs of earlier steps are still alive: something holds on to their losses.

    Each step then leaves its graph in memory until the holder is dropped, at the end of the epoch or never.
    Usual cause: losses are added up or collected as tensors (`total += loss`) instead of numbers.
    """

    least_alive = calibrated(
        3, "graphs of more than three steps ago: 196 healthy runs had none; keeping the best one makes 1"
    )
    share = convention(0.5, "most of the graphs ever marked: nothing is let go during the run")
    often = convention(
        0.15, "share of the looks at which old graphs were alive, where they are let go now and then"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for table in trace.tables_of("graphs"):
            alive, marked = table.column("alive"), table.column("marked")
            if not len(alive) or alive.max() < self.least_alive:
                continue
            never = alive[-1] >= self.share * marked[-1]
            if not never and (alive > 0).mean() < self.often:
                continue
            loss = trace.get(LossFact, table.component)
            most = int(alive.max())
            message = (
                f"Of {int(marked[-1])} graphs of earlier steps that were tracked, up to {most} were still in memory"
                + (", and none was freed." if never else " at a time.")
            )
            yield self.symptom(
                message,
                (table.component, loss.backward if loss is not None else None),
                observed=float(most),
                limit=float(self.least_alive),
                detail={"never": bool(never)},
                first_step=int(table.steps[np.argmax(alive >= self.least_alive)]),
            )

    def extremes(self, trace: Trace) -> dict[str, float]:
        most = [float(table.column("alive").max()) for table in trace.tables_of("graphs") if len(table)]
        return {"least_alive": max(most)} if most else {}

    HEALTHY = {
        "let go at once": lambda: graphs((4, 0, 0), (8, 0, 0), (12, 0, 0), (16, 0, 0)),
        "one is kept": lambda: graphs((4, 1, 1), (8, 1, 1), (12, 1, 1), (16, 1, 1)),
    }
    FAULTY = {
        "all are kept": lambda: graphs((4, 4, 4), (8, 8, 8), (12, 12, 12), (16, 16, 16)),
        "kept until the epoch ends": lambda: graphs((4, 2, 2), (8, 4, 4), (12, 1, 1), (16, 3, 3)),
    }


class CarriedState(Detector, code="D221"):
    """The graph of a step reaches back into the steps before it, further and further.

    A state that is carried from batch to batch brings its whole history along: every backward pass goes through all of it, so steps
    become slower and memory grows.
    Usual cause: a hidden state is used again without detach(), and backward(retain_graph=True) hides the error.
    """

    least_alive = convention(8, "steps; truncated back-propagation over a few steps keeps fewer than that")
    share = convention(0.5, "most of the graphs ever marked: nothing is let go")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for table in trace.tables_of("graphs"):
            if not len(table):
                continue
            marked, alive, inside = (float(table.column(n)[-1]) for n in ("marked", "alive", "alive_inside"))
            if inside < self.least_alive or inside < self.share * marked or alive > inside / 2:
                continue
            loss = trace.get(LossFact, table.component)
            yield self.symptom(
                f"The graph still includes {int(inside)} of {int(marked)} earlier steps that were tracked.",
                (table.component, loss.backward if loss is not None else None),
                observed=inside,
                limit=float(self.least_alive),
                first_step=int(table.steps[0]),
            )

    HEALTHY = {
        "nothing is carried": lambda: graphs((8, 0, 0), (16, 0, 0)),
        "a few steps": lambda: graphs((8, 0, 4), (16, 0, 4)),
    }
    FAULTY = {"everything is carried": lambda: graphs((8, 0, 8), (16, 0, 16))}


_CUT = Layer("encoder", gradient=None, update=0.0)


class ParametersWithoutGradient(Detector, code="D214", figure="gradient rms"):
    """Layers take part in the forward pass and are held by the optimiser, but never get a gradient.

    Nothing that they compute reaches the loss in a way that can be differentiated, so they are never trained.
    Usual causes: detach(), .data, .item(), numpy, argmax or no_grad on the way, or a result that is computed and not used.
    """

    least_looks = convention(
        4, "closely observed steps; heads that take turns are used on one of the first four"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for model, own in by_model(trace).items():
            found = cut_off(trace, model, self.least_looks)
            if not found:
                continue
            part, zero = Part(model, own, found), all(wire.measured for wire in found)
            how = "a gradient of exactly 0" if zero else "no gradient"
            message = f"{part.words} should be trained but had {how} on all {found[0].looks} recorded steps ({few(part.layers)})."
            of_start = {"fresh": any(wire.fresh for wire in found), "loaded": loaded(trace, part.layers[0])}
            detail = {**part.detail, **of_start}
            place = part.layers[0], found[0].called
            yield self.symptom(message, place, part.share, 0.0, detail, first_step=0)

    HEALTHY = {
        "all get gradients": lambda: trained(Layer("encoder"), Layer("head")),
        "frozen on purpose": lambda: trained(replace(_CUT, trainable=False), Layer("head")),
        "averaged by hand": lambda: trained(replace(_CUT, update=0.01), Layer("head")),
        "dead units: a gradient of 0 without an operation that makes it so": lambda: trained(
            replace(_CUT, gradient=0.0), Layer("head")
        ),
        "nothing gets gradients: another fault": lambda: trained(_CUT),
    }
    FAULTY = {
        "cut off from the loss": lambda: trained(
            _CUT,
            Layer("head"),
            FunctionFact(
                "model.detach@train.py:42",
                "detach",
                "graph cut",
                "model",
                after="model.encoder",
                site=Site("train.py", 42),
            ),
            losses=[1.0] * 40,
        ),
        "rounded: the derivative is 0 everywhere": lambda: trained(
            replace(_CUT, gradient=0.0),
            Layer("head"),
            FunctionFact(
                "model.round@train.py:42",
                ZERO_GRADIENT[0],
                "graph cut",
                "model",
                after="model.encoder",
                site=Site("train.py", 42),
            ),
            losses=[1.0] * 40,
        ),
    }


_MEANINGS = {
    "detach": "detaches the result from the graph",
    "data": "detaches the result from the graph",
    "item": "converts it to a plain number",
    "numpy": "converts it to a numpy array",
    "tolist": "converts it to a list",
    "argmax": "has no derivative",
    "argmin": "has no derivative",
}


class GraphCut(Detector, code="D218", figure="gradient rms"):
    """An operation takes the result of layers that should learn out of the graph.

    Gradients cannot pass it, so everything before it stays as it is.
    Usual causes: detach() or .data left from an earlier version, a detour over numpy, argmax or rounding inside the model.
    """

    least_looks = convention(4, "as in D214: the layers before it never had a gradient")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for model in by_model(trace):
            found = cut_off(trace, model, self.least_looks)
            for cut in cutting(trace, model, found)[:1] if found else ():
                layers = layers_of(found)
                name = cut.function.strip("_")
                message = (
                    f"`{name}` at {cut.site.short if cut.site else '?'} {_MEANINGS.get(name, 'lets no gradient through')}: "
                    f"no gradient reaches {layers[-1]}."
                )
                detail = {"model": model, "layers": layers, "operation": name}
                yield self.symptom(message, layers[-1], detail=detail, first_step=0, site=cut.site)

    HEALTHY = ParametersWithoutGradient.HEALTHY
    FAULTY = ParametersWithoutGradient.FAULTY


_UNREACHED = Layer("fc", gradient=None, update=0.0)


class NothingGetsGradients(Detector, code="D240"):
    """backward() runs at every step, but no parameter in an optimiser ever has a gradient.

    The loss has a graph, but one that begins behind the model: what the model said was taken out of its graph and then told to require gradients
    anew. The optimiser steps and changes nothing.
    Usual causes: `.detach().requires_grad_()`, `torch.tensor(output)`, `Variable(output.data)`, or a loss that is made from a plain number.
    """

    least_looks = convention(4, "closely observed steps, as in D214")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        held = [wire for wire in wires(trace) if wire.held and wire.fact.trainable and wire.executed]
        passes = [call for pattern in trace.patterns for call in pattern.calls if call.what == "backward"]
        if not held or not passes or any(wire.measured or wire.changed is not False for wire in held):
            return
        looks = min(wire.looks for wire in held)
        if looks < self.least_looks:
            return
        message = (
            f"None of the {sum(wire.size for wire in held):,} parameters in the optimiser had a gradient on any of the "
            f"{looks} recorded steps, although backward() ran."
        )
        detail = {"model": held[0].model}
        yield self.symptom(message, held[0].model, 0.0, 1.0, detail, first_step=0, site=passes[0].site)

    HEALTHY = {
        "all get gradients": lambda: trained(Layer("fc")),
        "a part gets gradients": lambda: trained(_UNREACHED, Layer("head")),
        "changed by other means": lambda: trained(Layer("fc", gradient=None, update=0.01)),
        "dead units have gradients of 0": lambda: trained(Layer("fc", gradient=0.0, update=0.0)),
        "backward() is missing: another fault": lambda: trained(
            _UNREACHED, ("zero_grad:optimizer forward:model=train,grad loss step:optimizer", 20)
        ),
    }
    FAULTY = {
        "taken out of the graph behind the model": lambda: trained(
            _UNREACHED,
            FunctionFact("detach@train.py:12", "detach", "graph cut", site=Site("train.py", 12)),
            losses=[1.0] * 40,
        ),
        "a loss made from a number": lambda: trained(_UNREACHED, losses=[1.0] * 40),
    }


def _root(wire: Wire) -> tuple[str, ...]:
    """The part of the model that a parameter belongs to."""
    return tuple(wire.name.split(".")[:2])


_IDLE = Layer("extra", executed=False, gradient=None, update=0.0)


class UnusedModules(Detector, code="D226", needs_fixed_data=True):
    """Layers of the model are given to the optimiser but never executed.

    They may be left over from an earlier version, or forward() was meant to call them.
    Usual causes: a block that forward() skips, a layer that was renamed.
    """

    least_looks = convention(4, "closely observed steps; parts that take turns are used on one of them")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for model, own in by_model(trace).items():
            if not plain_execution(trace, model) or not any(wire.flows for wire in own):
                continue
            idle = [wire for wire in own if self._idle(wire)]
            # `nn.TransformerEncoder(layer, 6)` copies the layer that it is given: the original rests.
            originals = {_root(wire) for wire in idle if wire.twin}
            idle = [wire for wire in idle if _root(wire) not in originals]
            if not idle:
                continue
            part = Part(model, own, idle)
            message = f"`{few(part.layers)}` ({part.words}) were never executed."
            place = part.layers[0], idle[0].created
            yield self.symptom(message, place, part.share, 0.0, part.detail, first_step=0)

    def _idle(self, wire: Wire) -> bool:
        unused = not wire.executed and not wire.measured and wire.changed is False
        known = wire.module is not None and wire.module.registered and wire.looks >= self.least_looks
        return wire.held and wire.fact.trainable and known and unused

    HEALTHY = {
        "all are used": lambda: trained(Layer("a"), Layer("b")),
        "its weights are used by a function": lambda: trained(
            Layer("a"), replace(_IDLE, gradient=0.1, update=0.01)
        ),
        "a compiled model hides its layers": lambda: trained(*network(_IDLE)[2:]),
        "the original of layers that were copied from it": lambda: trained(
            Layer("stack.0", start=9), Layer("stack.1", start=9), replace(_IDLE, start=9)
        ),
    }
    FAULTY = {"a block is left out": lambda: trained(Layer("a"), _IDLE, Layer("b"), losses=[1.0] * 40)}
