"""Metrics of whole sets that are taken batch by batch."""

from __future__ import annotations

import re
from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import AUGMENT, CallEvent, Event, Loop
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Call,
    Collection,
    Element,
    Function,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.averages import is_single
from netmend.program.meaning.loaders import loader_made, run_over
from netmend.program.meaning.operations import behind, walk
from netmend.program.meaning.roles import LOADER, role
from netmend.program.meaning.rows import made_of
from netmend.program.meaning.training import grad_is_off, is_backward

# Quotients, ranks and correlations: of parts of a set they say little about the whole.
_OF_A_SET = frozenset(
    ("f1_score", "precision_score", "recall_score", "fbeta_score", "roc_auc_score", "average_precision_score", "balanced_accuracy_score",
     "matthews_corrcoef", "cohen_kappa_score", "r2_score", "jaccard_score", "explained_variance_score", "precision_recall_fscore_support",
     "pearsonr", "spearmanr", "kendalltau", "auroc", "average_precision", "binary_auroc", "multiclass_auroc", "binary_f1_score",
     "multiclass_f1_score", "binary_precision", "binary_recall", "pearson_corrcoef", "spearman_corrcoef", "cohen_kappa", "concordance_index")
)  # fmt: skip
_OWN = re.compile(
    r"(^|_)(f1|fbeta|precision|recall|r2|sensitivity|specificity|mcc)(_|$|score)", re.IGNORECASE
)
_LIBRARIES = (
    "sklearn.metrics.",
    "scipy.stats.",
    "torchmetrics.functional.",
    "torcheval.metrics.functional.",
    "lifelines.utils.",
)
HEAD = """\
import numpy as np
import torch
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
from torch.utils.data import DataLoader
loader = DataLoader(data, batch_size=32)
net = torch.nn.Linear(4, 1)
"""
LOOP = "scores = []\nwith torch.no_grad():\n    for x, y in loader:\n        p = net(x).squeeze(1)\n"


