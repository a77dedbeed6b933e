"""Dropout at the wrong place, rate or time."""

from __future__ import annotations

import re

from netmend.check.examples import TORCH_F, net
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import Branch, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Value, constant, resolved
from netmend.program.meaning.losses import TRIGGERS, losses
from netmend.program.meaning.modules import BATCH_NORMS, DROPOUTS, is_module_class, self_name
from netmend.program.meaning.operations import ACTIVATIONS, LAYOUT, all_origins, walk
from netmend.program.meaning.paths import paths, previous
from netmend.program.meaning.statements import with_argument
from netmend.vocabulary.finding import Fix

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n"
_LAYERS = (
    "torch.nn.Dropout",
    "torch.nn.Dropout1d",
    "torch.nn.Dropout2d",
    "torch.nn.Dropout3d",
    "torch.nn.AlphaDropout",
)
_FUNCTIONS = (
    "torch.nn.functional.dropout",
    "torch.nn.functional.dropout2d",
    "torch.nn.functional.alpha_dropout",
)
_MOST = 0.9  # at this rate one value in ten is left, and the rest is multiplied by ten
_MOST_ON_GRAPHS = 0.95  # networks on sparse node features are published with 0.9 and more
_GRAPHS = ("torch_geometric", "import dgl", "from dgl")


