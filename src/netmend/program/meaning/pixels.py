"""Images as bytes: values that are whole numbers from 0 to 255, and whether they reach a layer like that."""

from __future__ import annotations

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
from netmend.program.meaning.loaders_of_models import drawn, image_set

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
    for _ in range(40):
        value = same_numbers(value)
        if isinstance(value, Either):
            return all(reaches_raw(program, option) for option in value.options)
        if _is_full_range(value):
            return True
        if isinstance(value, Call) and value.qualified in _STACKS and value.args:
            inside = resolved(value.args[0])
            items = inside.items if isinstance(inside, Collection) else []
            return bool(items) and all(reaches_raw(program, item) for item in items)
        inner = drawn(program, value)
        if inner is not None:
            value = inner
        elif isinstance(value, Item):
            base = resolved(value.base)
            if isinstance(base, Element):
                return False
            value = base
        else:
            return False
    return False


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
