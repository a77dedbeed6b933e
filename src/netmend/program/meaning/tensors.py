"""Is a value a tensor for certain, and does it come straight out of a loader?"""

from __future__ import annotations

import ast

from netmend.program.engine.values import Call, Const, Either, Element, Item, Operation, Value, resolved
from netmend.program.meaning.operations import operation
from netmend.program.meaning.roles import LOADER, role

_TENSOR_FUNCTIONS = frozenset(
    (
        "tensor", "as_tensor", "from_numpy", "zeros", "ones", "rand", "randn", "randint", "empty", "full", "arange", "linspace", "eye", "zeros_like",
        "ones_like", "rand_like", "randn_like", "empty_like", "full_like", "Tensor", "FloatTensor", "LongTensor", "stack", "cat", "matmul", "mm", "bmm",
        "einsum", "softmax", "sigmoid", "tanh", "relu", "exp", "log", "sqrt", "mean", "sum", "argmax", "clamp", "where", "abs", "norm", "log_softmax",
        "randperm", "bernoulli", "normal", "cross_entropy", "mse_loss", "nll_loss", "one_hot", "pad", "interpolate", "squeeze", "unsqueeze", "reshape",
        "flatten", "transpose", "permute", "gather", "multinomial", "dropout", "linear", "conv2d", "binary_cross_entropy_with_logits", "l1_loss",
        "binary_cross_entropy", "smooth_l1_loss", "normalize",
    )
)  # fmt: skip
_NO_TENSOR = frozenset(
    ("item", "tolist", "numpy", "size", "dim", "backward", "numel", "data_ptr", "element_size", "get_device", "is_contiguous", "register_hook",
     "max", "min", "sort", "topk", "split", "chunk", "unbind", "nelement", "stride", "storage", "is_floating_point", "type", "apply_", "map_")
)  # fmt: skip
_SINGLE_LAYERS = frozenset(("linear", "conv1d", "conv2d", "conv3d", "embedding", "relu", "batchnorm1d", "batchnorm2d", "layernorm", "dropout", "flatten",
                            "sigmoid", "tanh", "softmax", "gelu", "crossentropyloss", "mseloss", "bcewithlogitsloss", "bceloss", "nllloss", "l1loss"))  # fmt: skip


def is_tensor(value: Value | None, depth: int = 0) -> bool:
    """Made by torch on every path, as far as the text tells."""
    if value is None or depth > 30 or _makes_an_object(value):
        return False
    value = resolved(value)
    if isinstance(value, Either):
        return all(is_tensor(option, depth + 1) for option in value.options)
    if isinstance(value, Operation):
        if value.operator not in ("+", "-", "*", "/", "@", "**", "neg", "//", "%"):
            return False
        return any(is_tensor(operand, depth + 1) for operand in value.operands)
    if isinstance(value, Item):
        return is_tensor(value.base, depth + 1)
    if not isinstance(value, Call):
        return False
    package, _, name = value.qualified.rpartition(".")
    if package in ("torch", "torch.nn.functional"):
        return name in _TENSOR_FUNCTIONS
    if value.method:
        return value.method not in _NO_TENSOR and is_tensor(value.receiver, depth + 1)
    op = operation(value)
    return op is not None and op.layer is not None and op.name in _SINGLE_LAYERS


def _makes_an_object(value: Value) -> bool:
    """`cls(...)` in a class method."""
    function = value.node.func if isinstance(value, Call) and value.node is not None else None
    return isinstance(function, ast.Name) and function.id == "cls"


def loader_part(value: Value | None) -> tuple[Value, object] | None:
    """`(loader, 0)` for the `x` of `for x, y in loader`; the loader must be one by its making or its name."""
    value = resolved(value)
    if (
        not isinstance(value, Item)
        or not isinstance(value.key, Const)
        or not isinstance(value.key.value, int)
    ):
        return None
    batch = resolved(value.base)
    if isinstance(batch, Element) and role(batch.iterable) == LOADER:
        return resolved(batch.iterable), value.key.value
    return None
