from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Const, Value, constant, resolved
from netmend.program.meaning.evaluation_sets import prepared_pairs
from netmend.program.meaning.loaders_of_models import steps_of, transform_name
from netmend.program.meaning.unscaled_evaluation import evaluated_raw
from netmend.vocabulary.finding import Finding, Related

HEAD = """\
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


@register
class NormalisationDiffers(StaticRule):
    """Training and test images are normalised differently, or only one of them is.

    The network meets inputs on another scale than it was trained on. The test result is far worse than the network is, or the
    comparison with other work is wrong.

    Use the same `Normalize(mean, std)` for both; only random augmentation belongs to training alone.
    """

    code = "S507"
    cause = "PRE-TRAIN-TEST-SKEW"
    message = "Training images are normalised differently; use the same Normalize(...) here."
    triggers = ("Normalize(", "fit_transform(", "x_train", "X_train", "train_x", ".std(")
    patterns = (r"Normalize\(|fit_transform\(",)

    GOOD = (
        Snippet("the same for both", HEAD + 'test_set = datasets.CIFAR10("data", train=False, transform=T.Compose([T.ToTensor(), T.Normalize((0.5,), (0.5,))]))\n'),
        Snippet("written otherwise, the same numbers", HEAD + 'test_set = datasets.CIFAR10("data", train=False, '
                "transform=T.Compose([T.ToTensor(), T.Normalize(mean=[0.5], std=[0.5])]))\n"),
        Snippet("another dataset", HEAD + 'other = datasets.MNIST("data", train=False, transform=T.ToTensor())\n'),
        Snippet("not known", HEAD + 'test_set = datasets.CIFAR10("data", train=False, transform=T.Compose([T.ToTensor(), normalise]))\n'),
        Snippet("arrays: both parts", ARRAYS + "X_train = scaler.fit_transform(X_train)\nX_test = scaler.transform(X_test)\n" + TRAINING),
        Snippet("arrays: cut and scaled alike", "import torch\nX = torch.load('x.pt')\nX_train, X_val = X[:80], X[80:]\nm, s = X_train.mean(0), X_train.std(0)\n"
                "X_train = (X_train - m) / s\nX_val = (X_val - m) / s\n" + ARRAYS[ARRAYS.index("net ="):] +
                TRAINING.replace("X_test", "X_val")),
        Snippet("neither", "from torchvision import datasets, transforms as T\nnorm = T.Normalize(0, 1)\n"
                'a = datasets.MNIST("d", train=True, transform=T.ToTensor())\nb = datasets.MNIST("d", train=False, transform=T.ToTensor())\n'),
    )  # fmt: skip
    BAD = (
        Snippet("missing for the test set", HEAD + 'test_set = datasets.CIFAR10("data", train=False, transform=T.ToTensor())\n', line=5),
        Snippet("other constants", HEAD + "test_steps = T.Compose([\n    T.ToTensor(),\n    T.Normalize((0.485,), (0.229,)),\n])\n"
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

    def check(self, program: Program) -> Iterator[Finding]:
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
            where = program.place(event.node)
            related = Related("This data is evaluated without it.", where.file, where.line, where.column)
            yield self.finding(program, scaling.node or event.node, _UNSCALED, related=(related,))


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
    value = resolved(value) if value is not None else None
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
