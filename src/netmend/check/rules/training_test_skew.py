"""Training data and test data that are not prepared the same way."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.examples import TORCH
from netmend.check.rule import NOWHERE, Findings, Snippet, StaticRule
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Class, Collection, Const, Instance, Value, constant, resolved
from netmend.program.meaning.fitting import evaluated_raw
from netmend.program.meaning.loaders import (
    dataset_of,
    evaluated,
    evaluation_transforms,
    loader_made,
    prepared_pairs,
    steps_of,
    trained,
    transform_name,
)
from netmend.program.meaning.modules import self_name
from netmend.program.text.queries import inside

NORMALISATION_HEAD = """\
from torchvision import datasets, transforms as T

train_steps = T.Compose([T.RandomHorizontalFlip(), T.ToTensor(), T.Normalize((0.5,), (0.5,))])
train_set = datasets.CIFAR10("data", train=True, transform=train_steps)
"""
ARRAYS = """\
import torch
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
X_train, X_test, y_train, y_test = train_test_split(X, y)
scaler = StandardScaler()
net = torch.nn.Linear(4, 2)
opt = torch.optim.Adam(net.parameters())
"""
TRAINING = """\
x, y = torch.tensor(X_train), torch.tensor(y_train)
for epoch in range(9):
    opt.zero_grad()
    torch.nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
with torch.no_grad():
    print(net(torch.tensor(X_test)).argmax(1) == torch.tensor(y_test))
