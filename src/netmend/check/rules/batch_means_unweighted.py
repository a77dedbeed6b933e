from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import constant
from netmend.program.meaning.averages import BATCHES, averages, is_single, plain_loss
from netmend.program.meaning.loaders_of_models import loader_made
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
class BatchMeansUnweighted(StaticRule):
    """The mean over a dataset is computed as the mean of the batches' means.

    The last batch is mostly smaller, and its samples count for more than the others. With few batches the result is visibly off,
    and it depends on the batch size.

    Weight by the batch: add `loss.item() * len(x)` and divide by `len(loader.dataset)`.
    """

    code = "S606"
    cause = "VAL-METRIC"
    message = "The last batch may be smaller but counts like the others; weight by the number of samples."
    advisory = True
    triggers = ("/ len(", "/len(")

    GOOD = (
        Snippet("weighted", HEAD + TEST.format("F.cross_entropy(net(x), y).item() * len(x)", ".dataset")),
        Snippet(
            "full batches only",
            HEAD
            + TEST.format("F.cross_entropy(net(x), y).item()", "")
            + "\ntest(net, DataLoader(data, batch_size=9, drop_last=True))\n",
        ),
        Snippet(
            "one by one",
            HEAD + TEST.format("F.cross_entropy(net(x), y).item()", "") + "\ntest(net, DataLoader(data))\n",
        ),
    )
    BAD = (
        Snippet("in a function", HEAD + TEST.format("F.cross_entropy(net(x), y).item()", ""), line=10),
        Snippet("in a script", HEAD + "loader = DataLoader(data, batch_size=64)\ntotal = 0.0\nfor x, y in loader:\n"
                "    total += F.mse_loss(net(x), y).item()\nprint(total / len(loader))\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for average in averages(program):
            if average.per != BATCHES or is_single(average.loader) or not plain_loss(program, average.part):
                continue
            made = loader_made(average.loader)
            if made is None or constant(made.argument("drop_last", 8), False) is False:
                yield self.finding(program, average.node)
