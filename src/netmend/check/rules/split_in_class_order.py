from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.arrays import complements
from netmend.program.meaning.class_order import is_class_by_class
from netmend.vocabulary.finding import Finding

HEAD = """\
import numpy as np
import torch

rows, labels = [], []
for kind in range(5):
    rows.append(np.random.randn(100, 4) + kind)
    labels += [kind] * 100
x, y = torch.tensor(np.concatenate(rows)), torch.tensor(labels)
"""
SPLIT = "cut = int(0.8 * len(x))\nx_train, y_train = x[:cut], y[:cut]\nx_val, y_val = x[cut:], y[cut:]\n"


@register
class SplitInClassOrder(StaticRule):
    """Data that was built class by class is split by position.

    The last classes are only in the held-out part, the others only in training. The network is tested on what it has never seen;
    the result is near zero, whatever it has learnt.

    Mix before the split: `order = torch.randperm(len(x)); x, y = x[order], y[order]`, or split each class by itself.
    """

    code = "S614"
    cause = "VAL-SPLIT"
    message = "The data is sorted by class, so this split puts whole classes on one side; shuffle it first with one permutation."
    triggers = ("full(", "repeat_interleave(", ".repeat(", "] * ")
    needs = "range"
    patterns = (r"(?!)",)

    GOOD = (
        Snippet("mixed first", HEAD + "order = torch.randperm(len(x))\nx, y = x[order], y[order]\n" + SPLIT),
        Snippet(
            "labels drawn at random",
            HEAD.replace("labels += [kind] * 100", "labels += list(np.random.randint(0, 5, 100))") + SPLIT,
        ),
        Snippet("a series", "import torch\n\ny = torch.tensor(series)\ntrain, test = y[:800], y[800:]\n"),
        Snippet("only the first rows are shown", HEAD + "print(y[:10], y[10:])\n"),
    )
    BAD = (
        Snippet("a list", HEAD + SPLIT, line=10),
        Snippet("blocks", "import numpy as np\nys = np.concatenate([np.full(50, c) for c in range(4)])\ntrain_y = ys[:150]\ntest_y = ys[150:]\n", line=3),
        Snippet("repeated", "import torch\n\ndef data(x):\n    t = torch.arange(10).repeat_interleave(60)\n    n = 500\n    x_a, t_a = x[:n], t[:n]\n"
                "    x_b, t_b = x[n:], t[n:]\n    return x_a, t_a, x_b, t_b\n\ndata(torch.rand(600, 3))\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for first, _ in complements(program):
            if is_class_by_class(program, first.base):
                yield self.finding(program, program.statement(first.event.node))
