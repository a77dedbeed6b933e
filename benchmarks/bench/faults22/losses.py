"""The loss of a configuration, and how labels and hits look beside it."""

from __future__ import annotations

from dataclasses import dataclass

from bench.faults22.configuration import Configuration
from bench.faults22.styles import LOG, LOGITS, Style

_CLASSES = {LOG: "nn.NLLLoss()", LOGITS: "nn.CrossEntropyLoss()"}
_PLAIN = {
    "binary_crossentropy": "nn.BCELoss()",
    "mean_squared_error": "nn.MSELoss()",
    "mean_absolute_error": "nn.L1Loss()",
}
# Keras divides by the sum and clips; with a softmax before it, the division changes nothing.
_CROSS_ENTROPY = """\
def cross_entropy(probabilities, targets):
    probabilities = probabilities / probabilities.sum(dim=1, keepdim=True)
    probabilities = probabilities.clamp(1e-7, 1 - 1e-7)
    return -(targets * torch.log(probabilities)).sum(dim=1).mean()"""
_HINGE = """\
def hinge(outputs, targets):
    signs = 2 * targets - 1
    return torch.clamp(1 - signs * outputs, min=0).mean()"""


@dataclass(frozen=True)
class Loss:
    """What the program says about its loss."""

    name: str  # how it is called
    line: str = ""  # that makes it
    function: str = ""  # its definition, for one's own


def loss_of(configuration: Configuration, style: Style) -> Loss:
    kind = configuration.loss
    if kind == "binary_crossentropy" and style.softmax == LOGITS:
        return Loss("criterion", line="criterion = nn.BCEWithLogitsLoss()")
    if kind in _PLAIN:
        return Loss("criterion", line=f"criterion = {_PLAIN[kind]}")
    if kind == "hinge":
        return Loss("hinge", function=_HINGE)
    if style.softmax in _CLASSES:
        return Loss("criterion", line=f"criterion = {_CLASSES[style.softmax]}")
    return Loss("cross_entropy", function=_CROSS_ENTROPY)


def penalties(configuration: Configuration, weights: dict[int, str]) -> list[tuple[int, str]]:
    """Lines that add to the loss, with the layer they are about."""
    return [
        (layer.index, f"loss = loss + {layer.l1:g} * {weights[layer.index]}.weight.abs().sum()")
        for layer in configuration.layers
        if layer.l1
    ]


def hits(configuration: Configuration, style: Style, outputs: str, labels: str) -> str:
    """An expression: for every sample, whether the outputs are right."""
    if _units(configuration) == 1:
        border = "0" if style.softmax == LOGITS else "0.5"
        return f"(({outputs} > {border}).float() == {labels})"
    if style.one_hot:
        return f"({outputs}.argmax(dim=1) == {labels}.argmax(dim=1))"
    return f"({outputs}.argmax(dim=1) == {labels})"


def _units(configuration: Configuration) -> int:
    return next(layer.units for layer in reversed(configuration.layers) if layer.units)
