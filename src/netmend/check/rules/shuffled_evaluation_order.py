from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Element, constant, resolved
from netmend.program.meaning.loaders_of_models import evaluated, loader_made, trained
from netmend.program.meaning.operations import walk
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch.utils.data import DataLoader\n\nresults = []\n"
LOOP = "with torch.no_grad():\n    for x, y in loader:\n        results.append(net(x).argmax(1))\n"


@register
class ShuffledEvaluationOrder(StaticRule):
    """Predictions are collected from a loader that shuffles.

    They come in another order than the samples of the dataset, and another one each time. Put beside the dataset's labels, names
    or a table, each prediction stands at a foreign sample.

    Leave `shuffle` out for evaluation, or collect labels and ids in the same loop.
    """

    code = "S502"
    cause = "VAL-METRIC"
    message = "Predictions are collected in shuffled order; do not shuffle this loader."
    advisory = True
    triggers = ("shuffle=True",)

    GOOD = (
        Snippet("in order", HEAD + "loader = DataLoader(data, batch_size=64)\n" + LOOP),
        Snippet("only counted", HEAD + "loader = DataLoader(data, batch_size=64, shuffle=True)\nhits = 0\nwith torch.no_grad():\n    for x, y in loader:\n"
                "        hits += (net(x).argmax(1) == y).sum()\n"),
        Snippet("labels are collected with them", HEAD + "loader = DataLoader(data, batch_size=64, shuffle=True)\nlabels = []\n" + LOOP
                + "        labels.append(y)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("collected", HEAD + "loader = DataLoader(data, batch_size=64, shuffle=True)\n" + LOOP, line=5),
        Snippet("in a function", HEAD + "@torch.no_grad()\ndef predict(net, loader):\n    found = []\n    for batch in loader:\n"
                "        found.extend(net(batch).tolist())\n    return found\n\npredict(net, DataLoader(data, batch_size=9, shuffle=True))\n", line=12),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        fed = {id(loader_made(feeding.loader)) for feeding in trained(program)}
        seen: set[int] = set()
        for evaluation in evaluated(program):
            loader = loader_made(evaluation.loader)
            if loader is None or loader.node is None or id(loader) in fed or id(loader) in seen:
                continue
            if constant(loader.argument("shuffle", 2)) is not True:
                continue
            kept = [
                event.call.args[0]
                for event in evaluation.loop.body.events()
                if event.call is not None and event.call.method in ("append", "extend") and event.call.args
            ]
            from_loader = [
                value
                for value in kept
                if any(
                    isinstance(part, Element) and resolved(part.iterable) is loader for part in walk(value)
                )
            ]
            if len(from_loader) == 1:
                seen.add(id(loader))
                yield self.finding(program, loader.node)
