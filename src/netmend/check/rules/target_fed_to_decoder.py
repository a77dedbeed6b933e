from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Item
from netmend.program.meaning.losses import losses
from netmend.program.meaning.operations import origins
from netmend.program.meaning.token_steps import TOKENS, Steps, cut_of, sees_more
from netmend.vocabulary.finding import Finding, Fix, Related

HEAD = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(50, 32)
        self.enc = nn.GRU(32, 32, batch_first=True)
        self.dec = nn.GRU(32, 32, batch_first=True)
        self.out = nn.Linear(32, 50)

    def forward(self, src, tgt):
        _, h = self.enc(self.emb(src))
        x, _ = self.dec(self.emb(tgt), h)
        return self.out(x)

net = Net()
criterion = nn.CrossEntropyLoss(ignore_index=0)
for src, tgt in loader:
"""
LOSS = "    loss = criterion(logits.reshape(-1, 50), tgt[:, 1:].reshape(-1))\n"
NAMED = "    loss = criterion(logits.transpose(1, 2), goal)\n"
GIVEN = "        x, _ = self.dec(self.emb(tgt), h)\n"


@register
class TargetFedToDecoder(StaticRule):
    """The decoder is given the same slice of the target that it must predict: `tgt[:, 1:]` goes in and is compared with.

    At each step the network sees the very token that it has to say. It learns to copy its input: the loss goes to zero. When it
    must write by itself, nobody gives it the answer and it fails.

    Shift by one: the decoder gets `tgt[:, :-1]`, the loss compares with `tgt[:, 1:]`.
    """

    code = "S230"
    cause = "PRE-WRONG-STEP"
    message = "The decoder gets the tokens it has to predict; feed tgt[:, :-1] and compare with tgt[:, 1:]."
    triggers = ("cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss")
    needs = "Embedding"
    patterns = (r"(?:cross_entropy|nll_loss|CrossEntropyLoss|NLLLoss)\(",)

    GOOD = (
        Snippet("shifted", HEAD + "    logits = net(src, tgt[:, :-1])\n" + LOSS),
        Snippet("shifted, with names", HEAD + "    given, goal = tgt[:, :-1], tgt[:, 1:]\n    logits = net(src, given)\n" + NAMED),
        Snippet("the network puts a start before it", HEAD.replace(GIVEN, "        tgt = torch.cat([torch.ones_like(tgt[:, :1]), tgt[:, :-1]], 1)\n" + GIVEN)
                + "    logits = net(src, tgt[:, 1:])\n" + LOSS),
        Snippet("the network pads", HEAD.replace(GIVEN, "        tgt = nn.functional.pad(tgt, (1, -1), value=1)\n" + GIVEN)
                + "    logits = net(src, tgt[:, 1:])\n" + LOSS),
        Snippet("the network pads the vectors", HEAD.replace(GIVEN, "        y = self.emb(tgt)\n        y = torch.cat([torch.zeros_like(y[:, :1]), y[:, :-1]], dim=1)\n"
                "        x, _ = self.dec(y, h)\n") + "    logits = net(src, tgt[:, 1:])\n" + LOSS),
        Snippet("the network writes it one place further", HEAD.replace(GIVEN, "        given = torch.ones_like(tgt)\n        given[:, 1:] = tgt[:, :-1]\n"
                "        x, _ = self.dec(self.emb(given), h)\n") + "    logits = net(src, tgt[:, 1:])\n" + LOSS),
        Snippet("shifted in training only", HEAD.replace(GIVEN, "        if self.training:\n            tgt = tgt.roll(1, 1)\n" + GIVEN)
                + "    logits = net(src, tgt[:, 1:])\n" + LOSS),
        Snippet("also as a mask", HEAD.replace("src, tgt):\n        _", "src, tgt, mask):\n        _").replace("self.out(x)", "self.out(x) * mask.unsqueeze(-1)")
                + "    logits = net(src, tgt[:, :-1], mask=tgt[:, 1:] != 0)\n" + LOSS),
        Snippet("a text is encoded and written again", HEAD + "    logits = net(tgt[:, 1:], tgt[:, :-1])\n" + LOSS),
        Snippet("only what the encoder remembers", HEAD.replace("self.emb(tgt)", "h.transpose(0, 1).expand(-1, tgt.size(1), -1)")
                + "    logits = net(tgt[:, 1:], tgt[:, 1:])\n" + LOSS),
        Snippet("without a slice", HEAD + "    logits = net(src, tgt)\n    loss = criterion(logits.reshape(-1, 50), tgt.reshape(-1))\n"),
        Snippet("other tokens", HEAD + "    logits = net(src, src[:, 1:])\n" + LOSS),
        Snippet("hidden tokens", HEAD + "    given = tgt[:, 1:].masked_fill(torch.rand(8, 9) < 0.15, 3)\n    logits = net(src, given)\n" + LOSS),
        Snippet("a network that is not seen", "import torch\nfrom torch import nn\n\nnn.Embedding(3, 3)\n\ndef train(net, src, tgt):\n"
                "    logits = net(src, tgt[:, 1:])\n    return nn.functional.cross_entropy(logits.reshape(-1, 50), tgt[:, 1:].reshape(-1))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("written twice", HEAD + "    logits = net(src, tgt[:, 1:])\n" + LOSS, line=20,
                fixed=HEAD + "    logits = net(src, tgt[:, :-1])\n" + LOSS),
        Snippet("with names", HEAD + "    given, goal = tgt[:, 1:], tgt[:, 1:]\n    logits = net(src, given)\n" + NAMED, line=20,
                fixed=HEAD + "    given, goal = tgt[:, :-1], tgt[:, 1:]\n    logits = net(src, given)\n" + NAMED),
        Snippet("one slice for both", HEAD + "    goal = tgt[:, 1:].long()\n    logits = net(src, goal)\n" + NAMED, line=20),
        Snippet("without the end", HEAD + "    logits = net(src, tgt[:, :-1])\n" + LOSS.replace("1:]", ":-1]"), line=21,
                fixed=HEAD + "    logits = net(src, tgt[:, :-1])\n" + LOSS),
        Snippet("time first", HEAD.replace(", batch_first=True", "") + "    logits = net(src, tgt=tgt[1:])\n" + LOSS.replace("[:, 1:]", "[1:]"), line=20),
        Snippet("a decoder of its own", HEAD.replace("        return self.out(x)", "        return x, h").replace("net = Net()", "net, head = Net(), nn.Linear(32, 50)")
                + "    states, _ = net(src, tgt[:, 1:])\n    logits = head(states)\n" + LOSS, line=20),
        Snippet("Transformer", HEAD.replace("nn.GRU(32, 32, batch_first=True)", "nn.TransformerDecoderLayer(32, 4, batch_first=True)")
                .replace("_, h = self.enc(self.emb(src))", "y = self.emb(tgt) * 6").replace("x, _ = self.dec(self.emb(tgt), h)", "x = self.dec(y, self.emb(src))")
                + "    logits = net(src, tgt[:, 1:])\n" + LOSS, line=20),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        seen: set[int] = set()
        for use in losses(program):
            if use.kind not in ("cross_entropy", "nll") or use.prediction is None or id(use.node) in seen:
                continue
            goals = origins(use.target, TOKENS)
            goal = goals[0] if len(goals) == 1 else None
            cut = cut_of(goal.key) if isinstance(goal, Item) else None
            if not isinstance(goal, Item) or cut is None:
                continue
            starts = origins(use.prediction)
            given = Steps(goal).source(starts[0]) if len(starts) == 1 else None
            if given is None or given.node is None or goal.node is None or sees_more(use.prediction, goal):
                continue
            seen.add(id(use.node))
            fix = None
            at = given if cut[1] == 1 else goal  # the one to change
            part = cut_of(at.key)
            if given.node is not goal.node and part is not None and part[0] is not None:
                text = ":-1" if cut[1] == 1 else "1:"
                fix = Fix("Shift by one", (self.edit(program, part[0], text),))
            place = program.place(use.node)
            compared = Related("It is compared with here.", place.file, place.line, place.column)
            yield self.finding(program, at.node or given.node, fix=fix, related=(compared,))