"""
_UNSCALED = "Only the training data is scaled here; scale the evaluation data with the same numbers."
_Constants = tuple[object, ...]


class NormalisationDiffers(StaticRule, code="S507", cause="PRE-TRAIN-TEST-SKEW"):
    """Training and test images are normalised differently, or only one of them is.

    The network meets inputs on another scale than it was trained on. The test result is far worse than the network is, or the
    comparison with other work is wrong.

    Use the same `Normalize(mean, std)` for both; only random augmentation belongs to training alone.
    """

    message = "Training images are normalised differently; use the same Normalize(...) here."
    triggers = ("Normalize(", "fit_transform(", "x_train", "X_train", "train_x", ".std(")
    patterns = (r"Normalize\(|fit_transform\(",)

    GOOD = (
        Snippet("the same for both", NORMALISATION_HEAD + 'test_set = datasets.CIFAR10("data", train=False, transform=T.Compose([T.ToTensor(), T.Normalize((0.5,), (0.5,))]))\n'),
        Snippet("another dataset", NORMALISATION_HEAD + 'other = datasets.MNIST("data", train=False, transform=T.ToTensor())\n'),
        Snippet("not known", NORMALISATION_HEAD + 'test_set = datasets.CIFAR10("data", train=False, transform=T.Compose([T.ToTensor(), normalise]))\n'),
        Snippet("arrays: both parts", ARRAYS + "X_train = scaler.fit_transform(X_train)\nX_test = scaler.transform(X_test)\n" + TRAINING),
        Snippet("arrays: cut and scaled alike", "import torch\nX = torch.load('x.pt')\nX_train, X_val = X[:80], X[80:]\nm, s = X_train.mean(0), X_train.std(0)\n"
                "X_train = (X_train - m) / s\nX_val = (X_val - m) / s\n" + ARRAYS[ARRAYS.index("net ="):] +
                TRAINING.replace("X_test", "X_val")),
    )  # fmt: skip
    BAD = (
        Snippet("missing for the test set", NORMALISATION_HEAD + 'test_set = datasets.CIFAR10("data", train=False, transform=T.ToTensor())\n', line=5),
        Snippet("other constants", NORMALISATION_HEAD + "test_steps = T.Compose([\n    T.ToTensor(),\n    T.Normalize((0.485,), (0.229,)),\n])\n"
                'test_set = datasets.CIFAR10("data", train=False, transform=test_steps)\n', line=7),
        Snippet("arrays: only the training part", ARRAYS + "X_train = scaler.fit_transform(X_train)\n" + TRAINING, line=8),
        Snippet("arrays: another scale", "import torch\nfrom tools import load\n\ndef sample(n):\n    y = torch.randint(0, 3, (n,))\n"
                "    return (torch.randn(n, 20) * 40 + y[:, None]).clamp(0, 255), y\n\nx, y = sample(100)\nx_val, y_val = sample(50)\n"
                "x = (x - x.mean()) / x.std()\nx_val = x_val / 255\nnet = torch.nn.Linear(20, 3)\nopt = torch.optim.Adam(net.parameters())\n"
                "for epoch in range(9):\n    opt.zero_grad()\n    torch.nn.functional.cross_entropy(net(x), y).backward()\n    opt.step()\n"
                "with torch.no_grad():\n    print(torch.nn.functional.cross_entropy(net(x_val), y_val))\n", line=10),
        Snippet("folders", "import os\nfrom torchvision import transforms as T\nfrom torchvision.datasets import ImageFolder\n"
                "a = ImageFolder(os.path.join(root, 'train'), T.Compose([T.RandomResizedCrop(224), T.ToTensor(), T.Normalize([0.5], [0.5])]))\n"
                "b = ImageFolder(os.path.join(root, 'val'), T.Compose([T.CenterCrop(224), T.ToTensor()]))\n", line=5),
        Snippet("in a dictionary", 'import torch\nfrom torchvision import transforms\nsteps = {\n    "train": transforms.Compose([transforms.ToTensor(), '
                'transforms.Normalize([0.5], [0.5])]),\n    "val": transforms.Compose([transforms.ToTensor()]),\n}\n', line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        parts: dict[int, tuple[ast.AST, _Constants, list[_Constants]]] = {}
        for train, test, place in prepared_pairs(program):
            one, other = _normalised(train), _normalised(test)
            if one is not None and other is not None:
                node = other[1] or place
                parts.setdefault(id(node), (node, other[0], []))[2].append(one[0])
        for node, found, wanted in parts.values():
            if found in wanted:
                continue
            message = None
            if not found:
                message = (
                    "The training images are normalised, these are not; add the same Normalize(...) here."
                )
            elif () in wanted:
                message = (
                    "These images are normalised, the training images are not; prepare both in the same way."
                )
            yield self.finding(program, node, message)
        for event, scaling in evaluated_raw(program):
            yield self.finding(
                program,
                scaling.node or event.node,
                _UNSCALED,
                see=[("This data is evaluated without it.", event.node)],
            )


def _normalised(transform: Value) -> tuple[_Constants, ast.AST | None] | None:
    """The constants of the normalisation in a transform and where it stands; empty without one; None when unknown."""
    steps = steps_of(transform)
    if steps is None or not all(transform_name(step) and transform_name(step) != "Lambda" for step in steps):
        return None
    found = [step for step in steps if transform_name(step) == "Normalize"]
    if not found:
        return (), None
    step = found[-1]
    if not isinstance(step, Call) or len(found) > 1:
        return None
    numbers = (_numbers(step.argument("mean", 0)), _numbers(step.argument("std", 1)))
    return None if None in numbers else (numbers, step.node)


def _numbers(value: Value | None) -> object:
    value = resolved(value)
    if isinstance(value, Collection) and not value.open:
        items = [constant(item) for item in value.items]
        return (
            tuple(float(item) for item in items)
            if all(isinstance(item, int | float) for item in items)
            else None
        )
    if isinstance(value, Const) and isinstance(value.value, int | float):
        return (float(value.value),)
    return None


AUGMENTATION_HEAD = "from torchvision import datasets, transforms as T\n\naugment = T.Compose([T.RandomCrop(32, padding=4), T.RandomHorizontalFlip(), T.ToTensor()])\n"
_RANDOM = frozenset(
    ("ColorJitter", "AutoAugment", "TrivialAugmentWide", "AugMix", "ElasticTransform", "GaussianNoise", "ScaleJitter", "MixUp", "CutMix")
)  # fmt: skip


class RandomAugmentationInEvaluation(StaticRule, code="S508", cause="PRE-TRAIN-TEST-SKEW"):
    """The test images go through random augmentation.

    Each evaluation then sees other, harder images: the result is too low, and changes from run to run, so models cannot be
    compared.

    Give the test set a transform of its own, with resizing, `ToTensor` and normalisation only.
    """

    message = "Test images are changed at random here; give the evaluation a transform without random steps."
    triggers = ("Random", "ColorJitter", "AutoAugment", "TrivialAugment", "AugMix")

    GOOD = (
        Snippet("only training is augmented", AUGMENTATION_HEAD + 'train = datasets.CIFAR10("data", train=True, transform=augment)\n'
                'test = datasets.CIFAR10("data", train=False, transform=T.ToTensor())\n'),
        Snippet("never applied", AUGMENTATION_HEAD + 'test = datasets.CIFAR10("data", train=False, transform=T.Compose([T.RandomHorizontalFlip(p=0.0), T.ToTensor()]))\n'),
    )  # fmt: skip
    BAD = (
        Snippet("one transform for both", AUGMENTATION_HEAD + 'train = datasets.CIFAR10("data", train=True, transform=augment)\n'
                'test = datasets.CIFAR10("data", train=False, transform=augment)\n', line=5),
        Snippet("in a dictionary", 'import torch\nfrom torchvision import transforms\nsteps = {\n    "train": transforms.Compose([transforms.RandomResizedCrop(224), '
                'transforms.ToTensor()]),\n    "val": transforms.Compose([transforms.RandomResizedCrop(224), transforms.ToTensor()]),\n}\n', line=5),
        Snippet("a split by name", "import torchvision.transforms as T\nfrom torchvision.datasets import SVHN\n"
                'data = SVHN("data", split="test", transform=T.Compose([T.ColorJitter(0.4), T.ToTensor()]))\n', line=3),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for transform, place in evaluation_transforms(program):
            if any(_is_random(step) for step in steps_of(transform) or ()):
                yield self.finding(program, place)


def _is_random(step: Value) -> bool:
    if not isinstance(step, Call):
        return False
    name = transform_name(step)
    is_random = name in _RANDOM or (
        name.startswith("Random") and name not in ("RandomApply", "RandomOrder", "RandomChoice")
    )
    return is_random and constant(step.keywords.get("p"), 1) != 0


SCALING_HEAD = f"""{TORCH}\
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, x, y, stats=None):
        self.x, self.y, self.stats = x, y, stats

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        row = self.x[i]
        if self.stats is not None:
            row = (row - self.stats[0]) / self.stats[1]
        return row, self.y[i]

