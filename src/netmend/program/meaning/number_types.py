"""Which type of number a tensor or array holds, where the text tells, and whether it is a tensor for certain."""

from __future__ import annotations

import ast

from netmend.library.operations import AXES, COPIES, FROM_ARRAYS, TURNS, VIEWS
from netmend.program.engine.values import (
    Call,
    Collection,
    Const,
    Either,
    Element,
    Item,
    Name,
    Operation,
    Value,
    resolved,
)
from netmend.program.meaning.operations import operation
from netmend.program.meaning.roles import LOADER, role

INT, FLOAT32, FLOAT64, BOOL, UNKNOWN = "int", "float32", "float64", "bool", ""

_NAMES = {
    "long": INT, "int": INT, "int64": INT, "int32": INT, "int16": INT, "short": INT, "int8": INT, "uint8": INT, "float": FLOAT32,
    "float32": FLOAT32, "double": FLOAT64, "float64": FLOAT64, "bool": BOOL, "bool_": BOOL, "LongTensor": INT, "IntTensor": INT,
    "FloatTensor": FLOAT32, "DoubleTensor": FLOAT64, "Tensor": FLOAT32, "BoolTensor": BOOL, "ByteTensor": INT,
}  # fmt: skip
_FLOAT_MAKERS = ("zeros", "ones", "rand", "randn", "empty", "linspace", "logspace", "eye", "normal")
_INT_MAKERS = ("randint", "randperm", "argmax", "argmin", "argsort", "bincount")
_NUMPY_FLOAT64 = (
    "numpy.random.rand", "numpy.random.randn", "numpy.random.random", "numpy.random.uniform", "numpy.random.normal", "numpy.linspace",
    "numpy.random.random_sample", "numpy.random.standard_normal", "numpy.zeros", "numpy.ones", "numpy.eye", "numpy.random.multivariate_normal",
)  # fmt: skip
# take the type as their second argument
_TYPED_SECOND = frozenset(("numpy.zeros", "numpy.ones", "numpy.empty", "numpy.array", "numpy.asarray"))
_KEEP = frozenset(
    (
        *VIEWS,
        *COPIES,
        "copy",
        "cpu",
        "cuda",
        "detach",
        "expand",
        "repeat",
        "t",
        "ravel",
        "requires_grad_",
        "astype_",
        "swapaxes",
        "tile",
        "numpy",
        "abs",
        "clip",
        "clamp",
    )
)
_KEEP_FUNCTIONS = frozenset(
    (
        *FROM_ARRAYS,
        *AXES,
        *TURNS,
        "stack",
        "cat",
        "concatenate",
        "vstack",
        "hstack",
        "expand_dims",
        "reshape",
        "flatten",
        "column_stack",
    )
)


def dtype(value: Value | None, depth: int = 0) -> str:
    """The type of number; a path that cannot be told makes the whole unknown."""
    if value is None or depth > 40:
        return UNKNOWN
    value = resolved(value)
    if isinstance(value, Either):
        found = {dtype(option, depth + 1) for option in value.options}
        return found.pop() if len(found) == 1 else UNKNOWN
    if isinstance(value, Item):
        base = resolved(value.base)
        return dtype(base, depth + 1) if isinstance(base, Call | Item | Operation) else UNKNOWN
    if isinstance(value, Operation):
        return _computed(value, depth)
    if isinstance(value, Call):
        return _called(value, depth)
    return UNKNOWN


def _called(call: Call, depth: int) -> str:
    if call.open:
        return UNKNOWN
    given = call.keywords.get("dtype")
    if given is None and call.qualified in _TYPED_SECOND and len(call.args) > 1:
        given = call.args[1]
    if given is not None and not (isinstance(given, Const) and given.value is None):
        return named(given, numpy=call.qualified.startswith("numpy."))
    if call.method:
        return _method(call, depth)
    package, _, name = call.qualified.rpartition(".")
    if call.qualified in _NUMPY_FLOAT64:
        return FLOAT64
    if call.qualified in ("numpy.array", "numpy.asarray", "torch.tensor", "torch.as_tensor") and call.args:
        return _literal(call.args[0], FLOAT64 if package == "numpy" else FLOAT32, depth)
    if call.qualified == "numpy.random.randint":
        return INT
    if package in ("torch", "torch.cuda") and name in (
        "FloatTensor",
        "Tensor",
        "LongTensor",
        "DoubleTensor",
        "IntTensor",
    ):
        return _NAMES[name]
    if package == "torch" and name in _FLOAT_MAKERS:
        return FLOAT32
    if package == "torch" and name in _INT_MAKERS:
        return INT
    if call.qualified in ("numpy.argmax", "torch.nn.functional.one_hot"):
        return INT
    if call.qualified in ("torch.arange", "numpy.arange"):
        whole = all(isinstance(part, Const) and type(part.value) is int for part in call.args)
        return INT if whole and call.args else UNKNOWN
    if package in ("torch", "numpy") and name in _KEEP_FUNCTIONS and call.args:
        first = resolved(call.args[0])
        if isinstance(first, Collection):
            kinds = {dtype(item, depth + 1) for item in first.items}
            return kinds.pop() if len(kinds) == 1 and not first.open else UNKNOWN
        return dtype(first, depth + 1)
    return UNKNOWN


