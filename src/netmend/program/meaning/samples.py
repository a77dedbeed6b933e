"""The shape of what a data source gives: well-known picture sets, tensor data sets, random tensors."""

from __future__ import annotations

from netmend.library.datasets import PICTURES
from netmend.program.engine.values import Call, Collection, Element, Item, Value, constant, resolved
from netmend.program.meaning.sizes import Shape, numbers, whole_number

# Transforms that leave channels and size of a picture alone.
_SAME = frozenset(
    ("ToTensor", "Normalize", "RandomHorizontalFlip", "RandomVerticalFlip", "ColorJitter", "RandomRotation", "RandomErasing",
     "RandomAffine", "AutoAugment", "RandAugment", "TrivialAugmentWide", "PILToTensor", "ConvertImageDtype", "ToImage", "ToDtype")
)  # fmt: skip
_SIZED = frozenset(("Resize", "CenterCrop", "RandomCrop", "RandomResizedCrop"))
_BY_ARGUMENTS = frozenset(
    ("torch.randn", "torch.rand", "torch.zeros", "torch.ones", "torch.empty", "numpy.random.randn", "numpy.random.rand")
)  # fmt: skip
_BY_SHAPE = {
    "torch.full": 0, "numpy.zeros": 0, "numpy.ones": 0, "numpy.empty": 0, "numpy.full": 0, "numpy.random.random": 0,
    "numpy.random.normal": 2, "numpy.random.uniform": 2, "numpy.random.randint": 2, "torch.randint": -1, "torch.normal": 2,
}  # fmt: skip
_GENERATOR = {"normal": 2, "uniform": 2, "random": 0, "integers": 2, "standard_normal": 0}


def made_shape(call: Call) -> Shape | None:
    """The shape of a tensor or array that is made of given sizes."""
    name = call.qualified
    if call.open:
        return None
    size = call.keywords.get("size", call.keywords.get("shape"))
    if name in _BY_ARGUMENTS:
        if size is None and len(call.args) == 1 and isinstance(resolved(call.args[0]), Collection):
            size = call.args[0]
        return _of(size) if size is not None else _listed(call.args)
    if name in _BY_SHAPE:
        position = _BY_SHAPE[name]
        if position < 0:
            position = next(
                (place for place, value in enumerate(call.args) if isinstance(resolved(value), Collection)), 9
            )
        return _of(size if size is not None else call.argument("size", position))
    if call.method in _GENERATOR and call.receiver is not None:
        maker = resolved(call.receiver)
        if isinstance(maker, Call) and maker.qualified in (
            "numpy.random.default_rng",
            "numpy.random.RandomState",
        ):
            return _of(size if size is not None else call.argument("size", _GENERATOR[call.method]))
    return None


def _of(value: Value | None) -> Shape | None:
    value = resolved(value)
    if not isinstance(value, Collection) or value.open or value.kind == "dict":
        return None
    return _listed(tuple(value.items))


def _listed(values: tuple[Value, ...]) -> Shape | None:
    if not values or any(isinstance(resolved(value), Collection) for value in values):
        return None
    sizes = tuple(whole_number(value) for value in values)
    return Shape(sizes) if sizes != (None,) else None  # one value of unknown kind may be a whole shape


def sample_of(loader: Value) -> tuple[Value | Shape, ...] | None:
    """What one batch of a loader holds: a shape, or the tensor that its rows are taken from, per place."""
    made = resolved(loader)
    if not isinstance(made, Call) or not made.qualified.endswith("DataLoader") or made.open:
        return None
    if "collate_fn" in made.keywords or "batch_sampler" in made.keywords:
        return None
    data = made.argument("dataset", 0)
    batch_size = made.argument("batch_size", 1)
    if data is None or (batch_size is not None and constant(batch_size, 1) is None):
        return None
    return _rows(resolved(data), 0)


def _rows(data: Value, depth: int) -> tuple[Value | Shape, ...] | None:
    if isinstance(data, Item):
        data = resolved(data.base)
    if not isinstance(data, Call) or depth > 3:
        return None
    name = data.qualified
    if name in ("torch.utils.data.random_split", "torch.utils.data.Subset") and data.args:
        return _rows(resolved(data.args[0]), depth + 1)
    if name == "torch.utils.data.TensorDataset":
        return _tensors(data)
    last = name.rpartition(".")[2]
    if name.startswith("torchvision.datasets.") and last in PICTURES:
        shape = _transformed(PICTURES[last], data.keywords.get("transform"))
        return (Shape((None, *shape)),) if shape is not None else None
    return None


def _tensors(data: Call) -> tuple[Value | Shape, ...] | None:
    if len(data.args) == 1 and isinstance(data.args[0], Element):
        spread = resolved(data.args[0].iterable)
        return tuple(spread.items) if isinstance(spread, Collection) and not spread.open else None
    return data.args if not data.open else None


def _transformed(shape: tuple[int, int, int], transform: Value | None) -> tuple[int | None, ...] | None:
    """A picture's shape behind its transforms; None unless each of them is known and one makes a tensor."""
    made = resolved(transform)
    if not isinstance(made, Call) or not made.qualified.startswith("torchvision.transforms."):
        return None
    steps: list[Value] = [made]
    if made.qualified.endswith(".Compose"):
        listed = resolved(made.args[0]) if made.args else None
        if not isinstance(listed, Collection) or listed.open:
            return None
        steps = [resolved(step) for step in listed.items]
    result: tuple[int | None, ...] = shape
    for step in steps:
        name = step.qualified.rpartition(".")[2] if isinstance(step, Call) else ""
        if not isinstance(step, Call) or not step.qualified.startswith("torchvision.transforms."):
            return None
        if name in _SIZED:
            result = (result[0], *numbers(step.argument("size", 0), 2))
        elif name == "Grayscale":
            result = (
                whole_number(step.argument("num_output_channels", 0)) or (None if step.args else 1),
                *result[1:],
            )
        elif name == "Pad":
            result = (result[0], None, None)
        elif name not in _SAME:
            return None
    return result
