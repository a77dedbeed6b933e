"""Softmax along the wrong axis."""

from __future__ import annotations

from itertools import pairwise

from netmend.check.examples import TORCH, TORCH_F
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.library.losses import CROSS_ENTROPIES, LOSS
from netmend.library.operations import ARITHMETIC, COPIES
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.losses import PLAIN, ends_in, heads, loss_uses, width
from netmend.program.meaning.operations import Op, operation
from netmend.program.meaning.shapes import shapes
from netmend.program.meaning.statements import with_argument
from netmend.program.meaning.uses import operations
from netmend.vocabulary.finding import Fix

ONE_HEAD = f"""{TORCH_F}
net = nn.Linear(4, 1)
"""


class SoftmaxOverOne(StaticRule, code="S213", cause="ACT-OUT-WRONG"):
    """Softmax runs over an axis of size one.

    Softmax divides by the sum over its axis; with a single value the result is always 1, whatever the network computes. The output carries
    no information and no gradient.

    For two classes use sigmoid with the one output, or two outputs with softmax.
    """

    message = "Softmax over a single output is always 1; use sigmoid, or one output per class."
    triggers = ("softmax", "Softmax")
    patterns = (r"Linear\([^()\n]*,\s*1\s*[,)]|out_features\s*=\s*1\b",)

    GOOD = (
        Snippet("sigmoid", ONE_HEAD + "p = torch.sigmoid(net(x))\n"),
        Snippet("several outputs", ONE_HEAD + "p = nn.Linear(4, 2)(x).softmax(-1)\n"),
        Snippet("attention over time", ONE_HEAD + "weights = torch.softmax(net(h), dim=1)\ncontext = (weights * h).sum(1)\n"),
        Snippet("column dropped first", ONE_HEAD + "weights = F.softmax(net(h).squeeze(-1), dim=-1)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("last axis", ONE_HEAD + "p = F.softmax(net(x), dim=-1)\n", line=6),
        Snippet("made, used elsewhere", ONE_HEAD + "model = nn.Sequential(\n    nn.Linear(4, 1),\n    nn.Softmax(dim=-1),\n)\n", line=8),
        Snippet("second axis of the output", ONE_HEAD + "model = nn.Sequential(net, nn.Softmax(dim=1))\nloss = F.binary_cross_entropy(model(x), y)\n", line=6),
        Snippet("in forward", "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.out = nn.Linear(8, 1)\n\n"
                "    def forward(self, x):\n        return torch.softmax(self.out(torch.flatten(x, 1)), dim=1)\n\nNet()(images)\n", line=10),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        outputs: set[int] | None = None
        told: set[int] = set()
        for op, _ in operations(program, "softmax", "log_softmax"):
            if not _ends_in_one(op.input):
                continue
            axis = constant(op.option("dim", 0))
            if axis == 1:
                shape = shapes(program).sizes(op.input)
                if shape is None:
                    outputs = _outputs(program) if outputs is None else outputs
                if not (
                    len(shape) == 2 if shape is not None else outputs is not None and id(op.value) in outputs
                ):
                    continue
            if axis in (1, -1):
                told.add(id(op.layer))
                yield self.finding(program, op.node)
        for event in program.calls_of("torch.nn.Sequential"):
            for before, layer in pairwise(resolved(value) for value in (event.call.args)):
                if _is_single(before) and isinstance(layer, Call) and id(layer) not in told:
                    is_softmax = layer.qualified in ("torch.nn.Softmax", "torch.nn.LogSoftmax")
                    if is_softmax and constant(layer.argument("dim", 0)) == -1:
                        yield self.finding(program, layer.node)


def _is_single(value: Value) -> bool:
    """`nn.Linear(8, 1)`"""
    is_linear = isinstance(value, Call) and value.qualified == "torch.nn.Linear"
    return is_linear and isinstance(value, Call) and constant(value.argument("out_features", 1)) == 1


def _ends_in_one(value: Value | None) -> bool:
    ops = ends_in(value, ("linear", "bilinear"), PLAIN)
    return bool(ops) and all(width(op) == 1 for op in ops)


def _outputs(program: Program) -> set[int]:
    """Softmax calls that are a prediction: attention weights do not reach a loss by themselves."""
    found: set[int] = set()
    for use in loss_uses(program):
        found.update(id(resolved(op.value)) for op in ends_in(use.prediction, ("softmax", "log_softmax")))
    return found


BATCH_HEAD = f"""{TORCH}\
from torch.utils.data import DataLoader, TensorDataset
import torch.nn.functional as F

loader = DataLoader(TensorDataset(torch.randn(100, 4), torch.randint(0, 3, (100,))), batch_size=10)
net = nn.Linear(4, 3)
"""
# Between the scores of an attention and their softmax.
_KEEP_FIRST = frozenset((*COPIES, "float", "masked_fill", "masked_fill_", "tanh", "dropout"))
_BEHIND_FIRST = ("squeeze", "unsqueeze")  # where they name another axis
ATTENTION = (
    BATCH_HEAD
    + """
def attend(states, query):
    scores = torch.bmm(states, query.unsqueeze(2)){0}
    weights = F.softmax(scores, {1})
    return torch.bmm(states.transpose(1, 2), weights{2}).squeeze(2)
"""
)
_KINDS = tuple(
    LOSS[name].short for name in (*CROSS_ENTROPIES, "kl_div", "mse_loss", "binary_cross_entropy", "l1_loss")
)


class SoftmaxOverBatch(StaticRule, code="S218", cause="ACT-DIM"):
    """Softmax or log_softmax runs over axis 0 of a batch: the samples compete, not the classes.

    The probabilities of one class then sum to one over the batch. The result of a sample depends on which others are in its batch; with one
    sample per batch every class gets probability 1.

    Use `dim=1` (or `dim=-1`), the axis of the classes.
    """

    message = "{} runs over the batch (dim=0); use dim=1, the axis of the classes."
    triggers = (
        "NLLLoss",
        "nll_loss",
        "CrossEntropyLoss",
        "cross_entropy",
        "KLDivLoss",
        "kl_div",
        "MSELoss",
        "mse_loss",
        "bmm",
    )

    GOOD = (
        Snippet("over the classes", BATCH_HEAD + "for x, y in loader:\n    loss = F.nll_loss(F.log_softmax(net(x), dim=1), y)\n"),
        Snippet("one sample without a batch", BATCH_HEAD + "x = torch.randn(4)\np = torch.log_softmax(net(x), dim=0)\nloss = F.nll_loss(p, y)\n"),
        Snippet("shape not known", BATCH_HEAD + "def step(x, y):\n    return F.nll_loss(F.log_softmax(net(x), dim=0), y)\n"),
        Snippet("attention over the steps", ATTENTION.format(".squeeze(2)", 1, ".unsqueeze(2)")),
        Snippet("first axis not that of a batch", ATTENTION.format(".squeeze(2)[0]", 0, ".unsqueeze(2)")),
    )  # fmt: skip
    BAD = (
        Snippet("attention", ATTENTION.format(".squeeze(2)", 0, ".unsqueeze(2)"), line=11),
        Snippet("attention, masked", ATTENTION.format(".squeeze(2).masked_fill(mask, -1e9)", "dim=0", ".unsqueeze(2)"), line=11),
        Snippet("layer", BATCH_HEAD + "model = nn.Sequential(net, nn.LogSoftmax(dim=0))\nfor x, y in loader:\n    loss = F.nll_loss(model(x), y)\n", line=8),
        Snippet("behind a reshape", BATCH_HEAD + "def train(loader):\n    for x, y in loader:\n        p = net(x.view(-1, 4)).softmax(0)\n        nn.MSELoss()(p, y).backward()\n\ntrain(other)\n", line=10),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        yield from self._scores_of_pairs(program)
        for _, op in heads(program, _KINDS, ("softmax", "log_softmax")):
            if constant(op.option("dim", 0)) != 0:
                continue
            shape = shapes(program).sizes(op.input)
            if shape is not None and len(shape) >= 2:
                yield self.finding(program, op.node, self.message.format(op.name))

    def _scores_of_pairs(self, program: Program) -> Findings:
        """Attention: the first axis of what `torch.bmm` gives is that of the samples, wherever they came from."""
        for op, _ in operations(program, "softmax", "log_softmax"):
            if op.input is None or constant(op.option("dim", 0)) != 0:
                continue
            if _is_batch_of_scores(op.input):
                yield self.finding(program, op.node, self.message.format(op.name))


def _is_batch_of_scores(value: Value) -> bool:
    for _ in range(20):
        op = operation(resolved(value))
        if op is None or op.input is None:
            return False
        if op.name == "bmm":
            return True
        behind = op.name in _BEHIND_FIRST and constant(op.option("dim", 0)) not in (None, 0)
        if op.name not in _KEEP_FIRST and not behind:
            return False
        value = op.input
    return False


DEFAULT_HEAD = (
    "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\nnet = nn.Linear(4, 3)\n"
)
_PLAIN = frozenset(
    (*ARITHMETIC[::2], "masked_fill", "float", "to", "clamp", "dropout", "div", "type_as", "half")
)


class SoftmaxWithoutDim(StaticRule, code="S219", cause="ACT-DIM"):
    """Softmax or log_softmax is called without saying along which axis, on something with three axes or on attention scores.

    Without `dim` torch guesses by the number of axes: axis 0 for three, the batch of a sequence model, and axis 1 for two or four. For
    sequences and attention the guess is wrong: samples compete with each other, silently. (The guess itself is deprecated.)

    Give `dim`: -1 for sequences and attention.
    """

    message = "{} without dim guesses the axis, and guesses wrong here (0 for three axes); pass dim=-1."
    triggers = ("softmax(", "Softmax(", "softmin(", "Softmin(")
    # No comma, no `dim=` and no lone number between the brackets, which may hold others two deep.
    patterns = (r"[sS]oft(?:max|min)\((?!\s*-?\d+\s*\)|\s*dim\s*=)(?:[^,()]|\((?:[^()]|\([^()]*\))*\))*\)",)

    GOOD = (
        Snippet("given", DEFAULT_HEAD + "p = F.softmax(net(torch.randn(8, 5, 4)), dim=1)\n"),
        Snippet("number of axes not known", DEFAULT_HEAD + "def policy(q):\n    return F.softmax(net(q))\n"),
        Snippet("scores of all pairs in one table", DEFAULT_HEAD + "h = net(x)\nw = F.softmax(h @ h.t())\n"),
        Snippet("options unpacked", DEFAULT_HEAD + "p = F.softmax(net(torch.randn(8, 5, 4)), **options)\n"),
    )  # fmt: skip
    BAD = (
        mended("three axes", DEFAULT_HEAD + "p = F.log_softmax(net(torch.randn(8, 5, 4))⟨ → , dim=-1⟩)\n"),
        mended("layer for attention", "from torch import nn\n\nclass Attention(nn.Module):\n    def __init__(self, d):\n        super().__init__()\n"
                "        self.q, self.k = nn.Linear(d, d), nn.Linear(d, d)\n        self.softmax = nn.Softmax(⟨ → dim=-1⟩)\n\n"
                "    def forward(self, x):\n        scores = self.q(x) @ self.k(x).transpose(1, 2) / x.size(-1) ** 0.5\n"
                "        return self.softmax(scores) @ x\n"),
        mended("third axis used afterwards", DEFAULT_HEAD + "def scores(outputs):\n    logits = outputs.logits\n    p = F.softmax(logits⟨ → , dim=-1⟩)[:, :, :-1]\n    return p.max(-1)\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        three: set[int] | None = None
        for op, _ in operations(program, "softmax", "log_softmax", "softmin"):
            if _is_told(op):
                continue
            shape = shapes(program).sizes(op.input)
            if shape is None:
                three = _with_three_axes(program) if three is None else three
            is_wrong = (
                len(shape) == 3
                if shape is not None
                else three is not None and bool(three & {id(resolved(op.value)), _id(op.input)})
            )
            if is_wrong or _is_attention(op.input):
                node = op.layer.node if op.layer is not None and op.layer.node is not None else op.node
                fix = Fix("Add dim=-1", with_argument(program, node, "dim", "-1"))
                yield self.finding(program, node, self.message.format(op.name), fix=fix)


def _is_told(op: Op) -> bool:
    """Is `dim` given, or can that not be told?"""
    holder = op.layer if op.layer is not None else op.value
    if holder.open or (op.layer is None and op.value.method):
        return True
    name = holder.qualified
    known = name.startswith("torch.nn.") and not name.endswith("2d")
    return not known or op.option("dim", 0) is not None


def _id(value: Value | None) -> int:
    return id(resolved(value)) if value is not None else 0


def _with_three_axes(program: Program) -> set[int]:
    """Values whose third axis is used: `p[:, :, 0]`, `x.shape[2]`, `x.size(2)`."""
    found: set[int] = set()
    for event in program.events:
        call = event.call
        for value in (event.value, *(call.args if call is not None else ())):
            value = resolved(value)
            if isinstance(value, Item):
                base, key = resolved(value.base), value.key
                if isinstance(base, Attribute) and base.name == "shape" and constant(key) == 2:
                    found.add(_id(base.base))
                elif isinstance(key, Collection) and len([part for part in key.items if _is_axis(part)]) == 3:
                    found.add(id(base))
        if call is not None and call.method == "size" and call.args and constant(call.args[0]) == 2:
            found.add(_id(call.receiver))
    return found


def _is_axis(key: Value) -> bool:
    return not (isinstance(key, Const) and (key.value is None or key.value is Ellipsis))


def _is_attention(value: Value | None) -> bool:
    """`q @ k.transpose(1, 2)`, `torch.bmm(q, k)`, scaled and masked."""
    for _ in range(12):
        value = resolved(value)
        op = operation(value)
        if isinstance(value, Operation) and len(value.operands) == 2:
            if value.operator == "@":
                return _turns_batch(value.operands[1])
            value = value.operands[0] if value.operator in ("/", "*", "+") else None
        elif op is not None and op.name == "bmm":
            return True
        elif op is not None and op.name == "matmul" and len(op.inputs) == 2:
            return _turns_batch(op.inputs[1])
        elif op is not None and op.name in _PLAIN and op.inputs:
            value = op.inputs[0]
        else:
            return False
    return False


def _turns_batch(value: Value) -> bool:
    op = operation(resolved(value))
    return (
        op is not None
        and op.name == "transpose"
        and {constant(axis) for axis in op.inputs[1:]} in ({1, 2}, {2, 3})
    )
