"""Metrics that are given the wrong thing."""

from __future__ import annotations

import ast
import re

from netmend.check.examples import TORCH
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Call,
    Collection,
    Const,
    Either,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import same_numbers
from netmend.program.meaning.averages import counts_hits
from netmend.program.meaning.losses import losses
from netmend.program.meaning.models import is_module
from netmend.program.meaning.operations import operation, walk
from netmend.program.meaning.roles import MODEL, role
from netmend.program.meaning.statements import argument_node, exchanged, written_name
from netmend.program.meaning.uses import contents
from netmend.vocabulary.finding import Fix

IMBALANCE_HEAD = f"""{TORCH}\
from torch.utils.data import DataLoader, WeightedRandomSampler

def test(net, loader):
    hits = 0
    with torch.no_grad():
        for x, y in loader:
            hits += (net(x).argmax(1) == y).sum().item()
    return hits / len(loader.dataset)

"""
_BETTER = (
    "f1",
    "precision",
    "recall",
    "auc",
    "auroc",
    "balanced",
    "confusion",
    "matthews",
    "average_precision",
    "kappa",
    "report",
    "iou",
    "dice",
    "jaccard",
)


class AccuracyOnImbalance(StaticRule, code="S603", cause="VAL-METRIC", advisory=True):
    """Classes are weighted because they are unbalanced, and accuracy is the only metric.

    With 97 % of one class, always saying that class gives 97 % accuracy. The number looks good while the rare class, the one that
    matters, is never found.

    Report recall and precision of the rare class, F1, balanced accuracy or the confusion matrix as well.
    """

    message = (
        "The classes are unbalanced, so accuracy says little; report recall, F1 or a confusion matrix too."
    )
    triggers = ("weight=", "pos_weight", "WeightedRandomSampler")

    GOOD = (
        Snippet("no weights", IMBALANCE_HEAD + "loss = nn.CrossEntropyLoss()(net(x), y)\nprint(test(net, loader))\n"),
        Snippet("recall is reported too", "from sklearn.metrics import recall_score\n" + IMBALANCE_HEAD + "loss = nn.CrossEntropyLoss(weight=w)(net(x), y)\n"
                "print(test(net, loader), recall_score(a, b))\n"),
        Snippet("weights without accuracy", IMBALANCE_HEAD.replace("==", "-") + "loss = nn.CrossEntropyLoss(weight=w)(net(x), y)\nprint(test(net, loader))\n"),
    )  # fmt: skip
    BAD = (
        Snippet(
            "weighted loss",
            IMBALANCE_HEAD
            + "criterion = nn.CrossEntropyLoss(weight=torch.tensor([0.1, 0.9]))\nloss = criterion(net(x), y)\nprint(test(net, loader))\n",
            line=9,
        ),
        Snippet(
            "weighted draw",
            IMBALANCE_HEAD
            + "loader = DataLoader(data, sampler=WeightedRandomSampler(w, 100))\nprint(test(net, loader))\n",
            line=9,
        ),
    )

    def check(self, program: Program) -> Findings:
        if not _is_unbalanced(program):
            return
        found = None
        for event in program.calls:
            call = event.call
            name = (call.qualified or call.method).lower()
            if any(word in name for word in _BETTER):
                return
            if found is None and call.method == "item" and counts_hits(call):
                found = event
        if found is not None:
            yield self.finding(program, found.node)


def _is_unbalanced(program: Program) -> bool:
    if program.calls_of("torch.utils.data.WeightedRandomSampler"):
        return True
    for use in losses(program):
        weight = (
            use.option("weight")
            if use.kind == "cross_entropy"
            else use.option("pos_weight")
            if use.kind == "bce_logits"
            else None
        )
        if weight is not None and not (isinstance(weight, Const) and constant(weight) is None):
            return True
    return False


SWAPPED_HEAD = "import torch\nfrom sklearn.metrics import accuracy_score, confusion_matrix, f1_score, precision_score, r2_score, recall_score\n\n"
# Exchanged arguments change these; accuracy, the plain F1 and mean errors are the same either way.
_ONE_WAY = frozenset(
    ["precision_score", "recall_score", "classification_report", "confusion_matrix", "roc_auc_score", "average_precision_score", "log_loss",
     "roc_curve", "precision_recall_curve", "fbeta_score", "r2_score", "balanced_accuracy_score", "mean_absolute_percentage_error",
     "precision_recall_fscore_support", "brier_score_loss", "explained_variance_score", "top_k_accuracy_score", "det_curve"]
)  # fmt: skip
_PREDICTED = re.compile(
    r"(^|_)(pred|preds|predicted|prediction|predictions|y_hat|yhat|output|outputs|prob|probs|score|scores|logits)s?(_|\d|$)",
    re.I,
)
_TRUE = re.compile(
    r"(^|_)(true|truth|label|labels|target|targets|gt|gold|actual|y_test|y_val|y_true)(_|\d|$)", re.I
)


