"""What a sequence model is given, what it is to predict, and what counts in its loss."""

from __future__ import annotations

import ast

from netmend.check.examples import NET_CLASS, TORCH
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.program import Program
from netmend.program.engine.values import Const, Item, constant, resolved
from netmend.program.meaning.losses import losses
from netmend.program.meaning.operations import origins
from netmend.program.meaning.sequences import TOKENS, Steps, cut_of, padded, sees_more, token_losses
from netmend.program.meaning.training import grad_is_off
from netmend.program.text.edits import replace
from netmend.program.text.queries import inside
from netmend.vocabulary.finding import Fix

DECODER_HEAD = f"""{TORCH}{NET_CLASS}\
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


class TargetFedToDecoder(StaticRule, code="S230", cause="PRE-WRONG-STEP"):
    """The decoder is given the same slice of the target that it must predict: `tgt[:, 1:]` goes in and is compared with.

    At each step the network sees the very token that it has to say. It learns to copy its input: the loss goes to zero. When it
    must write by itself, nobody gives it the answer and it fails.

    Shift by one: the decoder gets `tgt[:, :-1]`, the loss compares with `tgt[:, 1:]`.
    """

    message = "The decoder gets the tokens it has to predict; feed tgt[:, :-1] and compare with tgt[:, 1:]."
    triggers = ("cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss")
    needs = "Embedding"
    patterns = (r"(?:cross_entropy|nll_loss|CrossEntropyLoss|NLLLoss)\(",)

    GOOD = (
        Snippet("shifted", DECODER_HEAD + "    logits = net(src, tgt[:, :-1])\n" + LOSS),
        Snippet("the network pads the vectors", DECODER_HEAD.replace(GIVEN, "        y = self.emb(tgt)\n        y = torch.cat([torch.zeros_like(y[:, :1]), y[:, :-1]], dim=1)\n"
                "        x, _ = self.dec(y, h)\n") + "    logits = net(src, tgt[:, 1:])\n" + LOSS),
        Snippet("shifted in training only", DECODER_HEAD.replace(GIVEN, "        if self.training:\n            tgt = tgt.roll(1, 1)\n" + GIVEN)
                + "    logits = net(src, tgt[:, 1:])\n" + LOSS),
        Snippet("also as a mask", DECODER_HEAD.replace("src, tgt):\n        _", "src, tgt, mask):\n        _").replace("self.out(x)", "self.out(x) * mask.unsqueeze(-1)")
                + "    logits = net(src, tgt[:, :-1], mask=tgt[:, 1:] != 0)\n" + LOSS),
        Snippet("only what the encoder remembers", DECODER_HEAD.replace("self.emb(tgt)", "h.transpose(0, 1).expand(-1, tgt.size(1), -1)")
                + "    logits = net(tgt[:, 1:], tgt[:, 1:])\n" + LOSS),
        Snippet("without a slice", DECODER_HEAD + "    logits = net(src, tgt)\n    loss = criterion(logits.reshape(-1, 50), tgt.reshape(-1))\n"),
        Snippet("other tokens", DECODER_HEAD + "    logits = net(src, src[:, 1:])\n" + LOSS),
        Snippet("a network that is not seen", "import torch\nfrom torch import nn\n\nnn.Embedding(3, 3)\n\ndef train(net, src, tgt):\n"
                "    logits = net(src, tgt[:, 1:])\n    return nn.functional.cross_entropy(logits.reshape(-1, 50), tgt[:, 1:].reshape(-1))\n"),
    )  # fmt: skip
    BAD = (
        mended("written twice", DECODER_HEAD + "    logits = net(src, tgt[:, ⟨1: → :-1⟩])\n" + LOSS),
        mended("with names", DECODER_HEAD + "    given, goal = tgt[:, ⟨1: → :-1⟩], tgt[:, 1:]\n    logits = net(src, given)\n" + NAMED),
        Snippet("one slice for both", DECODER_HEAD + "    goal = tgt[:, 1:].long()\n    logits = net(src, goal)\n" + NAMED, line=20),
        Snippet("without the end", DECODER_HEAD + "    logits = net(src, tgt[:, :-1])\n" + LOSS.replace("1:]", ":-1]"), line=21,
                fixed=DECODER_HEAD + "    logits = net(src, tgt[:, :-1])\n" + LOSS),
        Snippet("Transformer", DECODER_HEAD.replace("nn.GRU(32, 32, batch_first=True)", "nn.TransformerDecoderLayer(32, 4, batch_first=True)")
                .replace("_, h = self.enc(self.emb(src))", "y = self.emb(tgt) * 6").replace("x, _ = self.dec(self.emb(tgt), h)", "x = self.dec(y, self.emb(src))")
                + "    logits = net(src, tgt[:, 1:])\n" + LOSS, line=20),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
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
            yield self.finding(
                program, at.node or given.node, fix=fix, see=[("It is compared with here.", use.node)]
            )


SHIFT_HEAD = f"""{TORCH}\
from torch.utils.data import DataLoader, Dataset

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(65, 32)
        self.body = nn.GRU(32, 32, batch_first=True)
        self.head = nn.Linear(32, 65)

    def forward(self, ids):
        x, _ = self.body(self.tokens(ids))
        return self.head(x)

