from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.averages import SAMPLES, averages, is_single, plain_loss
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch.utils.data import DataLoader\n\n"
TEST = """\
def test(net, loader):
    total = 0
    with torch.no_grad():
        for x, y in loader:
            total += {0}
    print("loss", total / len(loader{1}))
"""


@register
class BatchMeansOverSamples(StaticRule):
    """Mean losses of the batches are added up and divided by the number of samples.

    Each batch's loss is already an average, so the result is too small by the factor of the batch size, and changes when the
    batch size does. Loss curves of two settings then cannot be compared.

    Add `loss.item() * len(x)`, or divide by the number of batches, `len(loader)`.
    """

    code = "S607"
    cause = "VAL-METRIC"
    message = "Mean losses are divided by the number of samples, which makes them too small by the batch size; add loss.item() * len(x), or divide by len(loader)."
    triggers = (".dataset)",)

    GOOD = (
        Snippet(
            "weighted by the batch",
            HEAD + TEST.format("F.cross_entropy(net(x), y).item() * len(x)", ".dataset"),
        ),
        Snippet(
            "summed loss", HEAD + TEST.format("F.nll_loss(net(x), y, reduction='sum').item()", ".dataset")
        ),
        Snippet(
            "summed loss of old",
            HEAD + TEST.format("F.nll_loss(net(x), y, size_average=False).item()", ".dataset"),
        ),
        Snippet("by batches", HEAD + TEST.format("F.cross_entropy(net(x), y).item()", "")),
        Snippet("hits per sample", HEAD + TEST.format("(net(x).argmax(1) == y).sum().item()", ".dataset")),
        Snippet(
            "one sample per batch",
            HEAD
            + TEST.format("F.cross_entropy(net(x), y).item()", ".dataset")
            + "\ntest(net, DataLoader(data))\n",
        ),
    )
    BAD = (
        Snippet("in a function", HEAD + TEST.format("F.cross_entropy(net(x), y).item()", ".dataset"), line=10),
        Snippet("in a script", HEAD + "loader = DataLoader(data, batch_size=64)\ncriterion = torch.nn.MSELoss()\ntotal = 0.0\nfor x, y in loader:\n"
                "    loss = criterion(net(x), y)\n    total += loss.item()\nmean = total / len(loader.dataset)\nprint(mean)\n", line=11),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for average in averages(program):
            if average.per == SAMPLES and not is_single(average.loader) and plain_loss(program, average.part):
                yield self.finding(program, average.node)
