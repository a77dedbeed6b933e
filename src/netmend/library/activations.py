"""The activation functions of PyTorch: what they are called as layer, function and method, and what their values lie between."""

from __future__ import annotations

import math
from dataclasses import dataclass

_INF = math.inf


@dataclass(frozen=True)
class Activation:
    """One activation, under the name that a trace has for it."""

    name: str  # "leaky_relu"
    layer: str  # "LeakyReLU"
    low: float = -_INF  # of its values
    high: float = _INF
    across: bool = False  # normalises over units instead of treating each by itself
    squashes: bool = False  # flat at both ends
    namespace: str = "torch.nn.functional"  # where its plainest function lives

    @property
    def bounded(self) -> bool:
        """Whether its values have an end that they come close to, on whatever numbers; a small negative dip does not count."""
        return self.squashes or self.across or self.low == 0.0 or self.high == 0.0

    @property
    def function(self) -> str:
        return f"{self.namespace}.{self.name}"


ACTIVATIONS = (
    Activation("relu", "ReLU", 0.0, namespace="torch"),
    Activation("relu6", "ReLU6", 0.0, 6.0),
    Activation("leaky_relu", "LeakyReLU"),
    Activation("prelu", "PReLU"),
    Activation("rrelu", "RReLU"),
    Activation("elu", "ELU", -1.0),
    Activation("selu", "SELU", -1.7581),
    Activation("celu", "CELU", -1.0),
    Activation("gelu", "GELU", -0.17),
    Activation("silu", "SiLU", -0.2785),
    Activation("mish", "Mish", -0.3089),
    Activation("sigmoid", "Sigmoid", 0.0, 1.0, squashes=True, namespace="torch"),
    Activation("logsigmoid", "LogSigmoid", high=0.0),
    Activation("hardsigmoid", "Hardsigmoid", 0.0, 1.0, squashes=True),
    Activation("hardswish", "Hardswish", -0.375),
    Activation("tanh", "Tanh", -1.0, 1.0, squashes=True, namespace="torch"),
    Activation("hardtanh", "Hardtanh", -1.0, 1.0, squashes=True),
    Activation("softplus", "Softplus", 0.0),
    Activation("softsign", "Softsign", -1.0, 1.0, squashes=True),
    Activation("softmax", "Softmax", 0.0, 1.0, across=True, namespace="torch"),
    Activation("log_softmax", "LogSoftmax", high=0.0, across=True),
    Activation("softmin", "Softmin", 0.0, 1.0, across=True),
    Activation("threshold", "Threshold"),
    Activation("glu", "GLU"),
)

ACTIVATION_LAYERS = {each.layer: each.name for each in ACTIVATIONS}
LAYER_OF_ACTIVATION = {each.name: each.layer for each in ACTIVATIONS}
SQUASHING = tuple(each.name for each in ACTIVATIONS if each.squashes)
RELU_LIKE = ("relu", "relu6", "leaky_relu", "threshold")  # may be silent for good
ACROSS_UNITS = tuple(each.name for each in ACTIVATIONS if each.across)
SHARES = ("sigmoid", "softmax", "hardsigmoid")  # give values that people read as probabilities
# What a last layer's scores go through where answers are made of them; `exp` is a function, no layer.
OF_ANSWERS = (
    "softmax",
    "log_softmax",
    "sigmoid",
    "hardsigmoid",
    "tanh",
    "hardtanh",
    "relu",
    "softplus",
    "softsign",
    "exp",
)


def layers(*names: str) -> dict[str, str]:
    """Names of functions → names of layers, for a few."""
    return {name: LAYER_OF_ACTIVATION[name] for name in names}
