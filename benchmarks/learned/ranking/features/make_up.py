"""The network's make-up: activations, normalisation and dropout per layer, widths, kernels."""

from __future__ import annotations

from collections import Counter

from netmend.diagnose.measures.chain import RECTIFIERS, Link, linear_pairs
from netmend.library.activations import SQUASHING
from netmend.vocabulary import FunctionFact, ModuleFact, Trace
from ranking.features.network import hidden_links
from ranking.features.numbers import NAN, decades, highest, lowest, share

WORDS = {
    "layers": "number of layers with weights, in decades",
    "activations_per_layer": "hidden activations per hidden layer",
    "squashing_share": "share of hidden activations that squash",
    "rectifier_share": "share of hidden activations that rectify",
    "activations_alike": "share of hidden activations that are of the most frequent kind",
    "joined_layers": "share of layers that follow another without an activation",
    "norms_per_layer": "normalisations per layer with weights",
    "narrowest": "decades of the narrowest hidden layer over the output's width",
    "narrowest_by_widest": "decades of the narrowest hidden layer over the widest",
    "narrowest_by_input": "decades of the narrowest hidden layer over the input's width",
    "kernel_largest": "largest kernel, relative to the map it runs over",
    "kernel_smallest": "smallest kernel, relative to the map it runs over",
    "biasless": "share of layers with weights that have no bias",
    "dropout_highest": "highest dropout rate",
    "dropout_layers": "number of dropout layers",
    "parameters_per_output": "decades of parameters per output unit",
}


def of(trace: Trace) -> dict[str, float]:
    links = hidden_links(trace)
    layers = [link for link in links if link.kind in ("linear", "recurrent")]
    functions = [link.function for link in links if link.kind == "activation"]
    widths = [_width(link) for link in layers if link.shape]
    first = next(
        (link.module.input_shapes[0] for link in layers if link.module and link.module.input_shapes), ()
    )
    inputs = float(first[-1] if len(first) < 3 else first[1]) if len(first) > 1 else NAN
    rates = _dropout_rates(trace)
    kernels = [size for link in layers if (size := _kernel(link)) is not None]
    total = sum(model.parameters for model in trace.models)
    return {
        "layers": decades(float(len(layers)), 1.0) if layers else NAN,
        "activations_per_layer": share(len(functions), len(layers) - 1),
        "squashing_share": share(sum(name in SQUASHING for name in functions), len(functions)),
        "rectifier_share": share(sum(name in RECTIFIERS for name in functions), len(functions)),
        "activations_alike": share(max(Counter(functions).values(), default=0), len(functions)),
        "joined_layers": share(sum(1 for _ in linear_pairs(trace)), len(layers)),
        "norms_per_layer": share(sum(_normalises(link) for link in links), len(layers)),
        "narrowest": decades(min(widths[:-1], default=NAN), widths[-1] if widths else NAN),
        "narrowest_by_widest": decades(min(widths[:-1], default=NAN), max(widths[:-1], default=NAN)),
        "narrowest_by_input": decades(min(widths[:-1], default=NAN), inputs),
        "kernel_largest": highest(kernels),
        "kernel_smallest": lowest(kernels),
        "biasless": share(
            sum(link.module.settings.get("bias") is False for link in layers if link.module), len(layers)
        ),
        "dropout_highest": max(rates, default=0.0),
        "dropout_layers": float(len(rates)),
        "parameters_per_output": decades(float(total), widths[-1]) if widths else NAN,
    }


def _dropout_rates(trace: Trace) -> list[float]:
    settings = [fact.settings for fact in trace.all(ModuleFact) if "Dropout" in fact.kind]
    settings += [fact.settings for fact in trace.all(FunctionFact) if fact.kind == "dropout"]
    return [float(rate) for each in settings if isinstance(rate := each.get("p"), int | float)]


def _kernel(link: Link) -> float | None:
    """Size of a filter relative to its input, along the axis on which it is largest."""
    if link.module is None or not link.module.input_shapes:
        return None
    size = link.module.settings.get("kernel_size")
    sizes = [size] if isinstance(size, int) else list(size) if isinstance(size, list | tuple) else []
    extents = link.module.input_shapes[0][-len(sizes) :] if sizes else ()
    return max((float(a) / b for a, b in zip(sizes, extents, strict=False) if b), default=None)


def _normalises(link: Link) -> bool:
    return link.kind == "norm" or (link.module is not None and "Norm" in link.module.kind)


def _width(link: Link) -> float:
    """Units of a layer: the second axis of maps, the last one of everything else."""
    convolution = link.module is not None and "Conv" in link.module.kind
    return float(link.shape[1] if convolution and len(link.shape) > 1 else link.shape[-1])
