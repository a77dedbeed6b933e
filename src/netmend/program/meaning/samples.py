"""The shape of what a data source gives: tensors of given sizes, pictures of well-known data sets."""

from __future__ import annotations

from netmend.library.datasets import PICTURES
from netmend.program.engine.values import Call, Collection, Const, Operation, Value, resolved
from netmend.program.meaning.loaders_of_models import steps_of, transform_name
from netmend.program.meaning.operations import named
from netmend.program.meaning.sizes import Shape, numbers, size_of, whole_number

# Transforms that leave channels and size of a picture alone.
_SAME = frozenset(
    ("ToTensor", "Normalize", "RandomHorizontalFlip", "RandomVerticalFlip", "ColorJitter", "RandomRotation", "RandomErasing",
     "RandomAffine", "AutoAugment", "RandAugment", "TrivialAugmentWide", "PILToTensor", "ConvertImageDtype", "ToImage", "ToDtype")
)  # fmt: skip
_SIZED = frozenset(("Resize", "CenterCrop", "RandomCrop", "RandomResizedCrop"))
_BY_ARGUMENTS = frozenset(
    ("randn", "rand", "zeros", "ones", "empty", "standard_normal", "random", "random_sample")
)
# The place of the size among the arguments.
_BY_SIZE = {
    "randint": 2, "normal": 2, "uniform": 2, "integers": 2, "laplace": 2, "choice": 1, "exponential": 1, "poisson": 1, "full": 0,
}  # fmt: skip
_ONE_DIMENSION = frozenset(("randperm", "arange", "linspace", "permutation", "logspace", "multinomial"))


def made_shape(call: Call) -> Shape | None:
    """The shape of a tensor or array that is made of given sizes."""
    name, _ = named(call)
    maker = resolved(call.receiver)
    is_generator = isinstance(maker, Call) and maker.qualified.startswith("numpy.random.")
    if name in _ONE_DIMENSION:
        return Shape((None,))
    if call.open or (call.method and not is_generator):
        return None
    size = call.keywords.get("size", call.keywords.get("shape"))
    if name in _BY_ARGUMENTS:
        if size is None and len(call.args) > 1 and not isinstance(resolved(call.args[0]), Collection):
            return Shape(tuple(size_of(value) for value in call.args))
        return _given(size if size is not None else call.argument("size", 0))
    if name in _BY_SIZE:
        if size is None and name in ("randint", "integers") and len(call.args) == 2:
            size = call.args[1]  # `randint(10, (n, 3))`
        return _given(size if size is not None else call.argument("size", _BY_SIZE[name]))
    return None


def _given(value: Value | None) -> Shape | None:
    """`size=(n, 3)`, `size=n`; a name of unknown kind may be either."""
    value = resolved(value)
    if isinstance(value, Collection):
        return (
            None
            if value.open or value.kind == "dict"
            else Shape(tuple(size_of(item) for item in value.items))
        )
    if isinstance(value, Const):
        return Shape((value.value,)) if whole_number(value) is not None else None
    is_number = isinstance(value, Operation) or (
        isinstance(value, Call) and value.qualified in ("len", "int")
    )
    return Shape((None,)) if is_number else None


def picture(dataset: Value) -> Shape | None:
    """A picture of a data set of torchvision behind its transforms; None unless each of them is known."""
    if not isinstance(dataset, Call) or not dataset.qualified.startswith("torchvision.datasets."):
        return None
    shape = PICTURES.get(dataset.qualified.rpartition(".")[2])
    steps = steps_of(dataset.keywords.get("transform"))
    if shape is None or steps is None:
        return None
    result: tuple[int | None, ...] = shape
    for step in steps:
        name = transform_name(step)
        if not isinstance(step, Call) or not name:
            return None
        if name in _SIZED:
            result = (result[0], *numbers(step.argument("size", 0), 2))
        elif name == "Grayscale":
            channels = whole_number(step.argument("num_output_channels", 0))
            result = (channels or (None if step.args else 1), *result[1:])
        elif name == "Pad":
            result = (result[0], None, None)
        elif name not in _SAME:
            return None
    return Shape(result)
