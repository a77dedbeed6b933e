"""Classes: as many outputs as there are, and targets in the form the loss reads."""

from __future__ import annotations

from netmend.check.examples import TORCH, TORCH_F
from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.library.operations import COPIES, MOVES
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Item, Operation, Value, constant, resolved
from netmend.program.meaning.gradient_flow import is_computed
from netmend.program.meaning.loss_targets import class_ids, is_real, is_used_as_index, one_hot
from netmend.program.meaning.losses import (
    ELEMENTWISE,
    PLAIN,
    LossUse,
    ends_in,
    heads,
    loss_uses,
    losses,
    width,
)
from netmend.program.meaning.operations import LAYOUT, LINEAR_MAPS, all_origins, operation
from netmend.program.meaning.shapes import shapes

REGRESSED_HEAD = f"""{TORCH}\
from torch.utils.data import DataLoader
from torchvision import datasets, transforms
import torch.nn.functional as F

loader = DataLoader(datasets.MNIST("data", train=True, transform=transforms.ToTensor()), batch_size=64, shuffle=True)
net = nn.Sequential(nn.Flatten(), nn.Linear(784, 1))
"""
IDS = f"""{TORCH}
centres = torch.randn(5, 4)
labels = torch.randint(0, 5, (200,))
points = centres[labels] + torch.randn(200, 4)
net = nn.Linear(4, 1)
"""


