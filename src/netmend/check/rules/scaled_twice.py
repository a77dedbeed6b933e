from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Element, Function, Item, Value, constant, resolved
from netmend.program.meaning.arrays import same_numbers
from netmend.program.meaning.loaders_of_models import (
    dataset_of,
    loader_made,
    steps_of,
    transform_name,
    transform_of,
)
from netmend.program.meaning.uses import arithmetic
from netmend.vocabulary.finding import Finding

HEAD = """\
from PIL import Image
import cv2
import numpy as np
from torch.utils.data import DataLoader, Dataset
from torchvision import datasets, transforms

"""
MNIST = 'loader = DataLoader(datasets.MNIST("data", transform=transforms.ToTensor()), batch_size=64)\n'

_WHITE: tuple[object, ...] = (255, 256)


@register
class ScaledTwice(StaticRule):
    """`ToTensor` has brought the pixels to 0…1, and they are divided by 255 once more.

    The inputs are then all near zero: the network sees almost no signal and learns slowly or not at all; weights trained
    elsewhere are useless.

    Drop the division. `ToTensor` divides images of type uint8 by 255 itself.
    """

    code = "S506"
    cause = "PRE-WRONG-PIXEL"
    message = "ToTensor has scaled these pixels to 0…1 already; drop the division by 255."
    triggers = ("ToTensor",)
    patterns = (r"/\s*25[56]|ToTensor",)

    GOOD = (
        Snippet("scaled once", HEAD + MNIST + "for x, y in loader:\n    print(x.mean())\n"),
        Snippet("floats are not scaled by ToTensor", HEAD + "def load(path):\n    image = np.array(Image.open(path)).astype(np.float32)\n"
                "    return transforms.ToTensor()(image) / 255\n"),
        Snippet("raw tensors", HEAD + 'data = datasets.MNIST("data").data\nx = data.float() / 255\n'),
        Snippet("only converted", HEAD + 'loader = DataLoader(datasets.MNIST("data", transform=transforms.PILToTensor()))\nfor x, y in loader:\n    x = x / 255\n'),
        Snippet("a step of one's own", HEAD + 'loader = DataLoader(datasets.MNIST("data", transform=transforms.Compose([transforms.ToTensor(), back])))\n'
                "for x, y in loader:\n    x = x / 255\n"),
        Snippet("scaled up between", HEAD + "steps = transforms.Compose([transforms.ToTensor(), transforms.Lambda(lambda x: x.mul(255))])\n"
                "for x, y in DataLoader(datasets.ImageFolder('d', steps)):\n    x = x.div_(255.0)\n"),
        Snippet("a tolerance in grey levels", HEAD + MNIST + "for x, y in loader:\n    eps = 8 / 255\n    attack(x, eps)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in the loop", HEAD + MNIST + "for x, y in loader:\n    x = x.view(-1, 784) / 255.0\n", line=9),
        Snippet("in the transform", HEAD + "steps = transforms.Compose([transforms.ToTensor(), transforms.Lambda(lambda x: x / 255)])\n"
                'data = datasets.CIFAR10("data", transform=steps)\n', line=7),
        Snippet("in the dataset", HEAD + "class Photos(Dataset):\n    def __init__(self, paths):\n        self.paths = paths\n"
                "        self.transform = transforms.ToTensor()\n\n    def __getitem__(self, i):\n"
                '        image = Image.open(self.paths[i]).convert("RGB")\n        return self.transform(image).div(255)\n', line=14),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for operation, _ in arithmetic(program):
            if (
                operation.operator == "/"
                and _is_white(operation.operands[1])
                and _is_scaled(operation.operands[0])
                and operation.node is not None
            ):
                yield self.finding(program, operation.node)
        for event in program.methods_of("div", "div_"):
            call = event.call
            if (
                call is not None
                and call.receiver is not None
                and call.args
                and _is_white(call.args[0])
                and _is_scaled(call.receiver)
            ):
                yield self.finding(program, event.node)
        for event in program.calls_of("torchvision.transforms.Compose", "torchvision.transforms.v2.Compose"):
            steps = steps_of(event.call)
            names = [transform_name(step) for step in steps or ()]
            if "ToTensor" in names:
                for step in (steps or ())[names.index("ToTensor") + 1 :]:
                    if transform_name(step) != "Lambda":
                        break
                    node = _divided(step)
                    if node is not None:
                        yield self.finding(program, node)


def _is_white(value: Value) -> bool:
    return constant(value) in _WHITE


def _is_scaled(value: Value) -> bool:
    """Images that come out of ToTensor, which were of type uint8 before."""
    value = same_numbers(value)
    if isinstance(value, Item) and constant(value.key) == 0:
        element = resolved(value.base)
        loader = loader_made(element.iterable) if isinstance(element, Element) else None
        steps = steps_of(transform_of(dataset_of(loader))) if loader is not None else None
        names = [transform_name(step) for step in steps or ()]
        return _scales(names)
    if isinstance(value, Call):
        made = resolved(value.function)
        if transform_name(made) in ("ToTensor", "Compose") and len(value.args) == 1:
            names = [transform_name(step) for step in steps_of(made) or ()]
            return _scales(names) and _is_bytes(value.args[0])
    return False


def _scales(names: list[str]) -> bool:
    """ToTensor with nothing around it that may change the range again."""
    return "ToTensor" in names and all(names) and "Lambda" not in names


def _is_bytes(image: Value) -> bool:
    """An image as it was read from a file: `Image.open(…)`, `cv2.imread(…)`."""
    for _ in range(10):
        image = resolved(image)
        if not isinstance(image, Call):
            return False
        if image.qualified in ("PIL.Image.open", "cv2.imread"):
            return True
        if (
            image.method in ("convert", "resize", "crop", "rotate", "transpose", "copy")
            and image.receiver is not None
        ):
            image = image.receiver
        elif (
            image.qualified in ("numpy.array", "numpy.asarray", "cv2.cvtColor", "cv2.resize")
            and image.args
            and "dtype" not in image.keywords
        ):
            image = image.args[0]
        else:
            return False
    return False


def _divided(step: Value) -> ast.AST | None:
    step = resolved(step)
    function = step.args[0] if isinstance(step, Call) and step.args else None
    body = (
        getattr(getattr(function, "definition", None), "body", None)
        if isinstance(function, Function)
        else None
    )
    if (
        not isinstance(body, ast.BinOp)
        or not isinstance(body.op, ast.Div)
        or not isinstance(body.left, ast.Name)
    ):
        return None
    return body if isinstance(body.right, ast.Constant) and body.right.value in _WHITE else None
