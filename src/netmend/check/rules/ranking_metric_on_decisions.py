from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Either, Item, Operation, Value, constant, resolved
from netmend.program.meaning.arrays import same_numbers
from netmend.program.meaning.operations import operation
from netmend.program.meaning.uses import contents
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nimport numpy as np\nfrom sklearn.linear_model import LogisticRegression\nfrom sklearn.metrics import average_precision_score, roc_auc_score\n\n"
_CLASSIFIERS = (
    "Classifier",
    "LogisticRegression",
    "SVC",
    "GaussianNB",
    "MultinomialNB",
    "BernoulliNB",
    "LinearSVC",
)


@register
class RankingMetricOnDecisions(StaticRule):
    """ROC AUC or average precision is computed from decided classes instead of scores.

    These metrics ask how well the scores rank the samples. After `argmax`, `round` or a threshold only two values are left, the
    curve has one corner, and the number is too low and not comparable.

    Give the probabilities or logits of the positive class.
    """

    code = "S605"
    cause = "VAL-METRIC"
    message = (
        "This metric needs scores, but gets predicted classes; pass the probability of the positive class."
    )
    triggers = ("roc_auc_score", "average_precision_score", "roc_curve", "precision_recall_curve")

    GOOD = (
        Snippet("probabilities", HEAD + "print(roc_auc_score(y, torch.sigmoid(net(x)).numpy()))\n"),
        Snippet(
            "of a classifier",
            HEAD
            + "clf = LogisticRegression().fit(a, b)\nprint(roc_auc_score(y, clf.predict_proba(x)[:, 1]))\n",
        ),
        Snippet("a regression's output", HEAD + "print(roc_auc_score(y, model.predict(x)))\n"),
        Snippet("labels are thresholded, not scores", HEAD + "print(roc_auc_score(y > 0.5, scores))\n"),
        Snippet(
            "rounded for display only", HEAD + "print(average_precision_score(y, np.round(scores, 4)))\n"
        ),
    )
    BAD = (
        Snippet("argmax", HEAD + "pred = net(x).argmax(dim=1).cpu().numpy()\nprint(roc_auc_score(y, pred))\n", line=7),
        Snippet("threshold in a loop", HEAD + "scores = []\nfor x, y in loader:\n    scores.extend((torch.sigmoid(net(x)) > 0.5).int().tolist())\n"
                "print(roc_auc_score(labels, scores))\n", line=9),
        Snippet("a classifier's decision", HEAD + "def report(x, y):\n    clf = LogisticRegression()\n    clf.fit(x, y)\n"
                "    return average_precision_score(y, clf.predict(x))\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for name in ("roc_auc_score", "average_precision_score", "roc_curve", "precision_recall_curve"):
            for event in program.calls_of(f"sklearn.metrics.{name}"):
                call = event.call
                if call is None:
                    continue
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
