"""Between which numbers values lie: pixels that are bytes, targets by the formula that makes them."""

from __future__ import annotations

import math

from netmend.library.datasets import STORED_BYTES
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Either,
    Element,
    Item,
    Name,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import same_numbers
from netmend.program.meaning.batches import part_of_batch
from netmend.program.meaning.loaders import drawn, image_set
from netmend.program.meaning.operations import LAYOUT, behind, named

_READERS = ("cv2.imread", "imageio.imread", "imageio.v2.imread", "skimage.io.imread")
_KERAS_SETS = tuple(
    f"keras.datasets.{name}.load_data" for name in ("mnist", "fashion_mnist", "cifar10", "cifar100")
)

_STACKS = frozenset(("numpy.stack", "torch.stack", "numpy.concatenate", "torch.cat", "numpy.vstack"))


def is_bytes(value: Value | None) -> bool:
    """Is a value proven to be of type uint8?"""
    value = resolved(value)
    if isinstance(value, Either):
        return all(is_bytes(option) for option in value.options)
    if isinstance(value, Attribute):
        return value.name == "data" and image_set(resolved(value.base)) in STORED_BYTES - {"USPS"}
    if isinstance(value, Item):
        return is_bytes(value.base) and not isinstance(resolved(value.base), Collection)
    if not isinstance(value, Call):
        return False
    if value.qualified in ("numpy.uint8", "torch.ByteTensor", *_READERS):
        return True
    if value.qualified in ("numpy.array", "numpy.asarray") and value.args:
        kind = value.keywords.get("dtype") or (value.args[1] if len(value.args) > 1 else None)
        return names_bytes(kind) if kind is not None else _is_opened(value.args[0])
    if value.method == "astype" and value.args:
        return names_bytes(value.args[0])
    if value.method in ("to", "type") and value.args:
        return names_bytes(value.args[0])
    if (
        value.method in ("reshape", "transpose", "copy", "squeeze", "flatten", "permute", "view", "unsqueeze")
        and value.receiver is not None
    ):
        return is_bytes(value.receiver)
    return value.method == "byte" and not value.args


def names_bytes(kind: Value) -> bool:
    return (isinstance(kind, Name) and kind.qualified in ("numpy.uint8", "torch.uint8")) or constant(
        kind
    ) == "uint8"


def _is_opened(image: Value) -> bool:
    """A picture of PIL in bytes: `Image.open(path).convert("RGB")`."""
    image = resolved(image)
    if isinstance(image, Call) and image.method in ("convert", "resize") and image.receiver is not None:
        if image.method == "convert" and constant(image.args[0] if image.args else None) not in (
            "RGB",
            "L",
            "RGBA",
        ):
            return False
        return _is_opened(image.receiver)
    return isinstance(image, Call) and image.qualified == "PIL.Image.open"


def reaches_raw(program: Program, value: Value) -> bool:
    """Do pixels from 0 to 255 arrive here on every path, with nothing but conversions and indexing on the way?"""

    def stored(part: Value) -> Value | None:
        kept = same_numbers(part)
        if kept is not part or _is_full_range(part):
            return kept if kept is not part else None
        base = resolved(part.base) if isinstance(part, Item) else None
        return drawn(program, part) or (None if isinstance(base, Element) else base)

    value = behind(value, stored)
    if isinstance(value, Either):
        return all(reaches_raw(program, option) for option in value.options)
    if isinstance(value, Call) and value.qualified in _STACKS and value.args:
        inside = resolved(value.args[0])
        items = inside.items if isinstance(inside, Collection) else []
        return bool(items) and all(reaches_raw(program, item) for item in items)
    return _is_full_range(value)


def _is_full_range(value: Value) -> bool:
    """Bytes that use the whole range: known datasets, image files, numbers clipped at 255."""
    if isinstance(value, Attribute):
        return value.name == "data" and image_set(resolved(value.base)) in STORED_BYTES - {"USPS"}
    if isinstance(value, Item) and constant(value.key) == 0:
        outer = resolved(value.base)
        call = resolved(outer.base) if isinstance(outer, Item) else None
        return isinstance(call, Call) and call.qualified in _KERAS_SETS
    if not isinstance(value, Call):
        return False
    if value.qualified in _READERS or value.qualified == "PIL.Image.open":
        return True
    if value.qualified in ("numpy.random.randint", "torch.randint") or value.method == "integers":
        return [constant(resolved(argument)) for argument in value.args[:2]] in ([0, 255], [0, 256])
    if value.method in ("clip", "clamp") or value.qualified in ("numpy.clip", "torch.clamp"):
        given = (*value.args, *value.keywords.values())
        return any(isinstance(argument, Const) and argument.value == 255 for argument in given)
    return False


def is_standardised(value: Value) -> bool:
    """`(x - mean) / std` with a mean that is computed or named so."""
    value = resolved(value)
    if not isinstance(value, Operation) or value.operator != "/" or len(value.operands) != 2:
        return False
    inner = resolved(value.operands[0])
    if not isinstance(inner, Operation) or inner.operator != "-" or len(inner.operands) != 2:
        return False
    centre, spread = resolved(inner.operands[1]), resolved(value.operands[1])
    return _is_called(centre, "mean") and _is_called(spread, "std")


