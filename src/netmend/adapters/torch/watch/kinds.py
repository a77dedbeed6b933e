"""What kinds of modules and functions do, where netmend must know: activation functions and the axis of units."""

from __future__ import annotations

from torch import nn

from netmend.library.activations import ACTIVATIONS
from netmend.library.operations import INTEGERS, LEAVES_GRAPH, WITHOUT_DERIVATIVE

ACTIVATION_MODULES = {getattr(nn, each.layer): each.name for each in ACTIVATIONS}

# Functional forms by the name under which the framework reports them.
ACTIVATION_FUNCTIONS = {
    **{name: name for name in ACTIVATION_MODULES.values()},
    **{
        f"{name}_": name
        for name in ("relu", "leaky_relu", "elu", "selu", "sigmoid", "tanh", "hardtanh", "threshold", "silu")
    },
    "_softmax": "softmax",
    "swish": "silu",
}
DROPOUT_FUNCTIONS = ("dropout", "alpha_dropout", "dropout1d", "dropout2d", "dropout3d", "feature_dropout")
FUSED_ATTENTION = "scaled_dot_product_attention"
CUT_FUNCTIONS = (*LEAVES_GRAPH, *WITHOUT_DERIVATIVE, "data", *INTEGERS)

NORMS = (nn.modules.batchnorm._NormBase, nn.GroupNorm, nn.LayerNorm)
_CHANNELS_FIRST = (
    nn.modules.conv._ConvNd,
    nn.modules.batchnorm._NormBase,
    nn.GroupNorm,
    nn.modules.pooling._MaxPoolNd,
    nn.modules.pooling._AvgPoolNd,
)
_FEATURES_LAST = (nn.Linear, nn.LayerNorm, nn.RNNBase, nn.Embedding, nn.MultiheadAttention, nn.Bilinear)


def activation_of(module: nn.Module) -> str | None:
    for kind, name in ACTIVATION_MODULES.items():
        if isinstance(module, kind):
            return name
    return None


def channel_axis(module: nn.Module) -> int | None:
    """The axis along which the units of a module's output lie; None when it passes its input's layout on."""
    if isinstance(module, _CHANNELS_FIRST):
        return 1
    return -1 if isinstance(module, _FEATURES_LAST) else None


def is_compiled(module: nn.Module) -> bool:
    """What torch.compile returns for a module; told without importing the compiler, which takes seconds."""
    return type(module).__name__ == "OptimizedModule" and type(module).__module__.startswith("torch._dynamo")
