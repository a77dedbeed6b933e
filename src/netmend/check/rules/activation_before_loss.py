"""An activation before a loss that does not want one."""

from __future__ import annotations

from netmend.check.examples import TORCH_F
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.program import Program
from netmend.program.meaning.loss_targets import class_ids, one_hot
from netmend.program.meaning.losses import PLAIN, ends_in, heads, width, without
from netmend.vocabulary.finding import SAFE, UNSAFE, Fix

SOFTMAX_HEAD = f"""{TORCH_F}
net = nn.Linear(4, 3)
criterion = nn.CrossEntropyLoss()
"""
MODEL = """\
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, x):
        return self.softmax(self.fc(x))
"""


class SoftmaxBeforeCrossEntropy(StaticRule, code="S201", cause="LYR-SOFTMAX-EXTRA"):
    """Softmax is applied before the cross-entropy, which applies log-softmax itself.

    Normalising twice flattens the gradient: the loss cannot fall below about 1.46 with ten classes, training is slow and ends
    worse, and nothing crashes.

    Let the network return raw scores (logits); apply softmax only where probabilities are shown or thresholded.
    """

    message = "Softmax feeds the cross-entropy, which applies softmax again; pass raw logits."
    triggers = ("CrossEntropyLoss", "cross_entropy")

    GOOD = (
        Snippet("raw logits", SOFTMAX_HEAD + "loss = criterion(net(x), y)\n"),
        Snippet(
            "one of several kinds of loss",
            SOFTMAX_HEAD
            + "criteria = {'ce': criterion, 'mse': nn.MSELoss()}\nloss = criteria[name](net(x).softmax(1), y)\n",
        ),
    )
    BAD = (
        mended("softmax layer last", SOFTMAX_HEAD + "net = nn.Sequential(nn.Linear(4, 3)⟨, nn.Softmax(1) → ⟩)\nloss = criterion(net(x), y)\n"),
        Snippet("softmax in forward of another file", "import torch\nfrom model import Net\nloss = torch.nn.functional.cross_entropy(Net()(x), y)\n",
                line=10, files={"model.py": MODEL}),
        mended("as a method", SOFTMAX_HEAD + "loss = criterion(net(x).⟨softmax(-1).squeeze → squeeze⟩(), y)\n"),
        mended("as a function, rows picked", SOFTMAX_HEAD + "out = ⟨F.softmax(net(x), dim=1) → net(x)⟩\nloss = criterion(out[mask], y[mask])\n"),
        mended("criterion chosen in a dict", SOFTMAX_HEAD + "choices = {'plain': criterion, 'smooth': nn.CrossEntropyLoss(label_smoothing=0.1)}\n"
                "loss = choices[name](net(x)⟨.softmax(1) → ⟩, y)\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for _, op in heads(program, ("cross_entropy",), ("softmax",)):
            yield self.finding(program, op.node, fix=Fix("Drop the softmax", without(program, op)))


LOG_SOFTMAX_HEAD = """\
from torch import nn
import torch.nn.functional as F

net = nn.Linear(4, 3)
criterion = nn.CrossEntropyLoss()
"""


class LogSoftmaxBeforeCrossEntropy(StaticRule, code="S202", cause="LYR-SOFTMAX-EXTRA", advisory=True):
    """Log-softmax is applied to what reaches the cross-entropy, which applies it itself.

    The second log-softmax changes nothing but costs time, and it hides which loss was meant: the pair is `nll_loss` with
    log-softmax, or `cross_entropy` alone.

    Leave the log-softmax away, or use `nll_loss`.
    """

    message = "log_softmax feeds the cross-entropy, which applies it again; remove it or use nll_loss."
    triggers = ("CrossEntropyLoss", "cross_entropy")

    GOOD = (
        Snippet("with the likelihood", LOG_SOFTMAX_HEAD + "loss = F.nll_loss(F.log_softmax(net(x), dim=1), y)\n"),
        Snippet("over another axis on one path", LOG_SOFTMAX_HEAD + "out = net(x)\nif flat:\n    out = out.log_softmax(1)\nloss = criterion(out, y)\n"),
    )  # fmt: skip
    BAD = (
        mended("as a function", LOG_SOFTMAX_HEAD + "loss = criterion(⟨F.log_softmax(net(x), dim=1) → net(x)⟩, y)\n"),
        mended("as the last layer", LOG_SOFTMAX_HEAD + "model = nn.Sequential(net⟨, nn.LogSoftmax(dim=1) → ⟩)\nloss = F.cross_entropy(model(x), y)\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for use, op in heads(program, ("cross_entropy",), ("log_softmax",)):
            edits = without(program, op)
            # Nothing else sees the value when the call stands inside the loss's own.
            alone = op.value.node in getattr(use.call.node, "args", ())
            fix = Fix("Drop the log_softmax", edits, SAFE if alone else UNSAFE)
            yield self.finding(program, op.node, fix=fix)


class SigmoidBeforeCrossEntropy(StaticRule, code="S203", cause="ACT-OUT-WRONG"):
    """Sigmoid or tanh is applied to what reaches the cross-entropy.

    Cross-entropy turns differences between scores into probabilities. Squeezed into 0…1 (or -1…1) the differences cannot grow, so no
    class ever gets a high probability and the loss stays high.

    Give cross-entropy the raw scores. For several labels at once use `BCEWithLogitsLoss`, also on raw scores.
    """

    message = "{} squashes the scores before the cross-entropy, so no class can win clearly; pass raw logits."
    triggers = ("CrossEntropyLoss", "cross_entropy")

    GOOD = (
        Snippet("raw scores", SOFTMAX_HEAD + "loss = criterion(net(x), y)\n"),
    )  # fmt: skip
    BAD = (
        mended("sigmoid layer last", SOFTMAX_HEAD + "model = nn.Sequential(net⟨, nn.Sigmoid() → ⟩)\nloss = criterion(model(x), y)\n"),
        mended("tanh as a function", SOFTMAX_HEAD + "out = ⟨torch.tanh(net(x)) → net(x)⟩\nloss = F.cross_entropy(out, y)\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for _, op in heads(program, ("cross_entropy",), ("sigmoid", "tanh", "hard_sigmoid", "softsign")):
            fix = Fix(f"Drop the {op.name}", without(program, op))
            yield self.finding(program, op.node, self.message.format(op.name.capitalize()), fix=fix)


LOGITS_HEAD = f"""{TORCH_F}
net = nn.Linear(4, 1)
criterion = nn.BCEWithLogitsLoss()
"""


class SigmoidBeforeLogitsLoss(StaticRule, code="S204", cause="LYR-SOFTMAX-EXTRA"):
    """Sigmoid is applied to what reaches BCEWithLogits, which applies sigmoid itself.

    Applied twice, every probability lies between 0.5 and 0.73: the loss cannot fall below about 0.31 for ones and 0.69 for zeros, and
    training hardly moves.

    Give `BCEWithLogitsLoss` raw scores, and apply sigmoid only where probabilities are shown or thresholded.
    """

    message = "Sigmoid feeds BCEWithLogits, which applies sigmoid again; pass raw logits."
    triggers = ("BCEWithLogitsLoss", "binary_cross_entropy_with_logits")

    GOOD = (
        Snippet("raw scores", LOGITS_HEAD + "loss = criterion(net(x), y)\n"),
    )  # fmt: skip
    BAD = (
        mended("sigmoid layer last", LOGITS_HEAD + "model = nn.Sequential(net⟨, nn.Sigmoid() → ⟩)\nloss = criterion(model(x), y)\n"),
        mended("as a method", LOGITS_HEAD + "loss = F.binary_cross_entropy_with_logits(net(x)⟨.sigmoid() → ⟩, y)\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for _, op in heads(program, ("bce_logits",), ("sigmoid", "hard_sigmoid")):
            yield self.finding(program, op.node, fix=Fix("Drop the sigmoid", without(program, op)))


SOFTMAX_LOGITS_HEAD = f"""{TORCH_F}
net = nn.Linear(4, 3)
criterion = nn.BCEWithLogitsLoss()
"""


class SoftmaxBeforeLogitsLoss(StaticRule, code="S205", cause="LYR-SOFTMAX-EXTRA"):
    """Softmax is applied to what reaches BCEWithLogits, which expects raw scores.

    The loss applies sigmoid to probabilities: every output becomes a value between 0.5 and 0.73, and a class that is certainly absent
    still counts as even odds.

    Give `BCEWithLogitsLoss` raw scores; where classes exclude each other use `CrossEntropyLoss` on raw scores.
    """

    message = "{} feeds BCEWithLogits, which applies sigmoid on top; pass raw logits, or use cross-entropy."
    triggers = ("BCEWithLogitsLoss", "binary_cross_entropy_with_logits")

    GOOD = (
        Snippet("raw scores", SOFTMAX_LOGITS_HEAD + "loss = criterion(net(x), y)\n"),
    )  # fmt: skip
    BAD = (
        mended("softmax layer last", SOFTMAX_LOGITS_HEAD + "model = nn.Sequential(net⟨, nn.Softmax(dim=1) → ⟩)\nloss = criterion(model(x), y)\n"),
        mended("one column of it", SOFTMAX_LOGITS_HEAD + "p = ⟨F.softmax(net(x), dim=1) → net(x)⟩\nloss = criterion(p[:, 1], y)\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for _, op in heads(program, ("bce_logits",), ("softmax", "log_softmax")):
            fix = Fix(f"Drop the {op.name}", without(program, op))
            yield self.finding(program, op.node, self.message.format(op.name), fix=fix)


SQUARED_HEAD = f"""{TORCH_F}
net = nn.Linear(4, 3)
label = torch.randint(0, 3, (64,))
"""


class SquaredErrorOnProbabilities(StaticRule, code="S229", cause="LOS-SELECT", advisory=True):
    """Classes are learned with a squared error on sigmoid or softmax outputs.

    The gradient of a squared error behind a sigmoid vanishes exactly for the samples that are most wrong; cross-entropy has its largest
    gradient there. Training works, but slowly, and may stall at the start.

    Use `BCEWithLogitsLoss` or `CrossEntropyLoss` on raw scores.
    """

    message = (
        "A squared error after {} learns slowly from the worst samples; use cross-entropy on raw scores."
    )
    triggers = ("MSELoss", "mse_loss")

    GOOD = (
        Snippet("cross-entropy", SQUARED_HEAD + "loss = F.cross_entropy(net(x), label)\n"),
        Snippet("probabilities of a teacher", SQUARED_HEAD + "loss = F.mse_loss(net(x).softmax(1), teacher(x).softmax(1))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("softmax and one-hot", SQUARED_HEAD + "loss = F.mse_loss(net(x).softmax(1), F.one_hot(label, 3).float())\n", line=7),
        Snippet("sigmoid and two classes", SQUARED_HEAD + "label = torch.randint(0, 2, (64,))\nloss = nn.MSELoss()(torch.sigmoid(net(x))[:, 0], label.float())\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for use, op in heads(program, ("mse",), ("sigmoid", "softmax")):
            ids = class_ids(program, use.target)
            if one_hot(program, use.target) is not None or (ids is not None and ids.count == 2):
                yield self.finding(program, use.node, self.message.format(op.name))


BINARY_HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n"


class SoftmaxBeforeBinaryLoss(StaticRule, code="S335", cause="LOS-SELECT"):
    """Binary cross-entropy is computed on the softmax over several classes.

    Softmax says that exactly one class is right; binary cross-entropy asks for each class on its own. Together they punish each wrong class a
    second time, and gradients become small where the network is sure and wrong.

    For one class of many use `CrossEntropyLoss` on the raw scores with class ids; for several labels at once use sigmoid with `BCEWithLogitsLoss`.
    """

    message = "Binary cross-entropy does not fit a softmax over {} classes; use CrossEntropyLoss on the raw scores, without softmax."
    triggers = ("BCELoss(", "binary_cross_entropy(")
    needs = "oftmax"

    GOOD = (
        Snippet("sigmoid", BINARY_HEAD + "net = nn.Sequential(nn.Linear(4, 3), nn.Sigmoid())\nloss = nn.BCELoss()(net(x), y)\n"),
        Snippet("the class of interest", BINARY_HEAD + "net = nn.Linear(4, 2)\nloss = F.binary_cross_entropy(torch.softmax(net(x), 1)[:, 1], y)\n"),
        Snippet("width not known", BINARY_HEAD + "def make(classes):\n    net = nn.Sequential(nn.Linear(4, classes), nn.Softmax(dim=1))\n    return F.binary_cross_entropy(net(x), y)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("an object", BINARY_HEAD + "net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3), nn.Softmax(dim=1))\ncriterion = nn.BCELoss()\nloss = criterion(net(x), F.one_hot(y, 3).float())\n", line=7),
        Snippet("in a module", BINARY_HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.out = nn.Linear(16, 10)\n\n    def forward(self, x):\n"
                "        return F.softmax(self.out(x), dim=-1)\n\ndef train(loader):\n    net = Net()\n    for x, y in loader:\n        loss = F.binary_cross_entropy(net(x), y)\n        loss.backward()\n", line=16),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for use, op in heads(program, ("bce",), ("softmax",), PLAIN):
            classes = [width(source) for source in ends_in(op.input, ("linear",), PLAIN)]
            if classes and all(count is not None and count > 2 for count in classes):
                yield self.finding(program, use.node, self.message.format(classes[0]))
