"""One layer of a configuration as PyTorch writes it, and the shape that leaves it."""

from __future__ import annotations

from math import prod

from bench.faults22.configuration import Layer
from bench.faults22.styles import LOG, LOGITS, PROBABILITIES, Style

Shape = tuple[int, ...]  # one number, or height, width, channels as published

MODULES = {
    "relu": "nn.ReLU()",
    "selu": "nn.SELU()",
    "sigmoid": "nn.Sigmoid()",
    "softsign": "nn.Softsign()",
    "softmax": "nn.Softmax(dim=1)",
    "log_softmax": "nn.LogSoftmax(dim=1)",
    "hard_sigmoid": "HardSigmoid()",
}
FUNCTIONS = {
    "relu": "F.relu({})",
    "selu": "F.selu({})",
    "sigmoid": "torch.sigmoid({})",
    "softsign": "F.softsign({})",
    "hard_sigmoid": "hard_sigmoid({})",
    "linear": "{}",
}


def after(layer: Layer, shape: Shape) -> Shape:
    """The shape of one sample after the layer."""
    if layer.kind == "dense":
        return (layer.units,)
    if layer.kind == "conv2d":
        lost = 0 if layer.padding == "same" else layer.kernel - 1
        return (shape[0] - lost, shape[1] - lost, layer.filters)
    if layer.kind == "maxpool2d":
        return (shape[0] // layer.pool, shape[1] // layer.pool, shape[2])
    if layer.kind == "flatten":
        return (prod(shape),)
    return shape


def creation(layer: Layer, shape: Shape) -> str:
    """The call that makes the layer; "" for one that is only an activation."""
    if layer.kind == "dense":
        return f"nn.Linear({shape[0]}, {layer.units})"
    if layer.kind == "conv2d":
        padding = f", padding={layer.kernel // 2}" if layer.padding == "same" else ""
        return f"nn.Conv2d({shape[2]}, {layer.filters}, kernel_size={layer.kernel}{padding})"
    if layer.kind == "maxpool2d":
        return f"nn.MaxPool2d({layer.pool})"
    if layer.kind == "flatten":
        return "nn.Flatten()"
    if layer.kind == "dropout":
        return f"nn.Dropout({layer.rate})"
    return ""


def written_activation(layer: Layer, style: Style, is_last: bool, units: int) -> str:
    """The activation that stands in the network: one may be part of the loss, or have a logarithm more."""
    if is_last and layer.activation == "sigmoid" and style.softmax == LOGITS:
        return "linear"
    if not is_last or layer.activation != "softmax" or style.softmax == PROBABILITIES or units == 1:
        return layer.activation
    return "log_softmax" if style.softmax == LOG else "linear"
