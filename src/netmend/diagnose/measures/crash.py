"""Crash: where in the network the program was when it raised."""

from __future__ import annotations

from netmend.vocabulary import ModuleFact, Trace


def failing_layer(trace: Trace) -> ModuleFact | None:
    """The innermost layer that was called and never returned: it raised."""
    open_ones = [
        module
        for module in trace.all(ModuleFact)
        if module.order is not None and module.leaf and module.input_shapes and not module.output_shapes
    ]
    return max(open_ones, key=lambda module: module.order or 0, default=None)


def layer_before(trace: Trace, layer: ModuleFact, weighted: bool = True) -> ModuleFact | None:
    """The last layer (with weights) that returned before it."""
    owners = {parameter.module for parameter in trace.parameters}
    earlier = [
        module
        for module in trace.all(ModuleFact)
        if module.leaf
        and module.model == layer.model
        and module.order is not None
        and module.order < (layer.order or 0)
        and module.output_shapes
        and (not weighted or module.name in owners)
    ]
    return max(earlier, key=lambda module: module.order or 0, default=None)
