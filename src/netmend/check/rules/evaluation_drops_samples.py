from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import constant
from netmend.program.meaning.loaders_of_models import evaluated, loader_made, trained
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch.utils.data import DataLoader\n\n"
LOOP = "with torch.no_grad():\n    for x, y in test_loader:\n        print(net(x).argmax(1) == y)\n"


@register
class EvaluationDropsSamples(StaticRule):
    """The loader for evaluation leaves out the last, incomplete batch.

    Up to a batch of samples is never evaluated; with a small test set or shuffling the result depends on which.

    Leave `drop_last` out for evaluation; it serves training, where batch norm dislikes tiny batches.
    """

    code = "S513"
    cause = "VAL-METRIC"
    message = "drop_last skips samples of the evaluation; remove it here."
    advisory = True
    triggers = ("drop_last",)

    GOOD = (
        Snippet("all samples", HEAD + "test_loader = DataLoader(data, batch_size=64)\n" + LOOP),
        Snippet("switched off", HEAD + "test_loader = DataLoader(data, batch_size=64, drop_last=False)\n" + LOOP),
        Snippet("a training loader", HEAD + "net = torch.nn.Linear(4, 2)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
                "loader = DataLoader(data, batch_size=64, drop_last=True)\nfor x in loader:\n    opt.zero_grad()\n    net(x).sum().backward()\n    opt.step()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("dropped", HEAD + "test_loader = DataLoader(data, batch_size=64, drop_last=True)\n" + LOOP, line=4),
        Snippet("in a function", HEAD + "@torch.no_grad()\ndef test(net, loader):\n    for x, y in loader:\n        print(net(x) == y)\n\n"
                "test(net, DataLoader(data, batch_size=9, drop_last=True))\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        fed = {id(loader_made(feeding.loader)) for feeding in trained(program)}
        seen: set[int] = set()
        for evaluation in evaluated(program):
            loader = loader_made(evaluation.loader)
            if loader is None or loader.node is None or id(loader) in fed or id(loader) in seen:
                continue
            seen.add(id(loader))
            if constant(loader.argument("drop_last", 8)) is True:
                yield self.finding(program, loader.node)
