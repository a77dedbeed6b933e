from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Const, constant, resolved
from netmend.program.meaning.losses import losses
from netmend.program.meaning.padding import padded
from netmend.program.meaning.training import grad_is_off
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

def collate(batch):
    words = pad_sequence([w for w, _ in batch], batch_first=True)
    tags = pad_sequence([t for _, t in batch], batch_first=True{0})
    return words, tags

loader = DataLoader(data, batch_size=16, shuffle=True, collate_fn=collate)
net = nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 5))
opt = torch.optim.Adam(net.parameters())
"""
LOOP = """\
for words, tags in loader:
    opt.zero_grad()
    loss = criterion(net(words).reshape(-1, 5), tags.reshape(-1))
    loss.backward()
    opt.step()
"""


@register
class PaddingInLoss(StaticRule):
    """The targets are filled up to one length, and the loss counts the filling like real targets.

    With long sequences beside short ones most of the loss is about predicting padding. The network gets a small loss by doing just
    that, and learns the real targets slowly.

    Say which target to leave out: fill up with -100, or `nn.CrossEntropyLoss(ignore_index=PAD)`.
    """

    code = "S533"
    cause = "INP-MASK-MISSING"
    message = "Targets from pad_sequence(padding_value={0}) include padding, which counts in this loss; pass ignore_index={0}, or fill up with -100 where {0} is a class too."
    triggers = ("pad_sequence(",)

    GOOD = (
        Snippet("left out", HEAD.format("") + "criterion = nn.CrossEntropyLoss(ignore_index=0)\n" + LOOP),
        Snippet("filled with what is left out by default", HEAD.format(", padding_value=-100") + "criterion = nn.CrossEntropyLoss()\n" + LOOP),
        Snippet("masked", HEAD.format("") + "criterion = nn.CrossEntropyLoss()\n" + LOOP.replace("criterion(net(words).reshape(-1, 5), tags.reshape(-1))",
                "criterion(net(words)[tags > 0], tags[tags > 0])")),
        Snippet("one by one, then masked", HEAD.format("") + "criterion = nn.CrossEntropyLoss(reduction='none')\n" + LOOP.replace("loss.backward()",
                "(loss * (tags.reshape(-1) > 0)).mean().backward()")),
        Snippet("one target per sequence", HEAD.format("").replace("tags = pad_sequence([t for _, t in batch], batch_first=True)", "tags = torch.stack([t for _, t in batch])")
                + "criterion = nn.CrossEntropyLoss()\n" + LOOP),
        Snippet("a weight of zero", HEAD.format("") + "criterion = nn.CrossEntropyLoss(weight=weights)\n" + LOOP),
    )  # fmt: skip
    BAD = (
        Snippet("through a loader", HEAD.format("") + "criterion = nn.CrossEntropyLoss()\n" + LOOP, line=14),
        Snippet("the next word, function", HEAD.format(", padding_value=1") + LOOP.replace("criterion(net(words).reshape(-1, 5), tags.reshape(-1))",
                "nn.functional.cross_entropy(net(words).reshape(-1, 5), tags[:, 1:].reshape(-1))"), line=16),
        Snippet("right in the loop", "import torch\nfrom torch import nn\n\ndef train(net, batches, opt):\n    loss_fn = nn.NLLLoss()\n    for texts, labels in batches:\n"
                "        x = nn.utils.rnn.pad_sequence(texts, batch_first=True)\n        y = nn.utils.rnn.pad_sequence(labels, batch_first=True)\n        opt.zero_grad()\n"
                "        loss_fn(net(x).log_softmax(-1).transpose(1, 2), y).backward()\n        opt.step()\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        seen: set[int] = set()
        for use in losses(program):
            if use.kind not in ("cross_entropy", "nll") or use.target is None or grad_is_off(use.event):
                continue
            holder = use.made if use.made is not None else use.call
            if holder.open or any(
                use.option(name) is not None for name in ("ignore_index", "reduction", "weight")
            ):
                continue
            if use.made is not None and use.made.args:
                continue
            pad = padded(program, use.target)
            if pad is None or pad.open:
                continue
            given = pad.argument("padding_value", 2)
            value = resolved(given) if given is not None else Const(0)
            node = use.made.node if use.made is not None else use.node
            if not isinstance(value, Const) or constant(value) in (-100, -100.0) or node is None:
                continue
            if id(node) not in seen:
                seen.add(id(node))
                yield self.finding(program, node, self.message.format(value.value))
