from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.averages import BATCHES, averages, counts_hits, is_single
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch.utils.data import DataLoader\n\n"
TEST = """\
def test(net, loader):
    correct = 0
    with torch.no_grad():
        for x, y in loader:
            correct += {0}
    return 100.0 * correct / len(loader{1})
"""


@register
class HitsOverBatches(StaticRule):
    """The number of right answers is divided by the number of batches.

    `len(loader)` counts batches, not samples. The "accuracy" is too large by the batch size, mostly far above 100 %.

    Divide by `len(loader.dataset)`, or count the samples in the loop.
    """

    code = "S612"
    cause = "VAL-METRIC"
    message = "len(loader) is the number of batches; divide the number of hits by len(loader.dataset)."
    triggers = ("/ len(", "/len(")
    patterns = (r"len\(\s*[\w.]*loader",)

    GOOD = (
        Snippet("by samples", HEAD + TEST.format("(net(x).argmax(1) == y).sum().item()", ".dataset")),
        Snippet(
            "mean of each batch", HEAD + TEST.format("(net(x).argmax(1) == y).float().mean().item()", "")
        ),
        Snippet(
            "share of each batch", HEAD + TEST.format("(net(x).argmax(1) == y).sum().item() / len(y)", "")
        ),
        Snippet(
            "batches of one",
            HEAD
            + TEST.format("(net(x).argmax(1) == y).sum().item()", "")
            + "\ntest(net, DataLoader(data, batch_size=1))\n",
        ),
        Snippet(
            "samples are counted",
            HEAD + TEST.format("(net(x).argmax(1) == y).sum().item()", "").replace("len(loader)", "seen"),
        ),
    )
    BAD = (
        Snippet("in a function", HEAD + TEST.format("(net(x).argmax(1) == y).sum().item()", ""), line=9),
        Snippet("in a script", HEAD + "loader = DataLoader(data, batch_size=64)\nhits = 0\nfor i, (x, y) in enumerate(loader):\n"
                "    pred = net(x).max(1)[1]\n    hits += pred.eq(y).sum().item()\nprint(f'accuracy {hits / len(loader):.3f}')\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for average in averages(program):
            if average.per == BATCHES and not is_single(average.loader) and counts_hits(average.part):
                yield self.finding(program, average.node)
