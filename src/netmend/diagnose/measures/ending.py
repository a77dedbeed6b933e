"""Ending: whether a run came to the end that its program planned, and where in the network it was when it raised.

One that was interrupted, was killed, crashed or still runs is judged on what it shows; its length, and what had not happened yet, say nothing.
"""

from __future__ import annotations

from netmend.diagnose.measures.batches import epochs
from netmend.vocabulary import ModuleFact, Trace

_LONG_PASSES = 2.0  # passes over the data after which a curve has shown what it does
_LONG_STEPS = 1000  # the same in updates where the amount of data is not known


def finished(trace: Trace) -> bool:
    """Whether the program came to its end by itself."""
    return trace.run.status == "finished"


def cut_short(trace: Trace) -> bool:
    """Whether a run ended before its time, and too early for its curve to say how fast it learns."""
    passes = epochs(trace)
    long = trace.run.steps >= _LONG_STEPS if passes is None else passes >= _LONG_PASSES
    return not finished(trace) and not long


def failing_layer(trace: Trace) -> ModuleFact | None:
    """The innermost layer that was called and never returned: it raised."""
    open_ones = [
        module
        for module in trace.all(ModuleFact)
        if module.order is not None and module.leaf and module.input_shapes and not module.output_shapes
    ]
    return max(open_ones, key=lambda module: module.order or 0, default=None)


def layer_before(trace: Trace, layer: ModuleFact) -> ModuleFact | None:
    """The last layer with weights that returned before it."""
    owners = {parameter.module for parameter in trace.parameters}
    earlier = [
        module
        for module in trace.all(ModuleFact)
        if module.leaf
        and module.model == layer.model
        and module.order is not None
        and module.order < (layer.order or 0)
        and module.output_shapes
        and module.name in owners
    ]
    return max(earlier, key=lambda module: module.order or 0, default=None)
