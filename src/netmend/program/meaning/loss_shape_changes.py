"""What single operations do to a shape."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from netmend.program.engine.values import Call, Collection, Const, Operation, Value, constant, resolved
from netmend.program.meaning.heads import width
from netmend.program.meaning.operations import ACTIVATIONS, Op, operation

Size = Hashable | None  # a number, a symbol, or None where nothing is known
Shape = tuple[Size, ...]
Change = Callable[[Call, "Op | None", Shape], "Shape | None"]

SAME = (ACTIVATIONS - {"glu"}) | frozenset(
    (
        "sin", "cos", "tan", "exp", "log", "abs", "sqrt", "square", "sign", "float", "double", "half", "long", "int", "bool", "to", "type",
        "contiguous", "clone", "detach", "cpu", "cuda", "numpy", "clamp", "round", "pow", "neg", "astype", "dropout", "batchnorm1d",
        "batchnorm2d", "batchnorm3d", "layernorm", "identity", "zeros_like", "ones_like", "randn_like", "rand_like", "full_like", "cumsum",
        "log1p", "expm1", "tensor", "as_tensor", "from_numpy", "asarray", "array", "requires_grad_", "copy", "type_as", "float32",
        "bernoulli", "erf", "floor", "ceil", "sinh", "cosh", "atan", "asin", "acos", "nan_to_num", "mod", "log10", "log2", "dropout2d",
        "groupnorm", "empty_like", "clip",
    )
)  # fmt: skip


def named(call: Call) -> tuple[str, tuple[Value, ...]]:
    """The plain name of a torch or numpy operation, and its inputs."""
    if call.qualified.startswith("numpy."):
        return call.qualified.rpartition(".")[2], call.args
    if call.qualified in ("torch.FloatTensor", "torch.LongTensor", "torch.Tensor"):
        return "tensor", call.args
    op = operation(call)
    return (op.name, op.inputs) if op is not None else ("", ())


def number(value: Value) -> Size:
    value = resolved(value)
    if isinstance(value, Const) and isinstance(value.value, int):
        return value.value
    return ("size", id(value))


def given_size(value: Value | None) -> Shape | None:
    """`size=(n, 3)`, `size=n`; a name of unknown kind may be either."""
    value = resolved(value)
    if isinstance(value, Collection):
        return tuple(number(item) for item in value.items) if not value.open else None
    if isinstance(value, Const) and isinstance(value.value, int):
        return (value.value,)
    is_number = isinstance(value, Operation) or (
        isinstance(value, Call) and value.qualified in ("len", "int")
    )
    return (None,) if is_number else None


def broadcast(shapes: Sequence[Shape | None]) -> Shape | None:
    """The shape of an element-wise operation."""
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes):
        return None
    rank = max((len(shape) for shape in known), default=0)
    joined: list[Size] = []
    for axis in range(-rank, 0):
        sizes = [shape[axis] for shape in known if -axis <= len(shape)]
        joined.append(next((size for size in sizes if size != 1), 1))
    return tuple(joined)


def reduced(call: Call, inner: Shape | None, whole: bool = True) -> Shape | None:
    """`mean(1)`, `sum(dim=(1, 2), keepdim=True)`; without an axis a number, unless `whole` is not meant."""
    if inner is None:
        return None
    given = _argument(call, 0, "dim", "axis")
    if given is None or constant(given, 0) is None:
        return () if whole else None
    axes = [constant(item) for item in given.items] if isinstance(given, Collection) else [constant(given)]
    if not all(isinstance(axis, int) and -len(inner) <= axis < len(inner) for axis in axes):
        return None
    keep = _argument(call, 1, "keepdim", "keepdims")
    if keep is not None and not isinstance(keep, Const):
        return None
    gone = {axis % len(inner) for axis in axes}
    if keep is not None and constant(keep):
        return tuple(1 if axis in gone else size for axis, size in enumerate(inner))
    return tuple(size for axis, size in enumerate(inner) if axis not in gone)


def best(call: Call, inner: Shape | None) -> Shape | None:
    """`topk(5)`, `topk(5, dim=1)`: as many along one axis, the last one unless another is named."""
    count, given = _argument(call, 0, "k"), _argument(call, 1, "dim")
    axis = -1 if given is None else constant(given)
    if not inner or count is None or not isinstance(axis, int) or not -len(inner) <= axis < len(inner):
        return None
    axis %= len(inner)
    return (*inner[:axis], number(count), *inner[axis + 1 :])


def stacked(call: Call, name: str, parts: Value, inner: Shape | None) -> Shape | None:
    """`torch.stack([a, b], 1)`, `torch.cat([a, b])`."""
    given = call.keywords.get("dim", call.keywords.get("axis", call.args[1] if len(call.args) > 1 else None))
    axis = constant(given) if given is not None else 0
    if inner is None or not isinstance(axis, int) or not isinstance(parts, Collection):
        return None
    if name == "stack":
        axis %= len(inner) + 1
        return (*inner[:axis], len(parts.items) if not parts.open else None, *inner[axis:])
    if not -len(inner) <= axis < len(inner):
        return None
    axis %= len(inner)
    return (*inner[:axis], None, *inner[axis + 1 :])


def _argument(call: Call, position: int, *names: str) -> Value | None:
    for name in names:
        if name in call.keywords:
            return call.keywords[name]
    position += 0 if call.method else 1
    return call.args[position] if len(call.args) > position else None


def _axis(call: Call, rank: int) -> int | None:
    axis = constant(_argument(call, 0, "dim"))
    return axis % rank if isinstance(axis, int) and rank and -rank <= axis < rank else None


def _unsqueeze(call: Call, op: Op | None, inner: Shape) -> Shape | None:
    axis = _axis(call, len(inner) + 1)
    return None if axis is None else (*inner[:axis], 1, *inner[axis:])


def _squeeze(call: Call, op: Op | None, inner: Shape) -> Shape | None:
    if _argument(call, 0, "dim") is None:
        return tuple(size for size in inner if size != 1) if None not in inner else None
    axis = _axis(call, len(inner))
    if axis is None or inner[axis] is None:
        return None
    return (*inner[:axis], *inner[axis + 1 :]) if inner[axis] == 1 else inner


def _view(call: Call, op: Op | None, inner: Shape) -> Shape | None:
    given = list(call.args[0 if call.method else 1 :])
    if len(given) == 1 and isinstance(given[0], Collection) and not given[0].open:
        given = list(given[0].items)
    elif len(given) == 1 and not isinstance(given[0], Const):
        return None
    if not given or call.open:
        return None
    sizes = [None if constant(part) == -1 else number(part) for part in given]
    if sizes[0] is None and inner:
        # The rows stay rows where the rest is as before, or one column comes or goes.
        if inner[1:] == tuple(sizes[1:]) or (len(sizes) == 1 and inner[1:] == (1,)):
            return (inner[0], *sizes[1:])
        if sizes[1:] == [1] and len(inner) == 1:
            return (inner[0], 1)
    return tuple(sizes)


def laid_out(call: Call) -> Shape | None:
    """The shape after `view(-1, 784)` or `flatten(1)` of something whose shape is not known."""
    name, _ = named(call)
    if name == "flatten":
        op = operation(call)
        given = (
            op.layer.argument("start_dim", 0)
            if op is not None and op.layer is not None
            else _argument(call, 0, "start_dim")
        )
        start = constant(given) if given is not None else 1 if op is not None and op.layer is not None else 0
        return {0: (None,), 1: (None, None)}.get(start)
    return _view(call, None, ())


def _flatten(call: Call, op: Op | None, inner: Shape) -> Shape | None:
    if op is not None and op.layer is not None:
        given, start = op.layer.argument("start_dim", 0), 1
    else:
        given, start = _argument(call, 0, "start_dim"), 0
    start = constant(given) if given is not None else start
    if start not in (0, 1) or len(inner) <= start:
        return None
    if start == 0:
        return inner[:1] if len(inner) == 1 or inner[1:] == (1,) else (None,)
    return inner if len(inner) == 2 else (inner[0], None)


def _transpose(call: Call, op: Op | None, inner: Shape) -> Shape | None:
    axes = [constant(part) for part in call.args[0 if call.method else 1 :]]
    if len(axes) != 2 or not all(isinstance(axis, int) and -len(inner) <= axis < len(inner) for axis in axes):
        return None
    first, second = (axis % len(inner) for axis in axes)
    swapped = list(inner)
    swapped[first], swapped[second] = inner[second], inner[first]
    return tuple(swapped)


def _turned(call: Call, op: Op | None, inner: Shape) -> Shape | None:
    return inner[::-1] if len(inner) == 2 else None


def _linear(call: Call, op: Op | None, inner: Shape) -> Shape | None:
    return (*inner[:-1], width(op)) if inner else None


def _convolution(call: Call, op: Op | None, inner: Shape) -> Shape | None:
    return (inner[0], width(op), *(None for _ in inner[2:])) if len(inner) >= 3 else None


def _pooling(call: Call, op: Op | None, inner: Shape) -> Shape | None:
    return (*inner[:2], *(None for _ in inner[2:])) if len(inner) >= 3 else None


def _deeper(call: Call, op: Op | None, inner: Shape) -> Shape | None:
    return (*inner, None)


CHANGES: dict[str, Change] = {
    "unsqueeze": _unsqueeze, "squeeze": _squeeze, "view": _view, "reshape": _view, "flatten": _flatten, "ravel": _flatten,
    "transpose": _transpose, "swapaxes": _transpose, "t": _turned, "linear": _linear, "conv1d": _convolution, "conv2d": _convolution,
    "conv3d": _convolution, "embedding": _deeper, "one_hot": _deeper, "maxpool1d": _pooling, "maxpool2d": _pooling, "avgpool2d": _pooling,
    "avgpool1d": _pooling, "adaptiveavgpool2d": _pooling, "adaptiveavgpool1d": _pooling, "adaptivemaxpool2d": _pooling,
    "max_pool2d": _pooling, "avg_pool2d": _pooling, "adaptive_avg_pool2d": _pooling, "max_pool1d": _pooling,
}  # fmt: skip
