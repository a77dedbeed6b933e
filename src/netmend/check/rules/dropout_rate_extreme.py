from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value, constant, resolved
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n"
_LAYERS = (
    "torch.nn.Dropout",
    "torch.nn.Dropout1d",
    "torch.nn.Dropout2d",
    "torch.nn.Dropout3d",
    "torch.nn.AlphaDropout",
)
_FUNCTIONS = (
    "torch.nn.functional.dropout",
    "torch.nn.functional.dropout2d",
    "torch.nn.functional.alpha_dropout",
)
_MOST = 0.9  # at this rate one value in ten is left, and the rest is multiplied by ten
_MOST_ON_GRAPHS = 0.95  # networks on sparse node features are published with 0.9 and more
_GRAPHS = ("torch_geometric", "import dgl", "from dgl")


@register
class DropoutRateExtreme(StaticRule):
    """Dropout throws away nine tenths of its input or more.

    In PyTorch and Keras the rate is the share that is *dropped*; in some older programs it was the share that is kept. At 0.9 one
    value in ten is left, multiplied by ten; at 1.0 nothing is left and nothing is learned behind it.

    Usual rates are 0.1 to 0.5. If 0.9 was meant to be kept, write 0.1. Graph networks may drop up to 0.95 of sparse node features.
    """

    code = "S320"
    cause = "LYR-DROPOUT-RATE"
    message = "Dropout drops {share} of its input (p is the share to drop); 0.1 to 0.5 is usual."
    triggers = ("ropout",)
    patterns = (r"ropout\w*\([^)\n]*(?:\.9|1\.0|\b1\b)",)

    GOOD = (
        Snippet("usual", HEAD + "drop = nn.Dropout(0.5)\n"),
        Snippet("default", HEAD + "drop = nn.Dropout()\n"),
        Snippet("rate from the outside", HEAD + "def make(p):\n    return nn.Dropout(p)\n"),
        Snippet("kept share turned round", HEAD + "keep = 0.9\ndrop = nn.Dropout(1 - keep)\n"),
        Snippet("sparse features of a graph", HEAD + "from torch_geometric.nn import GCNConv\n\ndef step(x):\n    return F.dropout(x, p=0.92)\n"),
        Snippet("function", HEAD + "y = F.dropout(x, 0.3, training)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("nearly all", HEAD + "net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.95), nn.Linear(8, 1))\n", line=5),
        Snippet("as a function", HEAD + "keep = 0.9\ny = F.dropout(x, p=keep)\n", line=6),
        Snippet("all", HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.drop = nn.Dropout2d(p=1.0)\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for event in program.calls_of(*_LAYERS):
            if event.call is not None:
                yield from self._judged(program, event.call, event.call.argument("p", 0))
        for event in program.calls_of(*_FUNCTIONS):
            if event.call is not None:
                yield from self._judged(program, event.call, event.call.argument("p", 1))

    def _judged(self, program: Program, call: Call, rate: Value | None) -> Iterator[Finding]:
        known = constant(resolved(rate)) if rate is not None else None
        most = _MOST_ON_GRAPHS if any(name in program.text for name in _GRAPHS) else _MOST
        if (
            isinstance(known, int | float)
            and not isinstance(known, bool)
            and known >= most
            and call.node is not None
        ):
            share = "everything" if known >= 1 else f"{known:.0%}"
            yield self.finding(program, call.node, self.message.format(share=share))