net = Net()
data = torch.load("text.pt")
"""
FIT = "    loss = nn.functional.cross_entropy(net(x).view(-1, 65), y.view(-1))\n    loss.backward()\n"
WINDOWS = (
    SHIFT_HEAD
    + "for step in range(100):\n    starts = torch.randint(len(data) - 64, (8,))\n    x = torch.stack([data[i : i + 64] for i in starts])\n"
    "    y = torch.stack([data[{}] for i in starts])\n" + FIT
)
SET = (
    SHIFT_HEAD
    + """\
class Text(Dataset):
    def __init__(self, data, size):
        self.data, self.size = data, size

    def __len__(self):
        return len(self.data) - self.size

    def __getitem__(self, i):
        {}

for x, y in DataLoader(Text(data, 64), batch_size=8, shuffle=True):
"""
    + FIT
)


class NextTokenNotShifted(StaticRule, code="S233", cause="TOK-SHIFT-MISSING"):
    """Inputs and targets of a network that is to say the next token are cut out of the text at the same place.

    Two pieces are cut so that the second one begins a step later. Here both begin at the same step: the network is asked for the very
    token that it is given. The loss goes to zero within a few hundred steps, and nothing is learnt.

    Start the targets one step later: `x = data[i : i + n]`, `y = data[i + 1 : i + n + 1]`.
    """

    message = "The targets start at the same position as the inputs, so the network only copies; start them one step later."
    triggers = ("cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss")
    needs = "mbedding"

    GOOD = (
        Snippet("one step later", WINDOWS.format("i + 1 : i + 65")),
        Snippet("an autoencoder", SHIFT_HEAD + "for x in data:\n    loss = nn.functional.cross_entropy(net(x).view(-1, 65), x.view(-1))\n    loss.backward()\n"),
        Snippet("one piece for both, as an autoencoder", WINDOWS.format("i : i + 64").replace("y.view", "x.view")),
        Snippet("hidden tokens", WINDOWS.format("i : i + 64").replace(FIT, "    x[torch.rand(8, 64) < 0.15] = 3\n" + FIT)),
        Snippet("tags of the tokens", WINDOWS.format("i : i + 64").replace("y = torch.stack([data[", "y = torch.stack([tags[")),
    )  # fmt: skip
    BAD = (
        mended("windows", WINDOWS.format("i ⟨: i + 64 → + 1 : i + 64 + 1⟩")),
        mended("a data set", SET.format("return self.data[i : i + self.size], self.data[i ⟨: i + self.size → + 1 : i + self.size + 1⟩]")),
        mended("one end for both", SET.format("piece = self.data[i : i + self.size + 1]\n        return piece[:-1], piece[⟨:-1 → 1:⟩]")),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for found in token_losses(program):
            node = found.goal.node
            if found.shift == 0 and node is not None:
                yield self.finding(
                    program, node, fix=_one_later(program, node), see=[("Compared here.", found.use.node)]
                )


def _one_later(program: Program, goal: ast.AST) -> Fix | None:
    """`data[i : i + n]` → `data[i + 1 : i + n + 1]`, `piece[:-1]` → `piece[1:]`."""
    cuts = [node.slice for node in inside(goal, ast.Subscript) if isinstance(node.slice, ast.Slice)]
    if len(cuts) != 1 or cuts[0].step is not None or cuts[0].upper is None:
        return None
    lower, upper = cuts[0].lower, ast.unparse(cuts[0].upper)
    if upper == "-1":
        text = "1:" if lower is None else ""
    elif upper.startswith("-"):
        text = ""
    else:
        begin = "1" if lower is None or ast.unparse(lower) == "0" else f"{ast.unparse(lower)} + 1"
        text = f"{begin} : {upper} + 1"
    edits = replace(program, cuts[0], text) if text else ()
    return Fix("Start the targets one step later", edits)


PADDING_HEAD = """\
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


