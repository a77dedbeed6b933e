from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value
from netmend.program.meaning.arguments import argument_node, written_name
from netmend.program.meaning.models import is_module
from netmend.program.meaning.operations import operation, walk
from netmend.program.meaning.roles import MODEL, role
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Finding, Fix

HEAD = "import torch\nfrom sklearn.metrics import accuracy_score, confusion_matrix, f1_score, precision_score, r2_score, recall_score\n\n"
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


@register
class MetricArgumentsSwapped(StaticRule):
    """A metric of scikit-learn is given the predictions first and the true labels second.

    The order there is `(y_true, y_pred)`. Exchanged, precision becomes recall, a confusion matrix is transposed, R² and ROC AUC
    are wrong, without any complaint.

    Write the true labels first, or name them: `precision_score(y_true=…, y_pred=…)`.
    """

    code = "S604"
    cause = "VAL-METRIC"
    message = "scikit-learn expects the true labels first, then the predictions; exchange the arguments."
    triggers = tuple(sorted(_ONE_WAY))

    GOOD = (
        Snippet("labels first", HEAD + "print(precision_score(y_true, y_pred))\n"),
        Snippet("named", HEAD + "print(precision_score(y_pred=y_pred, y_true=y_true))\n"),
        Snippet(
            "the same either way", HEAD + "print(accuracy_score(y_pred, y_true), f1_score(preds, labels))\n"
        ),
        Snippet("two sets of predictions", HEAD + "print(confusion_matrix(old_preds, new_preds))\n"),
        Snippet(
            "from another library",
            "from torchmetrics.functional import precision\nfrom mine import precision_score\nprint(precision_score(preds, labels))\n",
        ),
    )
    BAD = (
        Snippet("exchanged", HEAD + "def report(y_true, y_pred):\n    print(precision_score(y_pred, y_true, average='macro'))\n", line=5,
                fixed=HEAD + "def report(y_true, y_pred):\n    print(precision_score(y_true, y_pred, average='macro'))\n"),
        Snippet("collected in a loop", HEAD + "a, b = [], []\nfor x, y in loader:\n    a.extend(net(x).argmax(1).tolist())\n    b.extend(y.tolist())\n"
                "net = torch.nn.Linear(4, 2)\nfound = net(x_test).argmax(1)\nprint(r2_score(found, y_test))\n", line=10),
        Snippet("by module", "import torch\nfrom sklearn import metrics\nprint(metrics.confusion_matrix(preds.cpu().numpy(), labels.cpu().numpy()))\n", line=3),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for event in program.calls:
            call = event.call
            if (
                call is None
                or not call.qualified.startswith("sklearn.metrics.")
                or call.qualified.rpartition(".")[2] not in _ONE_WAY
            ):
                continue
            if len(call.args) < 2 or call.node is None:
                continue
            first, second = argument_node(call.node, "", 0), argument_node(call.node, "", 1)
            if first is None or second is None or isinstance(second, ast.keyword):
                continue
            if _is_predicted(call.args[0], first) and _is_true(call.args[1], second):
                edits = (
                    *replace(program, first, program.source(second)),
                    *replace(program, second, program.source(first)),
                )
                yield self.finding(
                    program, event.node, fix=Fix("Exchange the arguments", edits) if len(edits) == 2 else None
                )


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
            if (
                part.method in ("predict", "predict_proba", "decision_function")
                or role(part.function) == MODEL
                or is_module(part.function)
            ):
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