def _is_called(value: Value, name: str) -> bool:
    return isinstance(value, Call) and (value.method or value.qualified).rpartition(".")[2] == name


Range = tuple[float, float]
_SPREAD = 3.0  # draws of a normal distribution that are sure to come up, in standard deviations
_SAME = LAYOUT | {"tensor", "as_tensor", "from_numpy", "astype", "array", "asarray", "detach", "stack", "cat"}
_BOUNDED: dict[str, Range] = {
    "sin": (-1, 1), "cos": (-1, 1), "tanh": (-1, 1), "sign": (-1, 1), "sigmoid": (0, 1), "rand": (0, 1), "randn": (-_SPREAD, _SPREAD),
    "randn_like": (-_SPREAD, _SPREAD), "rand_like": (0, 1), "random": (0, 1), "standard_normal": (-_SPREAD, _SPREAD),
}  # fmt: skip


def range_of(program: Program, value: Value | None, depth: int = 0) -> Range | None:
    """The lowest and highest value that come up, if the text tells; dependent terms may make it a little too wide."""
    value = resolved(value)
    if depth > 40 or value is None:
        return None
    if isinstance(value, Const):
        return (float(value.value), float(value.value)) if isinstance(value.value, int | float) else None
    if isinstance(value, Name):
        return (math.pi, math.pi) if value.qualified in ("math.pi", "numpy.pi", "torch.pi") else None
    if isinstance(value, Either):
        ranges = {range_of(program, option, depth + 1) for option in value.options}
        return ranges.pop() if len(ranges) == 1 else None
    if isinstance(value, Item):
        part = part_of_batch(program, value)
        return range_of(program, value.base if part is None else part.value, depth + 1)
    if isinstance(value, Operation):
        return _computed(program, value, depth + 1)
    return _called(program, value, depth + 1) if isinstance(value, Call) else None


def is_centred(program: Program, value: Value | None) -> bool:
    """`(y - y.mean()) / y.std()`: values on both sides of zero, whatever y is."""

    def scaled(part: Value) -> Value | None:
        if isinstance(part, Item):
            place = part_of_batch(program, part)
            return part.base if place is None else place.value
        if isinstance(part, Operation):
            return part.operands[0] if part.operator == "/" else None
        name, inputs = named(part) if isinstance(part, Call) else ("", ())
        return inputs[0] if name in _SAME and inputs else None

    value = behind(value, scaled)
    if not isinstance(value, Operation) or value.operator != "-":
        return False
    mean = resolved(value.operands[1])
    name, inputs = named(mean) if isinstance(mean, Call) else ("", ())
    return name == "mean" and bool(inputs) and resolved(inputs[0]) is resolved(value.operands[0])


def _called(program: Program, call: Call, depth: int) -> Range | None:
    name, inputs = named(call)
    if name in _BOUNDED:
        return _BOUNDED[name]
    if name in ("normal", "uniform") and len(call.args) >= 2:
        first, second = (range_of(program, argument, depth) for argument in call.args[:2])
        if first is None or second is None:
            return None
        if name == "uniform":
            return first[0], second[1]
        return first[0] - _SPREAD * second[1], first[1] + _SPREAD * second[1]
    inner = range_of(program, inputs[0], depth) if inputs else None
    if inner is None:
        return None
    if name in _SAME or (name == "sum" and inner[0] < 0 < inner[1]):
        return inner  # a sum of draws around zero falls on both sides too
    if name in ("abs", "relu", "square"):
        ends = [abs(end) for end in inner]
        highest = max(ends) if name == "abs" else max(inner[1], 0.0) if name == "relu" else max(ends) ** 2
        return (0.0 if inner[0] < 0 < inner[1] else min(ends)), highest
    if name == "exp" and inner[1] < 50:
        return math.exp(inner[0]), math.exp(inner[1])
    return None


def _computed(program: Program, value: Operation, depth: int) -> Range | None:
    ranges = [range_of(program, operand, depth) for operand in value.operands]
    if value.operator == "neg" and ranges[0] is not None:
        return -ranges[0][1], -ranges[0][0]
    if len(ranges) != 2 or ranges[0] is None or ranges[1] is None:
        return None
    (a, b), (c, d) = ranges[0], ranges[1]
    if value.operator == "+":
        return a + c, b + d
    if value.operator == "-":
        return a - d, b - c
    if value.operator == "*":
        if resolved(value.operands[0]) is resolved(value.operands[1]):
            return 0.0, max(a * a, b * b)
        ends = (a * c, a * d, b * c, b * d)
        return min(ends), max(ends)
    if value.operator == "/" and c * d > 0:
        ends = (a / c, a / d, b / c, b / d)
        return min(ends), max(ends)
    if value.operator == "**" and c == d == 2:
        return (0.0 if a < 0 < b else min(a * a, b * b)), max(a * a, b * b)
    return None