class DropoutRateExtreme(StaticRule, code="S320", cause="LYR-DROPOUT-RATE"):
    """Dropout throws away nine tenths of its input or more.

    In PyTorch and Keras the rate is the share that is *dropped*; in some older programs it was the share that is kept. At 0.9 one
    value in ten is left, multiplied by ten; at 1.0 nothing is left and nothing is learned behind it.

    Usual rates are 0.1 to 0.5. If 0.9 was meant to be kept, write 0.1. Graph networks may drop up to 0.95 of sparse node features.
    """

    message = "Dropout drops {share} of its input (p is the share to drop); 0.1 to 0.5 is usual."
    triggers = ("ropout",)
    patterns = (r"ropout\w*\([^)\n]*(?:\.9|1\.0|\b1\b)",)

    GOOD = (
        Snippet("usual", HEAD + "drop = nn.Dropout(0.5)\n"),
        Snippet("default", HEAD + "drop = nn.Dropout()\n"),
        Snippet("sparse features of a graph", HEAD + "from torch_geometric.nn import GCNConv\n\ndef step(x):\n    return F.dropout(x, p=0.92)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("nearly all", HEAD + "net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.95), nn.Linear(8, 1))\n", line=5),
        Snippet("as a function", HEAD + "keep = 0.9\ny = F.dropout(x, p=keep)\n", line=6),
        Snippet("all", HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.drop = nn.Dropout2d(p=1.0)\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.calls_of(*_LAYERS):
            yield from self._judged(program, event.call, event.call.argument("p", 0))
        for event in program.calls_of(*_FUNCTIONS):
            yield from self._judged(program, event.call, event.call.argument("p", 1))

    def _judged(self, program: Program, call: Call, rate: Value | None) -> Findings:
        known = constant(resolved(rate))
        most = _MOST_ON_GRAPHS if any(name in program.text for name in _GRAPHS) else _MOST
        if isinstance(known, int | float) and not isinstance(known, bool) and known >= most:
            share = "everything" if known >= 1 else f"{known:.0%}"
            yield self.finding(program, call.node, self.message.format(share=share))


MODE_NET = net("fc = nn.Linear(4, 1)", head=TORCH_F)
_NAMES = tuple(
    f"torch.nn.functional.{name}"
    for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
)
# Speech synthesis keeps its prenet noisy on purpose, and so do estimates of uncertainty.
_ON_PURPOSE = re.compile(r"pre_?net|monte_?carlo|bayes|^mc[A-Z_]|mcdropout", re.IGNORECASE)


class DropoutIgnoresMode(StaticRule, code="S321", cause="LYR-DROPOUT-MODE"):
    """`F.dropout` is called in a module without telling it the mode.

    The function's own default is `training=True`: `model.eval()` does not reach it, and values are still dropped at random when the
    model is evaluated or used. `nn.Dropout` layers do follow the mode.

    Write `F.dropout(x, p, training=self.training)`, or use an `nn.Dropout` layer.
    """

    message = "F.dropout drops in evaluation too: its default is training=True. Pass training=self.training."
    triggers = ("dropout(", "dropout1d(", "dropout2d(", "dropout3d(")
    patterns = (
        r"(?:F|functional)\.\w*dropout\w*\((?![^\n]*training)",
        r"dropout(?<=[\s(=]dropout)\d?d?\((?![^\n]*training)",
    )

    GOOD = (
        Snippet("mode passed", MODE_NET + "        return F.dropout(self.fc(x), 0.5, training=self.training)\n"),
        Snippet("only in training", MODE_NET + "        if self.training:\n            x = F.dropout(x, 0.5)\n        return self.fc(x)\n"),
        Snippet("nothing is dropped", MODE_NET + "        return F.dropout(self.fc(x), 0.0)\n"),
        Snippet("no module", "import torch.nn.functional as F\n\ndef noisy(x):\n    return F.dropout(x, 0.1)\n"),
        Snippet("noisy on purpose", MODE_NET.replace("Net(", "Prenet(") + "        return F.dropout(self.fc(x), 0.5)\n"),
    )  # fmt: skip
    BAD = (
        mended("rate only", MODE_NET + "        return F.dropout(self.fc(x), 0.5⟨ → , training=self.training⟩)\n"),
        mended("in another method", MODE_NET + "        return self.fc(self.mix(x))\n\n    def mix(self, h):\n"
                "        return torch.nn.functional.dropout(h⟨ → , training=self.training⟩)\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.calls_of(*_NAMES):
            call = event.call
            if call.open or call.argument("training", 2) is not None:
                continue
            if constant(call.argument("p", 1)) == 0 or _asks_mode(event):
                continue
            body = event.body
            within = body.function.within if body is not None else None
            if body is None or within is None or _ON_PURPOSE.search(within.name):
                continue
            if is_module_class(within):
                owner = self_name(body.function.definition)
                edits = with_argument(program, call.node, "training", f"{owner}.training") if owner else ()
                yield self.finding(program, call.node, fix=Fix("Pass the mode", edits))


def _asks_mode(event: Event) -> bool:
    """Does it stand behind a question about the mode?"""
    for part in event.around():
        if isinstance(part, Branch):
            if part.test is None:
                continue
            for value in walk(part.test):
                if isinstance(value, Attribute) and value.name == "training":
                    return True
                if "train" in getattr(value, "name", ""):
                    return True
    return False


_THROUGH = ACTIVATIONS | {"identity"}


class DropoutBeforeBatchNorm(StaticRule, code="S323", cause="LYR-NORM-STATS", advisory=True):
    """Dropout stands right before batch norm.

    In training dropout raises the variance of what batch norm counts; in evaluation it is off and the variance is another one. The
    running statistics then do not fit, and validation is worse than training suggests ("variance shift").

    Put dropout behind the batch norm, best behind the last one.
    """

    message = "Dropout before batch norm makes its statistics differ between training and evaluation; put dropout after it."
    triggers = ("BatchNorm",)

    GOOD = (
        Snippet("behind it", HEAD + "net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 1))\n"),
        Snippet("nothing is dropped", HEAD + "net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.0), nn.BatchNorm1d(8))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in a Sequential", HEAD + "net = nn.Sequential(\n    nn.Linear(4, 8),\n    nn.Dropout(0.3),\n    nn.BatchNorm1d(8),\n)\n", line=8),
        Snippet("in forward", HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.conv = nn.Conv2d(1, 8, 3)\n        self.bn = nn.BatchNorm2d(8)\n"
                "        self.drop = nn.Dropout2d(0.1)\n\n    def forward(self, x):\n        return self.bn(F.relu(self.drop(self.conv(x))))\n", line=13),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for op in paths(program).ops:
            if op.name in BATCH_NORMS and op.layer is not None:
                before = previous(op, _THROUGH)
                if (
                    before is not None
                    and before.name in DROPOUTS
                    and constant(before.option("p", 0), 0.5) != 0
                ):
                    yield self.finding(program, op.node)


OUTPUT_NET = net("fc1 = nn.Linear(4, 16)", "fc2 = nn.Linear(16, 3)", "drop = nn.Dropout(0.5)", head=TORCH_F)
STEP = "\nnet = Net()\nloss = F.cross_entropy(net(x), y)\nloss.backward()\n"
_KINDS = frozenset(("cross_entropy", "bce_logits", "mse", "l1", "smooth_l1", "huber", "nll"))


class DropoutOnOutput(StaticRule, code="S325", cause="LYR-DROPOUT-RATE"):
    """Dropout is applied to the network's output, right before the loss.

    It sets scores of random classes (or random predictions) to 0 and multiplies the others: the loss is computed from answers the
    network never gave, and the gradient of the dropped ones is zero.

    Apply dropout before the last layer.
    """

    message = "Dropout is applied to the output that the loss gets; put it before the last layer."
    triggers = (*TRIGGERS, ".backward(")

    GOOD = (
        Snippet("before the last layer", OUTPUT_NET + "        return self.fc2(self.drop(F.relu(self.fc1(x))))\n" + STEP),
        Snippet("nothing is dropped", OUTPUT_NET + "        return F.dropout(self.fc2(x), 0.0)\n" + STEP),
    )  # fmt: skip
    BAD = (
        Snippet("last line of forward", OUTPUT_NET + "        x = F.relu(self.fc1(x))\n        return self.drop(self.fc2(x))\n" + STEP, line=14),
        Snippet("last layer of a Sequential", "import torch\nfrom torch import nn\n\nnet = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1), nn.Dropout(0.2))\n"
                "criterion = nn.MSELoss()\n\ndef train(data, optimizer):\n    for x, y in data:\n        loss = criterion(net(x).squeeze(1), y)\n        loss.backward()\n", line=4),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for use in losses(program):
            if use.kind not in _KINDS:
                continue
            for op in all_origins(use.prediction, lambda op: op.name in DROPOUTS):
                before = previous(op, LAYOUT)
                if before is not None and before.name == "linear" and constant(op.option("p", 0), 0.5) != 0:
                    yield self.finding(program, op.node)
