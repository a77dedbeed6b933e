"""Scaling pixels: twice, not at all, or past 255."""

from __future__ import annotations

import ast

from netmend.check.examples import TORCH
from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Const, Element, Function, Item, Value, constant, resolved
from netmend.program.meaning.arrays import same_numbers
from netmend.program.meaning.loaders import (
    dataset_of,
    drawn,
    loader_made,
    steps_of,
    transform_name,
    transform_of,
)
from netmend.program.meaning.operations import LINEAR_MAPS, Op, operation, origins, walk
from netmend.program.meaning.training import loss_of, rounds
from netmend.program.meaning.uses import arithmetic
from netmend.program.meaning.value_ranges import is_bytes, is_standardised, names_bytes, reaches_raw

TWICE_HEAD = """\
from PIL import Image
import cv2
import numpy as np
from torch.utils.data import DataLoader, Dataset
from torchvision import datasets, transforms

"""
MNIST = 'loader = DataLoader(datasets.MNIST("data", transform=transforms.ToTensor()), batch_size=64)\n'
_WHITE: tuple[object, ...] = (255, 256)


class ScaledTwice(StaticRule, code="S506", cause="PRE-WRONG-PIXEL"):
    """`ToTensor` has brought the pixels to 0…1, and they are divided by 255 once more.

    The inputs are then all near zero: the network sees almost no signal and learns slowly or not at all; weights trained
    elsewhere are useless.

    Drop the division. `ToTensor` divides images of type uint8 by 255 itself.
    """

    message = "ToTensor has scaled these pixels to 0…1 already; drop the division by 255."
    triggers = ("ToTensor",)
    patterns = (r"/\s*25[56]|ToTensor",)

    GOOD = (
        Snippet("scaled once", TWICE_HEAD + MNIST + "for x, y in loader:\n    print(x.mean())\n"),
        Snippet("floats are not scaled by ToTensor", TWICE_HEAD + "def load(path):\n    image = np.array(Image.open(path)).astype(np.float32)\n"
                "    return transforms.ToTensor()(image) / 255\n"),
        Snippet("only converted", TWICE_HEAD + 'loader = DataLoader(datasets.MNIST("data", transform=transforms.PILToTensor()))\nfor x, y in loader:\n    x = x / 255\n'),
        Snippet("a step of one's own", TWICE_HEAD + 'loader = DataLoader(datasets.MNIST("data", transform=transforms.Compose([transforms.ToTensor(), back])))\n'
                "for x, y in loader:\n    x = x / 255\n"),
        Snippet("scaled up between", TWICE_HEAD + "steps = transforms.Compose([transforms.ToTensor(), transforms.Lambda(lambda x: x.mul(255))])\n"
                "for x, y in DataLoader(datasets.ImageFolder('d', steps)):\n    x = x.div_(255.0)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in the loop", TWICE_HEAD + MNIST + "for x, y in loader:\n    x = x.view(-1, 784) / 255.0\n", line=9),
        Snippet("in the transform", TWICE_HEAD + "steps = transforms.Compose([transforms.ToTensor(), transforms.Lambda(lambda x: x / 255)])\n"
                'data = datasets.CIFAR10("data", transform=steps)\n', line=7),
        Snippet("in the dataset", TWICE_HEAD + "class Photos(Dataset):\n    def __init__(self, paths):\n        self.paths = paths\n"
                "        self.transform = transforms.ToTensor()\n\n    def __getitem__(self, i):\n"
                '        image = Image.open(self.paths[i]).convert("RGB")\n        return self.transform(image).div(255)\n', line=14),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for division, _ in arithmetic(program):
            if (
                division.operator == "/"
                and _is_white(division.operands[1])
                and _is_scaled(division.operands[0])
            ):
                yield self.finding(program, division.node)
        for event in program.methods_of("div", "div_"):
            call = event.call
            if (
                call.receiver is not None
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
    if not isinstance(body, ast.BinOp) or not isinstance(body.op, ast.Div):
        return None
    if not isinstance(body.left, ast.Name):
        return None
    return body if isinstance(body.right, ast.Constant) and body.right.value in _WHITE else None


BYTES_HEAD = "import cv2\nimport numpy as np\nimport torch\n\n"


class BytesWrapAround(StaticRule, code="S516", cause="PRE-WRONG-DTYPE"):
    """Images of type uint8 are subtracted from, or standardised values are stored as uint8.

    A byte cannot be negative: 10 − 20 becomes 246. Dark and bright pixels are mixed up, and values between −1 and 1 stored as
    bytes are all 0, 1 or 255. Nothing complains.

    Convert first: `image.astype(np.float32) - mean`.
    """

    message = (
        "These are bytes (uint8), so negative results wrap around to large numbers; convert to float32 first."
    )
    triggers = ("uint8", "imread", "byte()")

    # smaller constants are mostly shifts of class numbers in masks, where 255 stands for "ignore"
    smallest = 16

    GOOD = (
        Snippet("converted first", BYTES_HEAD + "image = cv2.imread(path).astype(np.float32) - 128\n"),
        Snippet("inverted", BYTES_HEAD + "image = 255 - cv2.imread(path)\n"),
        Snippet("a float mean", BYTES_HEAD + "image = cv2.imread(path)\nimage = image - image.mean()\n"),
        Snippet("class numbers of a mask", BYTES_HEAD + "mask = cv2.imread(path) - 1\n"),
    )
    BAD = (
        Snippet(
            "a constant",
            BYTES_HEAD + "image = cv2.imread(path)\nx = torch.from_numpy(image - 128).float()\n",
            line=6,
        ),
        Snippet(
            "two frames",
            BYTES_HEAD
            + "def motion(a, b):\n    one = np.asarray(a).astype(np.uint8)\n    two = b.astype('uint8')\n    return one - two\n",
            line=8,
        ),
        Snippet(
            "standardised, then bytes",
            BYTES_HEAD + "x = np.load('x.npy')\nx = ((x - x.mean()) / x.std()).astype(np.uint8)\n",
            line=6,
        ),
    )

    def check(self, program: Program) -> Findings:
        for difference, _ in arithmetic(program):
            if difference.operator != "-" or len(difference.operands) != 2:
                continue
            left, right = difference.operands
            if is_bytes(left) and self._wraps(right):
                yield self.finding(program, difference.node)
        for event in program.methods_of("astype", "to", "byte"):
            call = event.call
            if call.receiver is None or not is_standardised(call.receiver):
                continue
            if call.method == "byte" or (call.args and names_bytes(call.args[0])):
                yield self.finding(
                    program, event.node, "Standardised values do not fit into bytes; keep them as float32."
                )

    def _wraps(self, right: Value) -> bool:
        right = resolved(right)
        if isinstance(right, Const):
            return (
                isinstance(right.value, int)
                and not isinstance(right.value, bool)
                and right.value >= self.smallest
            )
        return is_bytes(right)


RAW_HEAD = f"""{TORCH}\
from torch.utils.data import DataLoader, TensorDataset
from torchvision import datasets

net = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
data = datasets.MNIST("data", train=True)
"""
LOOP = """\
for x, y in DataLoader(TensorDataset(images, data.targets), batch_size=64, shuffle=True):
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
"""
_CONVERSIONS = frozenset(("float", "to", "type", "astype", "tensor", "as_tensor", "from_numpy", "FloatTensor", "Tensor", "float32", "double"))  # fmt: skip


class RawPixels(StaticRule, code="S519", cause="PRE-MISS-NORM"):
    """Pixels from 0 to 255 go into the first layer as they are.

    Layers are initialised for inputs of size one. Inputs a hundred times larger saturate or kill the first layer, and the rate
    that would suit the others is far too high for it; training stalls or jumps.

    Divide by 255, or normalise with mean and standard deviation. A batch norm in front does it too.
    """

    message = "Pixels from 0 to 255 reach the first layer unscaled; divide them by 255 here."
    triggers = ("MNIST", "CIFAR", "SVHN", "load_data", "imread", "Image.open", "(0, 255", "(0, 256", "255)")
    patterns = (r"load_data\(", r"\.backward\(", r"imread\(")

    GOOD = (
        Snippet("scaled", RAW_HEAD + "images = data.data.float() / 255\n" + LOOP),
        Snippet("batch norm right behind", RAW_HEAD + "net = nn.Sequential(nn.Flatten(), nn.Linear(784, 10), nn.BatchNorm1d(10))\nimages = data.data.float()\n" + LOOP),
        Snippet("not known", RAW_HEAD + "images = prepare(data.data)\n" + LOOP),
    )  # fmt: skip
    BAD = (
        Snippet("only converted", RAW_HEAD + "images = data.data.float()\n" + LOOP, line=9),
        Snippet("arrays of Keras", "import torch\nfrom tensorflow.keras.datasets import mnist\n(x_train, y_train), _ = mnist.load_data()\n"
                "x = torch.tensor(x_train, dtype=torch.float32).reshape(-1, 784)\ny = torch.tensor(y_train)\nclass Net(torch.nn.Module):\n"
                "    def __init__(self):\n        super().__init__()\n        self.fc = torch.nn.Linear(784, 10)\n\n    def forward(self, x):\n        return self.fc(x)\n\n"
                "net = Net()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor i in range(0, 60000, 100):\n    opt.zero_grad()\n"
                "    torch.nn.functional.cross_entropy(net(x[i : i + 100]), y[i : i + 100]).backward()\n    opt.step()\n", line=4),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for turn in rounds(program):
            for event in turn.backward:
                maps, rescued = _maps(loss_of(event))
                for op in maps:
                    if id(op.value) in rescued or op.input is None:
                        continue
                    if reaches_raw(program, op.input):
                        node = _conversion(program, op.input) or op.node
                        yield self.finding(program, node, see=[("They reach this layer.", op.node)])


def _conversion(program: Program, value: Value) -> ast.AST | None:
    """Where the bytes are made into numbers to compute with: the division belongs there."""
    for _ in range(30):
        value = resolved(value)
        if isinstance(value, Call):
            name = value.method or value.qualified.rpartition(".")[2]
            if name in _CONVERSIONS and value.node is not None:
                return value.node
            inner = same_numbers(value)
            if inner is value:
                return None
            value = value.receiver if value.receiver is not None else value.args[0]
        elif isinstance(value, Item):
            value = drawn(program, value) or value.base
        else:
            return None
    return None


def _maps(loss: Value | None) -> tuple[list[Op], set[int]]:
    """Linear and convolutional layers that a loss is computed with, and those whose output is normalised at once."""
    maps: list[Op] = []
    rescued: set[int] = set()
    for value in walk(loss):
        op = operation(resolved(value))
        if op is None:
            continue
        if op.name in LINEAR_MAPS:
            maps.append(op)
        elif op.name.startswith(("batchnorm", "layernorm", "groupnorm", "instancenorm")):
            rescued.update(id(origin) for origin in origins(op.input))
    return maps, rescued