stats = x.mean(0), x.std(0)
"""
LOOP = """\
net = nn.Linear(4, 2)
opt = torch.optim.Adam(net.parameters())
for a, b in train:
    opt.zero_grad()
    nn.functional.cross_entropy(net(a), b).backward()
    opt.step()
with torch.no_grad():
    for a, b in test:
        print((net(a).argmax(1) == b).float().mean())
"""


class DatasetScaledForTrainingOnly(StaticRule, code="S531", cause="PRE-TRAIN-TEST-SKEW"):
    """The same dataset class scales its rows for training, but not for evaluation, where the argument for it is not given.

    The network is trained on inputs around zero and tested on raw ones, far from anything it has seen. The test result says
    nothing about the network.

    Give the evaluation set the same statistics, those of the training data.
    """

    message = "The training set is scaled with `{0}`, this one is not; pass the training statistics here too."
    triggers = ("Dataset)",)
    needs = "DataLoader"
    patterns = (NOWHERE,)

    GOOD = (
        Snippet("both scaled", SCALING_HEAD + "train = DataLoader(Rows(x, y, stats), batch_size=8, shuffle=True)\ntest = DataLoader(Rows(u, v, stats), batch_size=8)\n" + LOOP),
        Snippet("neither scaled", SCALING_HEAD + "train = DataLoader(Rows(x, y), batch_size=8, shuffle=True)\ntest = DataLoader(Rows(u, v), batch_size=8)\n" + LOOP),
        Snippet("only augmentation differs", SCALING_HEAD.replace("row = (row - self.stats[0]) / self.stats[1]", "row = row + self.stats * torch.randn(4)")
                + "train = DataLoader(Rows(x, y, 0.1), batch_size=8, shuffle=True)\ntest = DataLoader(Rows(u, v), batch_size=8)\n" + LOOP),
        Snippet("scaled by hand before", SCALING_HEAD + "train = DataLoader(Rows(x, y, stats), batch_size=8, shuffle=True)\n"
                "test = DataLoader(Rows((u - stats[0]) / stats[1], v), batch_size=8)\n" + LOOP),
    )  # fmt: skip
    BAD = (
        Snippet("statistics forgotten", SCALING_HEAD + "train = DataLoader(Rows(x, y, stats), batch_size=8, shuffle=True)\ntest = DataLoader(Rows(u, v), batch_size=8)\n"
                + LOOP, line=20),
        Snippet("a flag", SCALING_HEAD.replace("stats=None", "normalize=False").replace("y, stats\n", "y, normalize\n").replace("self.stats is not None", "self.stats")
                .replace("self.stats[0]", "x.mean(0)").replace("self.stats[1]", "x.std(0)")
                + "a, b = Rows(x, y, normalize=True), Rows(u, v)\ntrain, test = DataLoader(a, shuffle=True), DataLoader(b)\n" + LOOP, line=19),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        train = [_dataset(feeding.loader) for feeding in trained(program)]
        for evaluation in evaluated(program):
            test = _dataset(evaluation.loader)
            if test is None:
                continue
            for one in train:
                if one is None or one is test or one.cls is not test.cls:
                    continue
                name = next((name for name in _scaling(one.cls) if _differs(one, test, name)), "")
                if name and _is_plain(test):
                    yield self.finding(program, test.node, self.message.format(name))
                    break


def _dataset(loader: Value) -> Instance | None:
    made = loader_made(loader)
    data = dataset_of(made) if made is not None else None
    return data if isinstance(data, Instance) else None


def _given(instance: Instance, name: str) -> Value | None:
    """What an argument of `__init__` was given; None for its default."""
    init = instance.cls.method("__init__")
    if init is None:
        return None
    parameters = [part.arg for part in init.definition.args.args][1:]
    args, keywords = instance.arguments
    if name in keywords:
        return resolved(keywords[name])
    place = parameters.index(name)
    return resolved(args[place]) if place < len(args) else None


def _is_off(value: Value | None) -> bool:
    return value is None or (isinstance(value, Const) and not value.value)


def _differs(one: Instance, test: Instance, name: str) -> bool:
    given = _given(one, name)
    is_on = given is not None and not (isinstance(given, Const) and not given.value)
    return is_on and _is_off(_given(test, name))


def _is_plain(test: Instance) -> bool:
    """Are the test rows given as they were made, not computed from something right there?"""
    args = test.arguments[0]
    return bool(args) and not any(isinstance(part, ast.BinOp | ast.Call) for part in _written(test))


def _written(test: Instance) -> list[ast.expr]:
    return list(test.node.args) if isinstance(test.node, ast.Call) else []


def _scaling(cls: Class) -> Iterator[str]:
    """Arguments (off by default) without which the class does not scale: `if self.stats …: row = (row - mean) / std`."""
    init = cls.methods.get("__init__")
    if init is None or isinstance(init.definition, ast.Lambda):
        return
    arguments = init.definition.args
    first = len(arguments.args) - len(arguments.defaults)
    optional = {
        part.arg
        for part, default in zip(arguments.args[first:], arguments.defaults, strict=True)
        if isinstance(default, ast.Constant) and not default.value
    }
    for method in cls.methods.values():
        owner = self_name(method.definition)
        for node in inside(method.definition, ast.If):
            if not node.orelse and any(_standardises(part) for part in node.body):
                yield from (name for name in optional if _asks(node.test, name, owner, init.definition))


def _standardises(node: ast.AST) -> bool:
    return any(
        isinstance(part.op, ast.Div)
        and isinstance(part.left, ast.BinOp)
        and isinstance(part.left.op, ast.Sub)
        for part in inside(node, ast.BinOp)
    )


def _asks(test: ast.expr, name: str, owner: str, init: ast.AST) -> bool:
    """Does a test look at an argument, by its name or as the attribute it is stored in?"""
    kept = {name}
    for node in inside(init, ast.Assign):
        if len(node.targets) == 1:
            target, value = node.targets[0], node.value
            pairs = (
                zip(target.elts, value.elts, strict=False)
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
                else [(target, value)]
            )
            kept.update(
                f"{owner}.{one.attr}"
                for one, other in pairs
                if isinstance(one, ast.Attribute) and isinstance(other, ast.Name) and other.id == name
            )
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.IsNot):
        test = test.left
    return isinstance(test, ast.Name | ast.Attribute) and ast.unparse(test) in kept