class SetMetricOfBatches(StaticRule, code="S953", cause="VAL-METRIC"):
    """F1, precision, recall, AUC or R² is computed for each batch of an evaluation and averaged.

    The mean of the batches' figures is not the figure of the whole: with a rare class most batches hold none of it, count as 0 or 1
    and decide the mean. It depends on the batch size, and on how the rows fall into batches.

    Collect the targets and predictions of all batches, and compute the metric once behind the loop.
    """

    message = "`{0}` of single batches is averaged, which is not the `{0}` of the whole set; collect targets and predictions of all batches and compute it once behind the loop."
    triggers = (*sorted(_OF_A_SET), "f1", "precision", "recall", "r2")
    patterns = (r"no_grad|inference_mode|\.eval\(",)

    GOOD = (
        Snippet("once, behind the loop", HEAD + "ps, ys = [], []\nwith torch.no_grad():\n    for x, y in loader:\n        ps.append(net(x))\n        ys.append(y)\n"
                "print(f1_score(torch.cat(ys), torch.cat(ps) > 0))\n"),
        Snippet("one row of many answers at a time", HEAD.replace(", batch_size=32", "") + LOOP + "        scores.append(roc_auc_score(y, p))\nprint(np.mean(scores))\n"),
        Snippet("for each picture", HEAD + LOOP + "        for a, b in zip(p, y):\n            scores.append(f1_score(b.ravel(), a.ravel() > 0))\nprint(np.mean(scores))\n"),
        Snippet("looked at while training", HEAD + "scores = []\nfor x, y in loader:\n    p = net(x)\n    torch.nn.functional.mse_loss(p, y).backward()\n    scores.append(f1_score(y, p > 0))\nprint(np.mean(scores))\n"),
        Snippet("accuracy is a mean itself", HEAD + LOOP + "        scores.append(accuracy_score(y, p > 0))\nprint(np.mean(scores))\n"),
        Snippet("all that was collected so far", HEAD + "ps, ys = [], []\nwith torch.no_grad():\n    for x, y in loader:\n        ps.extend(net(x).tolist())\n        ys.extend(y.tolist())\n"
                "        print(f1_score(ys, ps))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("a list", HEAD + LOOP + "        scores.append(f1_score(y, p > 0))\nprint(np.mean(scores))\n", line=11),
        Snippet("a sum", HEAD + "@torch.no_grad()\ndef test(net, loader):\n    total = 0\n    for x, y in loader:\n        total += roc_auc_score(y.numpy(), net(x).numpy())\n    return total / len(loader)\n\ntest(net, loader)\n", line=11),
        Snippet("an own function", HEAD + "def f1(p, y):\n    hits = (p * y).sum()\n    return 2 * hits / (p.sum() + y.sum() + 1e-8)\n\ntotal = 0\nwith torch.no_grad():\n    for x, y in loader:\n"
                "        total += f1((net(x) > 0).float(), y).item()\nprint(total / len(loader))\n", line=14),
        Snippet("by hand in batches", HEAD + "net.eval()\nscores = []\nwith torch.no_grad():\n    for rows in torch.arange(900).split(64):\n        scores.append(f1_score(y[rows], net(x[rows]) > 0))\nprint(sum(scores) / len(scores))\n", line=11),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for loop, metric, _ in _averaged(program):
            function = resolved(metric.call.function)
            name = (
                function.name if isinstance(function, Function) else metric.call.qualified.rpartition(".")[2]
            )
            yield self.finding(
                program,
                metric.node,
                self.message.format(name),
                see=[("The loop over the batches.", loop.node)],
            )


def _averaged(program: Program) -> Iterator[tuple[Loop, CallEvent, Event]]:
    """Metrics of a batch that are appended or added up in an evaluation; the last of each loop stands for all."""
    found: dict[int, tuple[Loop, CallEvent, Event]] = {}
    for event in program.calls:
        call = event.call
        is_known = call.qualified.startswith(_LIBRARIES) and call.qualified.rpartition(".")[2] in _OF_A_SET
        if not is_known and not _is_own_quotient(call):
            continue
        loop = event.loop
        if loop is None or loop.iterable is None or not grad_is_off(event):
            continue
        if any(is_backward(each) for each in loop.body.events()) or not _is_of_batches(loop):
            continue
        collected = _collected(loop, call)
        if (
            collected is not None
            and call.args
            and all(_is_of_this_batch(program, value, loop) for value in call.args[:2])
        ):
            found[id(loop)] = (loop, event, collected)
    yield from found.values()


def _is_own_quotient(call: Call) -> bool:
    """A function of the program that is called like one of these and divides by something counted in the batch."""
    function = resolved(call.function)
    if not isinstance(function, Function) or not _OWN.search(function.name):
        return False
    result = resolved(call)
    result = behind(
        result, lambda value: value.receiver if isinstance(value, Call) and value.method == "item" else None
    )
    if not isinstance(result, Operation) or result.operator != "/":
        return False
    return any(
        isinstance(part, Call) and (part.method or part.qualified).rpartition(".")[2] == "sum"
        for part in walk(result.operands[1])
    )


def _is_of_batches(loop: Loop) -> bool:
    """A loop over a loader with more than one sample in a batch, or over rows in pieces."""
    source = behind(loop.iterable, run_over)
    if role(source) == LOADER and source is not None:
        made = loader_made(source)
        own = made is not None and ("batch_sampler" in made.keywords or "sampler" in made.keywords)
        return not own and not is_single(source)
    if not isinstance(source, Call):
        return False
    if source.method in ("split", "chunk") and source.args:
        return bool(constant(resolved(source.args[0])) != 1)
    return source.qualified == "range" and len(source.args) == 3 and constant(resolved(source.args[2])) != 1


def _collected(loop: Loop, metric: Call) -> Event | None:
    """Where the metric is appended to a list or added to a sum."""
    for event in loop.body.events():
        call = event.call
        if call is not None and call.method in ("append", "update", "extend"):
            if any(part is metric for value in call.args for part in walk(value)):
                return event
        elif event.kind == AUGMENT and any(part is metric for part in walk(event.value)):
            return event
    return None


def _is_of_this_batch(program: Program, value: Value, loop: Loop) -> bool:
    """Is a value drawn in this round, not gathered over the rounds?"""
    if isinstance(resolved(value), Collection):
        return False
    source = behind(loop.iterable, run_over)
    return any(
        isinstance(part, Element) and behind(part.iterable, run_over) is source
        for part in made_of(program, value)
    )