def _method(call: Call, depth: int) -> str:
    name = call.method
    if name in ("to", "type", "astype"):
        found = next((named(arg, numpy=name == "astype") for arg in call.args if named(arg)), UNKNOWN)
        if found:
            return found
        is_device = name == "to" and len(call.args) == 1 and _is_device(call.args[0])
        return dtype(call.receiver, depth + 1) if is_device else UNKNOWN
    if name in ("long", "int", "float", "double", "bool", "short"):
        return _NAMES[name]
    if name in ("argmax", "argmin", "argsort"):
        return INT
    return dtype(call.receiver, depth + 1) if name in _KEEP else UNKNOWN


def _is_device(value: Value) -> bool:
    value = resolved(value)
    if isinstance(value, Either):
        return all(_is_device(option) for option in value.options)
    if isinstance(value, Call):
        return value.qualified == "torch.device"
    return isinstance(value, Const) and isinstance(value.value, str | int)


def named(value: Value, *, numpy: bool = False) -> str:
    """`int` for `torch.long`, `np.int64`, `"int64"`; the builtin `float` is 64 bits wide in numpy."""
    value = resolved(value)
    if isinstance(value, Const) and isinstance(value.value, str):
        short = value.value.removeprefix("torch.")
    elif isinstance(value, Name):
        if value.qualified in ("float", "int", "bool"):
            return {"float": FLOAT64 if numpy else FLOAT32, "int": INT, "bool": BOOL}[value.qualified]
        package, _, short = value.qualified.rpartition(".")
        if package not in ("torch", "numpy"):
            return UNKNOWN
    else:
        return UNKNOWN
    return _NAMES.get(short, UNKNOWN)


def _literal(value: Value, float_type: str, depth: int) -> str:
    """The type that numbers written out get."""
    numbers = list(_numbers(value))
    if numbers and all(number is not None for number in numbers):
        if all(type(number) is bool for number in numbers):
            return BOOL
        if all(type(number) is int for number in numbers):
            return INT
        return float_type if all(type(number) in (int, float) for number in numbers) else UNKNOWN
    return dtype(value, depth + 1)


def _numbers(value: Value) -> list[object]:
    value = resolved(value)
    if isinstance(value, Const):
        return [value.value]
    if isinstance(value, Operation) and value.operator == "neg":
        return _numbers(value.operands[0])
    if isinstance(value, Collection) and value.kind in ("list", "tuple") and not value.open:
        return [number for item in value.items for number in _numbers(item)]
    return [None]


def _computed(value: Operation, depth: int) -> str:
    if value.operator not in ("+", "-", "*", "/", "**", "neg"):
        return UNKNOWN
    kinds = set()
    for operand in value.operands:
        operand = resolved(operand)
        if isinstance(operand, Const):
            if type(operand.value) is float:
                kinds.add("real")
            elif type(operand.value) is not int:
                return UNKNOWN
            continue
        kinds.add(dtype(operand, depth + 1))
    kinds_of_arrays = kinds - {"real"}
    if len(kinds_of_arrays) != 1:
        return UNKNOWN
    kind = kinds_of_arrays.pop()
    if kind == INT and ("real" in kinds or value.operator == "/"):
        return UNKNOWN  # 32 bits in torch, 64 in numpy
    return kind


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
    if not isinstance(value, Item) or not isinstance(value.key, Const):
        return None
    if not isinstance(value.key.value, int):
        return None
    batch = resolved(value.base)
    if isinstance(batch, Element) and role(batch.iterable) == LOADER:
        return resolved(batch.iterable), value.key.value
    return None