class ClassIdsRegressed(StaticRule, code="S210", cause="LOS-SELECT"):
    """A regression loss (MSE, L1) is computed against class ids.

    Class ids are names: class 7 is not more than class 2. A regression loss makes the network predict averages of ids, so a picture between
    2 and 8 becomes a 5.

    Give the network one output per class and use `CrossEntropyLoss` with the ids as they are.
    """

    message = "{} on class ids treats them as quantities; use one output per class and cross-entropy."
    triggers = ("MSELoss", "mse_loss", "L1Loss", "l1_loss", "HuberLoss", "huber_loss")

    GOOD = (
        Snippet("cross-entropy", REGRESSED_HEAD + "for x, y in loader:\n    loss = F.cross_entropy(net(x), y)\n"),
        Snippet("one-hot rows", REGRESSED_HEAD + "for x, y in loader:\n    loss = F.mse_loss(net(x), F.one_hot(y, 10).float())\n"),
        Snippet("pictures rebuilt", REGRESSED_HEAD + "for x, _ in loader:\n    loss = F.mse_loss(net(x), x)\n"),
        Snippet("amounts", IDS + "amount = points.sum(1)\nloss = nn.MSELoss()(net(points).squeeze(1), amount)\n"),
        Snippet("made-up numbers in a test", "import torch\nfrom torch import nn\ny = torch.randint(0, 10, (8,)).float()\nloss = nn.MSELoss()(nn.Linear(4, 1)(x).squeeze(1), y)\n"),
        Snippet("two classes", IDS.replace("5", "2") + "loss = nn.MSELoss()(net(points).squeeze(1), labels.float())\n"),
        Snippet("error of a rounded guess", IDS + "with torch.no_grad():\n    guess = net(points).argmax(1).float()\n    error = nn.functional.l1_loss(guess, labels.float())\n"),
    )  # fmt: skip
    BAD = (
        Snippet("digits", REGRESSED_HEAD + "for x, y in loader:\n    loss = F.mse_loss(net(x).squeeze(1), y.float())\n    loss.backward()\n", line=10),
        Snippet("ids that choose the centre", IDS + "criterion = nn.MSELoss()\nloss = criterion(net(points).squeeze(1), labels.float())\n", line=9),
        Snippet("flowers", "import torch\nfrom torch import nn\nfrom sklearn.datasets import load_iris\nfrom sklearn.model_selection import train_test_split\n\n"
                "X, y = load_iris(return_X_y=True)\nX, _, y, _ = train_test_split(X, y)\nnet = nn.Linear(4, 1)\n"
                "loss = nn.MSELoss()(net(torch.tensor(X).float()).squeeze(1), torch.tensor(y).float())\n", line=9),
        Snippet("one-hot rows turned into ids", IDS + "rows = table[:, 4:]\nloss = nn.L1Loss()(net(points), rows.argmax(1).float())\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for use in loss_uses(program):
            if use.kind not in ELEMENTWISE or use.prediction is None or not is_computed(use.prediction):
                continue
            ids = class_ids(program, use.target)
            if ids is None or (ids.count is not None and ids.count < 3):
                continue
            if ids.is_random and not is_used_as_index(ids, use.prediction):
                continue
            op = operation(ids.source)
            if op is not None and op.name == "argmax" and (not op.inputs or is_computed(op.inputs[0])):
                continue  # what a network chose, not a label
            if class_ids(program, use.prediction) is None:
                yield self.finding(program, use.node, self.message.format(use.kind.upper().replace("_", " ")))


WIDTH_HEAD = f"""{TORCH_F}
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
criterion = nn.CrossEntropyLoss()
"""


class WidthOneIntoCrossEntropy(StaticRule, code="S212", cause="LYR-OUT-SHAPE"):
    """Cross-entropy is computed on an output with a single score.

    Softmax over one class always gives 1: the loss is exactly 0 from the first step, no gradient flows, and any class id but 0 is an error.

    For two classes use `BCEWithLogitsLoss` with the one output, or give the network one output per class.
    """

    message = "The network has one output, so this cross-entropy is always 0; use BCEWithLogitsLoss or one output per class."
    triggers = ("CrossEntropyLoss", "cross_entropy")

    GOOD = (
        Snippet("two outputs", WIDTH_HEAD + "net = nn.Linear(4, 2)\nloss = criterion(net(x), y)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("linear layer of one unit", WIDTH_HEAD + "loss = criterion(net(x), y)\n", line=7),
        Snippet("in a class, as a function", "from torch import nn\nimport torch.nn.functional as F\n\nclass Net(nn.Module):\n    def __init__(self, classes=1):\n"
                "        super().__init__()\n        self.head = nn.Linear(16, classes)\n\n    def forward(self, x):\n        return self.head(x)\n\n"
                "model = Net()\nfor x, y in loader:\n    F.cross_entropy(model(x), y).backward()\n", line=14),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for use, op in heads(program, ("cross_entropy",), LINEAR_MAPS, PLAIN):
            if width(op) == 1:
                yield self.finding(program, use.node, see=[("one output", op.node)])


FORM_HEAD = f"""{TORCH_F}
net = nn.Linear(4, 5)
x = torch.randn(64, 4)
label = torch.randint(0, 5, (64,))
"""


class TargetOfWrongForm(StaticRule, code="S226", cause="INP-METHOD-SHAPE"):
    """Cross-entropy or NLLLoss is given a target of the wrong form: one-hot whole numbers, or class ids as real numbers.

    Class ids must be whole numbers, one per sample. Rows of class probabilities must be real numbers, and only cross-entropy takes them.
    Anything else stops with an error about types or sizes.

    Give the ids as they are (`long`); turn one-hot rows into ids with `argmax(1)`, or into probabilities with `.float()`.
    """

    message = "One-hot integer rows are not a valid target for {}; pass the class ids."
    triggers = ("CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss")

    GOOD = (
        Snippet("class ids", FORM_HEAD + "loss = F.cross_entropy(net(x), label)\n"),
        Snippet("probabilities", FORM_HEAD + "loss = F.cross_entropy(net(x), F.one_hot(label, 5).float())\n"),
        Snippet("mixed labels", FORM_HEAD + "rows = 0.9 * F.one_hot(label, 5) + 0.02\nloss = F.cross_entropy(net(x), rows)\n"),
        Snippet("back to ids", FORM_HEAD + "rows = F.one_hot(label, 5)\nloss = F.nll_loss(net(x).log_softmax(1), rows.argmax(1))\n"),
        Snippet("soft targets of unknown shape", FORM_HEAD + "def loss(scores, soft):\n    return F.cross_entropy(scores, soft.float())\n"),
    )  # fmt: skip
    BAD = (
        Snippet("one-hot", FORM_HEAD + "rows = F.one_hot(label, num_classes=5)\nloss = F.cross_entropy(net(x), rows)\n", line=9),
        Snippet("one-hot for the likelihood", FORM_HEAD + "nll = nn.NLLLoss()\nloss = nll(F.log_softmax(net(x), 1), F.one_hot(label, 5).float())\n", line=9),
        Snippet("ids as real numbers", FORM_HEAD + "loss = nn.CrossEntropyLoss()(net(x), label.float())\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for use in loss_uses(program):
            if use.kind not in ("cross_entropy", "nll"):
                continue
            title = "cross-entropy" if use.kind == "cross_entropy" else "NLLLoss"
            rows = one_hot(program, use.target)
            if rows is not None:
                if rows[1] or use.kind == "nll":
                    yield self.finding(program, use.node, self.message.format(title))
                continue
            if is_real(program, use.target) and _is_one_per_sample(program, use):
                message = f"{title} needs class ids as integers, these are floats; use .long()."
                yield self.finding(program, use.node, message, cause="INP-TYPE")


def _is_one_per_sample(program: Program, use: LossUse) -> bool:
    target, prediction = shapes(program).sizes(use.target), shapes(program).sizes(use.prediction)
    if target is None or len(target) != 1 or target[0] == 1:
        return False
    return prediction is not None and len(prediction) == 2 and class_ids(program, use.prediction) is None


FEWER_HEAD = f"""{TORCH}\
from torch.utils.data import DataLoader, TensorDataset
from torchvision.datasets import CIFAR10
import torch.nn.functional as F
"""
_BETWEEN = PLAIN | {"softmax", "log_softmax", "sigmoid", "dropout"}


class FewerOutputsThanClasses(StaticRule, code="S228", cause="LYR-OUT-SHAPE"):
    """The network has fewer outputs than the data has classes.

    A label beyond the last output stops training with "Target … is out of bounds" (on a GPU with an unreadable assertion), as soon as such
    a label comes up.

    Give the last layer one output per class.
    """

    message = "The last layer has {} outputs, but the labels have {} classes; give it one output per class."
    triggers = ("CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss", "one_hot")

    GOOD = (
        Snippet("as many", FEWER_HEAD + "labels = torch.randint(0, 10, (100,))\nloss = F.cross_entropy(nn.Linear(4, 10)(x), labels)\n"),
        Snippet("scores reshaped", FEWER_HEAD + "labels = torch.randint(0, 10, (100,))\nloss = F.cross_entropy(nn.Linear(4, 5)(x).view(-1, 10), labels)\n"),
        Snippet("labels regrouped", FEWER_HEAD + "labels = torch.randint(0, 10, (100,)) // 5\nloss = F.cross_entropy(nn.Linear(4, 2)(x), labels)\n"),
        Snippet("labels changed by the dataset", FEWER_HEAD + "loader = DataLoader(CIFAR10('data', target_transform=group))\nnet = nn.Linear(3072, 2)\n"
                "for x, y in loader:\n    F.cross_entropy(net(x), y).backward()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("random labels", FEWER_HEAD + "labels = torch.randint(0, 10, (100,))\nhead = nn.Linear(4, 9)\nloss = F.cross_entropy(head(x), labels)\n", line=8),
        Snippet("known dataset in a class", FEWER_HEAD + "class Net(nn.Module):\n    def __init__(self, classes=9):\n        super().__init__()\n        self.fc = nn.Linear(3072, classes)\n\n"
                "    def forward(self, x):\n        return self.fc(x.flatten(1))\n\nnet = Net()\ncriterion = nn.CrossEntropyLoss()\nfor x, y in DataLoader(CIFAR10('data'), batch_size=8):\n"
                "    criterion(net(x), y).backward()\n", line=17),
        Snippet("through a dataset of tensors", FEWER_HEAD + "kind = torch.randint(0, 6, (90,))\nloader = DataLoader(TensorDataset(rows[:70], kind[:70]), batch_size=5)\n"
                "net = nn.Sequential(nn.Linear(7, 5), nn.LogSoftmax(1))\nfor x, y in loader:\n    F.nll_loss(net(x), y).backward()\n", line=10),
        Snippet("one-hot rows", FEWER_HEAD + "rows = F.one_hot(y, 4).float()\nloss = F.mse_loss(nn.Linear(8, 3)(x), rows)\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for use in loss_uses(program):
            ops = ends_in(use.prediction, LINEAR_MAPS, _BETWEEN)
            outputs = {width(op) for op in ops}
            count = outputs.pop() if len(outputs) == 1 else None
            if count is None:
                continue
            classes = None
            rows = one_hot(program, use.target)
            if rows is not None:
                classes = constant(rows[0].argument("num_classes", 1))
            elif use.kind in ("cross_entropy", "nll"):
                ids = class_ids(program, use.target)
                classes = ids.count if ids is not None else None
            if isinstance(classes, int) and 1 < count < classes:
                message = self.message.format(count, classes)
                yield self.finding(program, use.node, message, see=[("the last layer", ops[0].node)])


_FLOATS = ("float", "double", "half")
_PLAIN = frozenset((*MOVES, *COPIES, "detach"))
FLOATS_HEAD = (
    "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\nnet = nn.Linear(12, 5)\n"
)


class ClassIdsAsFloats(StaticRule, code="S723", cause="INP-TYPE"):
    """Cross-entropy is given class ids as floats, or a one-hot code as whole numbers.

    The type of the target tells the loss what it is: whole numbers are class ids, one per sample; floats are probabilities, one per
    class. Ids as floats and one-hot codes as whole numbers fit neither, and the loss stops with an error of type or shape.

    Give ids with `.long()`, or probabilities of the shape of the logits with `.float()`.
    """

    message = "Cross-entropy takes class ids as integers; drop the conversion to float."
    triggers = ("cross_entropy", "CrossEntropyLoss")

    GOOD = (
        Snippet("whole numbers", FLOATS_HEAD + "loss = F.cross_entropy(net(x), y.long())\n"),
        Snippet("probabilities", FLOATS_HEAD + "loss = F.cross_entropy(net(x), F.one_hot(y, 5).float())\n"),
        Snippet(
            "another loss",
            FLOATS_HEAD + "loss = F.binary_cross_entropy_with_logits(net(x).view(-1), y.view(-1).float())\n",
        ),
        Snippet(
            "ids from a code", FLOATS_HEAD + "loss = F.cross_entropy(net(x), F.one_hot(y, 5).argmax(1))\n"
        ),
    )
    BAD = (
        Snippet("one row of floats", FLOATS_HEAD + "loss = F.cross_entropy(net(x), y.view(-1).float())\n", line=6),
        Snippet("ids found by argmax", FLOATS_HEAD + "criterion = nn.CrossEntropyLoss()\ntarget = code.argmax(dim=1).float()\nloss = criterion(net(x), target)\n", line=8),
        Snippet("a one-hot code", FLOATS_HEAD + "onehot = F.one_hot(y, num_classes=5)\nfor b in torch.randperm(500).split(50):\n    loss = F.cross_entropy(net(x[b]), onehot[b])\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for use in losses(program):
            if use.kind != "cross_entropy" or not all_origins(
                use.prediction, lambda op: op.name == "linear" and op.layer is not None, _PLAIN
            ):
                continue
            if _is_float_ids(use.target):
                yield self.finding(program, use.node)
            elif _is_code(use.target):
                text = "The one-hot rows are integers, which cross-entropy reads as class ids; pass the ids themselves, or the rows as .float()."
                yield self.finding(program, use.node, text)


def _is_float_ids(value: Value | None) -> bool:
    """One axis for certain, and floats for certain."""
    is_float = is_flat = False
    for _ in range(20):
        op = operation(resolved(value))
        if op is None or not op.inputs:
            return False
        if op.name in _FLOATS:
            is_float = True
        elif (op.name in ("argmax", "flatten", "ravel") and _whole(op.name, op.value)) or _is_one_axis(
            op.name, op.value
        ):
            is_flat = True
        elif op.name not in LAYOUT - {"type", "unsqueeze", "expand", "long"} or op.name in (
            "view",
            "reshape",
            "permute",
            "transpose",
        ):
            return False
        if is_float and is_flat:
            return True
        value = op.inputs[0]
    return False


def _whole(name: str, call: Call) -> bool:
    return name == "argmax" or (len(call.args) + len(call.keywords) <= (0 if call.method else 1))


def _is_one_axis(name: str, call: Call) -> bool:
    sizes = call.args if call.method else call.args[1:]
    return name in ("view", "reshape") and len(sizes) == 1 and getattr(sizes[0], "value", None) == -1


def _is_code(value: Value | None) -> bool:
    for _ in range(20):
        value = resolved(value)
        if isinstance(value, Item):
            if isinstance(resolved(value.key), Operation) and resolved(value.key).operator != "slice":  # type: ignore[attr-defined]
                return False
            value = value.base
            continue
        op = operation(value)
        if op is None:
            return False
        if op.name == "one_hot":
            return True
        if op.name not in _PLAIN or any(
            getattr(part, "qualified", "").startswith("torch.f") for part in op.inputs[1:]
        ):
            return False
        value = op.input
    return False
