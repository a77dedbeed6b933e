"""Shapes as far as the text proves them: sizes as numbers, as symbols where they are the same by construction, or unknown."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import prod

from netmend.program.engine.values import Call, Collection, Const, Item, Value, constant, resolved
from netmend.program.meaning.operations import Op

# a number, a symbol for one that is the same by construction, or None where nothing is known
Size = Hashable | None


@dataclass(frozen=True)
class Shape:
    """The sizes of a tensor. `whole`: all of them; else the last ones of an unknown number."""

    sizes: tuple[Size, ...]
    whole: bool = True

    @property
    def dims(self) -> tuple[int | None, ...]:
        """The sizes as far as they are numbers."""
        return tuple(size if isinstance(size, int) else None for size in self.sizes)

    @property
    def last(self) -> int | None:
        return self.at(1)

    @property
    def rank(self) -> int | None:
        return len(self.sizes) if self.whole else None

    def at(self, from_end: int) -> int | None:
        """The size `from_end` places from the end (1 is the last)."""
        return self.dims[-from_end] if len(self.sizes) >= from_end else None

    @property
    def sample(self) -> int | None:
        """Values per sample: the product of all sizes behind the first."""
        found = product(self.sizes[1:]) if self.whole and len(self.sizes) > 1 else None
        return found if isinstance(found, int) else None

    def with_last(self, size: Size) -> Shape:
        return Shape((*self.sizes[:-1], size), self.whole)

    def words(self) -> str:
        return " × ".join("?" if size is None else str(size) for size in self.dims)


def product(sizes: Sequence[Size]) -> Size:
    """How many values there are along several axes."""
    numbers = [size for size in sizes if isinstance(size, int)]
    if len(numbers) == len(sizes):
        return prod(numbers)
    others = [size for size in sizes if size != 1]
    return others[0] if len(others) == 1 else None


def broadcast(shapes: Sequence[Shape | None]) -> Shape | None:
    """The shape of `a + b`: sizes above 1 stay what they are, by broadcasting or because they are equal."""
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes) or not known:
        return None
    sizes: list[Size] = []
    for place in range(max(len(shape.sizes) for shape in known), 0, -1):
        there = [shape.sizes[-place] for shape in known if len(shape.sizes) >= place]
        larger = [size for size in there if size != 1]
        told = sorted(
            (size for size in larger if size is not None), key=lambda size: not isinstance(size, int)
        )
        is_hidden = any(len(shape.sizes) < place and not shape.whole for shape in known)
        sizes.append(next(iter(told), None) if larger or is_hidden else 1)
    return Shape(tuple(sizes), all(shape.whole for shape in known))


def size_of(value: Value) -> Size:
    """A size that is given: the number, or a symbol for the value."""
    known = whole_number(value)
    return known if known is not None else ("size", id(resolved(value)))


UNKNOWN = object()  # an option that is given, but not as a constant


def setting(value: Value | None, default: object) -> object:
    """The constant that an option is given, its default when it is not given, UNKNOWN when it cannot be told."""
    if value is None:
        return default
    value = resolved(value)
    return value.value if isinstance(value, Const) else UNKNOWN


def whole_number(value: Value | None) -> int | None:
    found = constant(resolved(value))
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def numbers(value: Value | None, count: int, default: int | None = None) -> list[int | None]:
    """An option that is one number or one per axis."""
    if value is None:
        return [default] * count
    value = resolved(value)
    if isinstance(value, Collection):
        if value.open or len(value.items) != count:
            return [None] * count
        return [whole_number(item) for item in value.items]
    return [whole_number(value)] * count


def width(op: Op, name: str, position: int) -> int | None:
    """A size that a layer was made with."""
    return (
        whole_number(op.layer.argument(name, position))
        if op.layer is not None and not op.layer.open
        else None
    )


def is_batch_size(value: Value) -> bool:
    """`x.size(0)`, `x.shape[0]`, `len(x)`: as many as there are samples."""
    value = resolved(value)
    if isinstance(value, Call):
        if value.qualified == "len":
            return True
        return value.method == "size" and whole_number(value.argument("dim", 0)) == 0
    if isinstance(value, Item) and constant(value.key) == 0:
        base = resolved(value.base)
        return getattr(base, "name", "") == "shape" or (
            isinstance(base, Call) and base.method == "size" and not base.args
        )
    return False


def convolved(size: int | None, op: Op, axis: int, count: int) -> int | None:
    """The size that a convolution or a pooling leaves of one axis; None when it cannot be told."""
    is_pool = "pool" in op.name
    shift = 0 if is_pool else 2
    kernel = numbers(op.option("kernel_size", shift), count)[axis]
    stride_given = op.option("stride", shift + 1)
    is_none = isinstance(stride_given, Const) and stride_given.value is None
    default_stride = kernel if is_pool else 1
    stride = (
        default_stride
        if stride_given is None or is_none
        else numbers(stride_given, count, default_stride)[axis]
    )
    padding_value = op.option("padding", shift + 2)
    if constant(padding_value) == "same":
        return size
    padding = 0 if constant(padding_value) == "valid" else numbers(padding_value, count, 0)[axis]
    is_average = "avg" in op.name
    dilation = 1 if is_average else numbers(op.option("dilation", shift + 3), count, 1)[axis]
    if _rounds_up(op) or size is None or kernel is None or stride is None or padding is None:
        return None
    if dilation is None:
        return None
    return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1 if stride else None


def _rounds_up(op: Op) -> bool:
    if "pool" not in op.name:
        return False
    position = 3 if "avg" in op.name else (5 if op.layer is not None else 4)
    return setting(op.option("ceil_mode", position), False) is not False


def transposed(size: int | None, op: Op, axis: int, count: int) -> int | None:
    """The size that a transposed convolution makes of one axis."""
    values = [
        numbers(op.option(name, position), count, default)[axis]
        for name, position, default in (
            ("kernel_size", 2, None), ("stride", 3, 1), ("padding", 4, 0), ("output_padding", 5, 0), ("dilation", 8, 1),
        )
    ]  # fmt: skip
    if size is None or any(value is None for value in values):
        return None
    kernel, stride, padding, extra, dilation = (value or 0 for value in values)
    return (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + extra + 1


def recurrent_width(layer: Call) -> int | None:
    """Features per step of a recurrent layer's output: both directions count."""
    if layer.open:
        return None
    projected = layer.keywords.get("proj_size")
    hidden = whole_number(layer.argument("hidden_size", 1))
    if projected is not None:
        hidden = whole_number(projected) or (hidden if constant(projected) == 0 else None)
    both = layer.keywords.get("bidirectional", layer.args[7] if len(layer.args) > 7 else None)
    if both is None:
        return hidden
    known = constant(both)
    if hidden is None or not isinstance(known, bool):
        return None
    return hidden * (2 if known else 1)


def axes_of(name: str) -> int | None:
    """2 for `conv2d`, `maxpool2d`, `batchnorm2d`."""
    return int(name[-2]) if name[-1:] == "d" and name[-2:-1] in ("1", "2", "3") else None


# What shapes and stacks of layers prove, they prove where numbers stand. A library's classes take their sizes from a configuration: their methods are
# not entered on their own for such rules, which makes large code bases several times faster to check. Programs that build a model are not concerned.
_LAYERS = (
    *("Linear", "Conv1d", "Conv2d", "Conv3d", "Transpose1d", "Transpose2d", "LSTM", "GRU", "RNN"),
    *("Norm1d", "Norm2d", "LayerNorm", "Embedding", "MaxPool2d", "AvgPool2d"),
)
# The bracket comes first, and then what stands before it: regular expressions are quick where they begin with a character.
LITERAL_LAYERS = rf"\((?:{'|'.join(rf'(?<={layer}[(])' for layer in _LAYERS)})\s*(?:\w+\s*=\s*)?\d"
