from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value, resolved
from netmend.program.meaning.arguments import is_for_evaluation, is_for_training, written_name
from netmend.program.meaning.loaders_of_models import trained
from netmend.program.meaning.roles import LOADER, role
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch

def evaluate(net, loader):
    with torch.no_grad():
        return sum((net(x).argmax(1) == y).float().mean() for x, y in loader) / len(loader)

"""
FIT = """\
def fit(net, train_loader, val_loader, optimizer):
    for x, y in train_loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
    {0}
"""
_METRICS = (
    "acc",
    "loss",
    "score",
    "f1",
    "err",
    "auc",
    "metric",
    "precision",
    "recall",
    "mse",
    "mae",
    "iou",
    "dice",
    "ppl",
    "perplexity",
)


@register
class EvaluatedOnTrainingData(StaticRule):
    """A number that is called validation or test result is computed on the loader that the network is trained with.

    It shows how well the training data is remembered. Overfitting stays invisible, and the best epoch is chosen by the wrong
    number.

    Pass the validation or test loader.
    """

    code = "S601"
    cause = "VAL-METRIC"
    message = "This validation or test result is computed on the training data; pass the other loader."
    triggers = (
        "val_acc",
        "val_loss",
        "test_acc",
        "test_loss",
        "valid_acc",
        "valid_loss",
        "val_score",
        "test_score",
        "val_f1",
        "test_f1",
    )
    patterns = (r"train\w*(?:loader|_dl|data)",)

    GOOD = (
        Snippet("its own loader", HEAD + FIT.format("val_acc = evaluate(net, val_loader)")),
        Snippet("called what it is", HEAD + FIT.format("train_acc = evaluate(net, train_loader)")),
        Snippet("both are given", HEAD + FIT.format("val_loss = run_epoch(net, train_loader, val_loader)")),
        Snippet("trains and reports", HEAD + FIT.format("val_loss = train_and_validate(net, train_loader)")),
        Snippet("statistics for a metric", HEAD + FIT.format("val_metric = Scaled(train_loader)")),
    )
    BAD = (
        Snippet("wrong loader", HEAD + FIT.format("val_acc = evaluate(net, train_loader)"), line=12),
        Snippet("unpacked", HEAD + FIT.format("test_loss, test_acc = evaluate(net, train_loader)\n    print(test_acc)"), line=12),
        Snippet("by object", "import torch\nfrom torch.utils.data import DataLoader\nfrom tools import evaluate\nnet = torch.nn.Linear(4, 2)\n"
                "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nbatches = DataLoader(data, batch_size=8, shuffle=True)\nfor x in batches:\n    opt.zero_grad()\n"
                "    net(x).sum().backward()\n    opt.step()\ntest_accuracy = evaluate(net, batches)\n", line=11),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        fed = {id(resolved(feeding.loader)) for feeding in trained(program)}
        if not fed:
            return
        for event in program.calls:
            call = event.call
            if call is None or call.node is None or call.open:
                continue
            above = program.parent(call.node)
            if not isinstance(above, ast.Assign) or above.value is not call.node or len(above.targets) != 1:
                continue
            if _is_result(above.targets[0]) and not _may_train(call) and _only_loader(call, fed):
                yield self.finding(program, event.node)


def _is_result(target: ast.expr) -> bool:
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    names = [written_name(part) for part in parts]
    are_metrics = bool(names) and all(any(metric in name.lower() for metric in _METRICS) for name in names)
    return are_metrics and any(map(is_for_evaluation, names)) and not any(map(is_for_training, names))


def _may_train(call: Call) -> bool:
    """Is the function called as if it did more than evaluate, or a class?"""
    name = written_name(call.node.func) if call.node is not None else ""
    return is_for_training(name) or "fit" in name.lower() or "run" in name.lower() or name[:1].isupper()


def _only_loader(call: Call, fed: set[int]) -> bool:
    """Is the one loader among the arguments a training loader?"""
    given: list[Value] = [*call.args, *call.keywords.values()]
    loaders = [resolved(value) for value in given if role(value) == LOADER]
    named = [
        part
        for part in (call.node.args if call.node is not None else ())
        if is_for_evaluation(written_name(part))
    ]
    return len(loaders) == 1 and id(loaders[0]) in fed and not named