class MetricArgumentsSwapped(StaticRule, code="S604", cause="VAL-METRIC"):
    """A metric of scikit-learn is given the predictions first and the true labels second.

    The order there is `(y_true, y_pred)`. Exchanged, precision becomes recall, a confusion matrix is transposed, R² and ROC AUC
    are wrong, without any complaint.

    Write the true labels first, or name them: `precision_score(y_true=…, y_pred=…)`.
    """

    message = "scikit-learn expects the true labels first, then the predictions; exchange the arguments."
    triggers = tuple(sorted(_ONE_WAY))

    GOOD = (
        Snippet("labels first", SWAPPED_HEAD + "print(precision_score(y_true, y_pred))\n"),
        Snippet("named", SWAPPED_HEAD + "print(precision_score(y_pred=y_pred, y_true=y_true))\n"),
        Snippet(
            "the same either way",
            SWAPPED_HEAD + "print(accuracy_score(y_pred, y_true), f1_score(preds, labels))\n",
        ),
        Snippet("two sets of predictions", SWAPPED_HEAD + "print(confusion_matrix(old_preds, new_preds))\n"),
        Snippet(
            "from another library",
            "from torchmetrics.functional import precision\nfrom mine import precision_score\nprint(precision_score(preds, labels))\n",
        ),
    )
    BAD = (
        mended("exchanged", SWAPPED_HEAD + "def report(y_true, y_pred):\n    print(precision_score(⟨y_pred, y_true → y_true, y_pred⟩, average='macro'))\n"),
        Snippet("collected in a loop", SWAPPED_HEAD + "a, b = [], []\nfor x, y in loader:\n    a.extend(net(x).argmax(1).tolist())\n    b.extend(y.tolist())\n"
                "net = torch.nn.Linear(4, 2)\nfound = net(x_test).argmax(1)\nprint(r2_score(found, y_test))\n", line=10),
        Snippet("by module", "import torch\nfrom sklearn import metrics\nprint(metrics.confusion_matrix(preds.cpu().numpy(), labels.cpu().numpy()))\n", line=3),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.calls:
            call = event.call
            if not call.qualified.startswith("sklearn.metrics."):
                continue
            if call.qualified.rpartition(".")[2] not in _ONE_WAY:
                continue
            if len(call.args) < 2 or call.node is None:
                continue
            first, second = argument_node(call.node, "", 0), argument_node(call.node, "", 1)
            if first is None or second is None or isinstance(second, ast.keyword):
                continue
            if _is_predicted(call.args[0], first) and _is_true(call.args[1], second):
                edits = exchanged(program, first, second)
                yield self.finding(program, event.node, fix=Fix("Exchange the arguments", edits))


def _is_predicted(value: Value, node: ast.expr) -> bool:
    name = _name(node)
    if _TRUE.search(name):
        return False
    return bool(_PREDICTED.search(name)) or _from_model(value)


def _is_true(value: Value, node: ast.expr) -> bool:
    return bool(_TRUE.search(_name(node))) and not _PREDICTED.search(_name(node)) and not _from_model(value)


def _from_model(value: Value) -> bool:
    """Is a value computed by a model: its call, a `predict`, a largest score?"""
    for part in walk(value):
        if isinstance(part, Call):
            if part.method in ("predict", "predict_proba", "decision_function"):
                return True
            if role(part.function) == MODEL or is_module(part.function):
                return True
            op = operation(part)
            if op is not None and op.name == "argmax":
                return True
    return False


def _name(node: ast.expr) -> str:
    """The variable that an argument is, behind `.cpu().numpy()` and the like."""
    while (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("cpu", "numpy", "detach", "tolist", "ravel", "flatten")
    ):
        node = node.func.value
    return written_name(node)


RANKING_HEAD = "import torch\nimport numpy as np\nfrom sklearn.linear_model import LogisticRegression\nfrom sklearn.metrics import average_precision_score, roc_auc_score\n\n"
_CLASSIFIERS = (
    "Classifier",
    "LogisticRegression",
    "SVC",
    "GaussianNB",
    "MultinomialNB",
    "BernoulliNB",
    "LinearSVC",
)


class RankingMetricOnDecisions(StaticRule, code="S605", cause="VAL-METRIC", preview=True):
    """ROC AUC or average precision is computed from decided classes instead of scores.

    These metrics ask how well the scores rank the samples. After `argmax`, `round` or a threshold only two values are left, the
    curve has one corner, and the number is too low and not comparable.

    Give the probabilities or logits of the positive class.
    """

    message = (
        "This metric needs scores, but gets predicted classes; pass the probability of the positive class."
    )
    triggers = ("roc_auc_score", "average_precision_score", "roc_curve", "precision_recall_curve")

    GOOD = (
        Snippet("probabilities", RANKING_HEAD + "print(roc_auc_score(y, torch.sigmoid(net(x)).numpy()))\n"),
        Snippet(
            "of a classifier",
            RANKING_HEAD
            + "clf = LogisticRegression().fit(a, b)\nprint(roc_auc_score(y, clf.predict_proba(x)[:, 1]))\n",
        ),
        Snippet("a regression's output", RANKING_HEAD + "print(roc_auc_score(y, model.predict(x)))\n"),
        Snippet(
            "labels are thresholded, not scores", RANKING_HEAD + "print(roc_auc_score(y > 0.5, scores))\n"
        ),
        Snippet(
            "rounded for display only",
            RANKING_HEAD + "print(average_precision_score(y, np.round(scores, 4)))\n",
        ),
    )
    BAD = (
        Snippet("argmax", RANKING_HEAD + "pred = net(x).argmax(dim=1).cpu().numpy()\nprint(roc_auc_score(y, pred))\n", line=7),
        Snippet("threshold in a loop", RANKING_HEAD + "scores = []\nfor x, y in loader:\n    scores.extend((torch.sigmoid(net(x)) > 0.5).int().tolist())\n"
                "print(roc_auc_score(labels, scores))\n", line=9),
        Snippet("a classifier's decision", RANKING_HEAD + "def report(x, y):\n    clf = LogisticRegression()\n    clf.fit(x, y)\n"
                "    return average_precision_score(y, clf.predict(x))\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for name in ("roc_auc_score", "average_precision_score", "roc_curve", "precision_recall_curve"):
            for event in program.calls_of(f"sklearn.metrics.{name}"):
                call = event.call
                scores = call.argument("y_score", 1) or call.argument("probas_pred", 1)
                if scores is not None and _is_decided(program, scores):
                    yield self.finding(program, event.node)


def _is_decided(program: Program, value: Value, depth: int = 0) -> bool:
    """Surely classes: the position of the largest score, a comparison, a rounded probability."""
    value = same_numbers(value)
    if depth > 12:
        return False
    if isinstance(value, Either):
        return all(_is_decided(program, option, depth + 1) for option in value.options)
    if isinstance(value, Collection):
        held = contents(program, value)
        return bool(held) and all(_is_decided(program, item, depth + 1) for item in held)
    if isinstance(value, Operation):
        return value.operator in (">", ">=", "<", "<=") and len(value.operands) == 2
    if isinstance(value, Item):
        base = resolved(value.base)
        return (
            constant(value.key) == 1
            and isinstance(base, Call)
            and (base.qualified == "torch.max" or (base.method == "max" and bool(base.args)))
        )
    if not isinstance(value, Call):
        return False
    name = (value.method or value.qualified).rpartition(".")[2]
    if name in ("concatenate", "cat", "hstack", "stack") and value.args:
        return _is_decided(program, value.args[0], depth + 1)
    if name == "argmax":
        return True
    if name == "where" and len(value.args) == 3:
        return all(isinstance(constant(argument), int | float) for argument in value.args[1:])
    if name == "predict" and value.receiver is not None:
        made = resolved(value.receiver)
        return (
            isinstance(made, Call)
            and made.qualified.startswith("sklearn.")
            and made.qualified.endswith(_CLASSIFIERS)
        )
    op = operation(value)
    is_round = name in ("round", "rint") and (
        op is not None or value.qualified in ("numpy.round", "numpy.rint")
    )
    return is_round and len(value.args) == (0 if value.method else 1) and not value.keywords