class PaddingInLoss(StaticRule, code="S533", cause="INP-MASK-MISSING"):
    """The targets are filled up to one length, and the loss counts the filling like real targets.

    With long sequences beside short ones most of the loss is about predicting padding. The network gets a small loss by doing just
    that, and learns the real targets slowly.

    Say which target to leave out: fill up with -100, or `nn.CrossEntropyLoss(ignore_index=PAD)`.
    """

    message = "Targets from pad_sequence(padding_value={0}) include padding, which counts in this loss; pass ignore_index={0}, or fill up with -100 where {0} is a class too."
    triggers = ("pad_sequence(",)

    GOOD = (
        Snippet("left out", PADDING_HEAD.format("") + "criterion = nn.CrossEntropyLoss(ignore_index=0)\n" + LOOP),
        Snippet("filled with what is left out by default", PADDING_HEAD.format(", padding_value=-100") + "criterion = nn.CrossEntropyLoss()\n" + LOOP),
        Snippet("masked", PADDING_HEAD.format("") + "criterion = nn.CrossEntropyLoss()\n" + LOOP.replace("criterion(net(words).reshape(-1, 5), tags.reshape(-1))",
                "criterion(net(words)[tags > 0], tags[tags > 0])")),
        Snippet("one target per sequence", PADDING_HEAD.format("").replace("tags = pad_sequence([t for _, t in batch], batch_first=True)", "tags = torch.stack([t for _, t in batch])")
                + "criterion = nn.CrossEntropyLoss()\n" + LOOP),
    )  # fmt: skip
    BAD = (
        Snippet("through a loader", PADDING_HEAD.format("") + "criterion = nn.CrossEntropyLoss()\n" + LOOP, line=14),
        Snippet("the next word, function", PADDING_HEAD.format(", padding_value=1") + LOOP.replace("criterion(net(words).reshape(-1, 5), tags.reshape(-1))",
                "nn.functional.cross_entropy(net(words).reshape(-1, 5), tags[:, 1:].reshape(-1))"), line=16),
        Snippet("right in the loop", "import torch\nfrom torch import nn\n\ndef train(net, batches, opt):\n    loss_fn = nn.NLLLoss()\n    for texts, labels in batches:\n"
                "        x = nn.utils.rnn.pad_sequence(texts, batch_first=True)\n        y = nn.utils.rnn.pad_sequence(labels, batch_first=True)\n        opt.zero_grad()\n"
                "        loss_fn(net(x).log_softmax(-1).transpose(1, 2), y).backward()\n        opt.step()\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
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
            yield self.finding(program, node, self.message.format(value.value))
