from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Value, constant, resolved
from netmend.program.meaning.heads import heads
from netmend.program.meaning.loss_shapes import LossShapes
from netmend.program.meaning.operations import operation
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
import torch.nn.functional as F

loader = DataLoader(TensorDataset(torch.randn(100, 4), torch.randint(0, 3, (100,))), batch_size=10)
net = nn.Linear(4, 3)
"""
# Between the scores of an attention and their softmax.
_KEEP_FIRST = frozenset(("contiguous", "clone", "float", "masked_fill", "masked_fill_", "tanh", "dropout"))
_BEHIND_FIRST = ("squeeze", "unsqueeze")  # where they name another axis
ATTENTION = (
    HEAD
    + """
def attend(states, query):
    scores = torch.bmm(states, query.unsqueeze(2)){0}
    weights = F.softmax(scores, {1})
    return torch.bmm(states.transpose(1, 2), weights{2}).squeeze(2)
"""
)
_KINDS = ("nll", "cross_entropy", "kl_div", "mse", "bce", "l1")


@register
class SoftmaxOverBatch(StaticRule):
    """Softmax or log_softmax runs over axis 0 of a batch: the samples compete, not the classes.

    The probabilities of one class then sum to one over the batch. The result of a sample depends on which others are in its batch; with one
    sample per batch every class gets probability 1.

    Use `dim=1` (or `dim=-1`), the axis of the classes.
    """

    code = "S218"
    cause = "ACT-DIM"
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
        Snippet("over the classes", HEAD + "for x, y in loader:\n    loss = F.nll_loss(F.log_softmax(net(x), dim=1), y)\n"),
        Snippet("one sample without a batch", HEAD + "x = torch.randn(4)\np = torch.log_softmax(net(x), dim=0)\nloss = F.nll_loss(p, y)\n"),
        Snippet("shape not known", HEAD + "def step(x, y):\n    return F.nll_loss(F.log_softmax(net(x), dim=0), y)\n"),
        Snippet("competition between samples, not a prediction", HEAD + "for x, y in loader:\n    weight = F.softmax(net(x)[:, 0], dim=0)\n    loss = (weight * y).sum()\n"),
        Snippet("attention over the steps", ATTENTION.format(".squeeze(2)", 1, ".unsqueeze(2)")),
        Snippet("first axis not that of a batch", ATTENTION.format(".squeeze(2)[0]", 0, ".unsqueeze(2)")),
        Snippet("scores of one query", "import torch\n\ndef attend(states, query):\n    return torch.softmax(states @ query, 0) @ states\n"),
    )  # fmt: skip
    BAD = (
        Snippet("attention", ATTENTION.format(".squeeze(2)", 0, ".unsqueeze(2)"), line=11),
        Snippet("attention, masked", ATTENTION.format(".squeeze(2).masked_fill(mask, -1e9)", "dim=0", ".unsqueeze(2)"), line=11),
        Snippet("layer", HEAD + "model = nn.Sequential(net, nn.LogSoftmax(dim=0))\nfor x, y in loader:\n    loss = F.nll_loss(model(x), y)\n", line=8),
        Snippet("function", HEAD + "x, y = torch.randn(50, 4), torch.randint(0, 3, (50,))\nfor rows in torch.randperm(50).split(10):\n"
                "    out = F.log_softmax(net(x[rows]), dim=0)\n    F.nll_loss(out, y[rows]).backward()\n", line=10),
        Snippet("behind a reshape", HEAD + "def train(loader):\n    for x, y in loader:\n        p = net(x.view(-1, 4)).softmax(0)\n        nn.MSELoss()(p, y).backward()\n\ntrain(other)\n", line=10),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        yield from self._scores_of_pairs(program)
        shapes: LossShapes | None = None
        for _, op in heads(program, _KINDS, ("softmax", "log_softmax")):
            if constant(op.option("dim", 0)) != 0:
                continue
            shapes = shapes or LossShapes(program)
            shape = shapes.of(op.input)
            if shape is not None and len(shape) >= 2:
                yield self.finding(program, op.node, self.message.format(op.name))

    def _scores_of_pairs(self, program: Program) -> Iterator[Finding]:
        """Attention: the first axis of what `torch.bmm` gives is that of the samples, wherever they came from."""
        seen: set[int] = set()
        for event in program.calls:
            op = operation(event.call)
            if op is None or op.name not in ("softmax", "log_softmax") or op.input is None:
                continue
            if constant(op.option("dim", 0)) != 0 or id(op.node) in seen:
                continue
            if _is_batch_of_scores(op.input):
                seen.add(id(op.node))
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
