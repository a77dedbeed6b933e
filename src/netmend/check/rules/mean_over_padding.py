from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Value, constant, resolved
from netmend.program.meaning.operations import operation, origins, walk
from netmend.program.meaning.padding import filled_rows, padded
from netmend.program.meaning.training import rounds
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(300, 16)
        self.out = nn.Linear(16, 3)

    def forward(self, ids):
        {0}

net = Net()
opt = torch.optim.Adam(net.parameters())
"""
LOOP = """\
    opt.zero_grad()
    nn.functional.cross_entropy(net(ids), y).backward()
    opt.step()
"""
MEAN = "return self.out(self.emb(ids).mean(dim=1))"
PADDED = "for texts, y in batches:\n    ids = pad_sequence(texts, batch_first=True)\n"


@register
class MeanOverPadding(StaticRule):
    """Word vectors are averaged over the whole row, padding included.

    A short text in a long row becomes mostly the vector of the padding. What it says is diluted by its length, and the same text
    gives another result in another batch.

    Average over real words only: `(vectors * mask).sum(1) / mask.sum(1)`, or use `nn.EmbeddingBag` with offsets.
    """

    code = "S344"
    cause = "INP-MASK-MISSING"
    message = "The mean runs over padding too; sum over real tokens with a mask and divide by their number."
    triggers = ("Embedding(",)
    needs = "mean"
    patterns = (r"pad_sequence\(",)

    GOOD = (
        Snippet(
            "masked",
            HEAD.format(
                "m = (ids > 0).unsqueeze(-1)\n        return self.out((self.emb(ids) * m).sum(1) / m.sum(1))"
            )
            + PADDED
            + LOOP,
        ),
        Snippet(
            "rows of full length",
            HEAD.format(MEAN) + "for texts, y in batches:\n    ids = torch.stack(texts)\n" + LOOP,
        ),
        Snippet("nothing is known of the rows", HEAD.format(MEAN) + "for ids, y in batches:\n" + LOOP),
        Snippet(
            "the padding's vector stays zero",
            HEAD.format(MEAN).replace("(300, 16)", "(300, 16, padding_idx=0)") + PADDED + LOOP,
        ),
        Snippet("the mean over features", HEAD.format("return self.emb(ids).mean(dim=2)") + PADDED + LOOP),
    )
    BAD = (
        Snippet("method", HEAD.format(MEAN) + PADDED + LOOP, line=12),
        Snippet("function", HEAD.format("return self.out(torch.mean(self.emb(ids), 1))") + PADDED + LOOP, line=12),
        Snippet("rows filled by hand", HEAD.format(MEAN) + "rows = torch.zeros(100, 40, dtype=torch.long)\nfor i, text in enumerate(texts):\n"
                "    rows[i, : len(text)] = text\nfor b in torch.randperm(100).split(10):\n    ids, y = rows[b], labels[b]\n" + LOOP, line=12),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        seen: set[int] = set()
        for turn in rounds(program):
            for event in turn.backward:
                for value in walk(event.call.receiver if event.call is not None else None):
                    op = operation(resolved(value))
                    if op is None or op.name != "mean" or op.layer is not None or id(op.node) in seen:
                        continue
                    if constant(op.option("dim", 0)) != 1 or op.input is None:
                        continue
                    if all(_is_of_padding(program, origin) for origin in origins(op.input)):
                        seen.add(id(op.node))
                        yield self.finding(program, op.node)


def _is_of_padding(program: Program, value: Value) -> bool:
    """Vectors looked up for padded rows, the padding with a vector of its own."""
    op = operation(value)
    if op is None or op.name != "embedding" or op.layer is None or op.input is None:
        return False
    if op.layer.open or op.layer.argument("padding_idx", 2) is not None:
        return False
    pad = padded(program, op.input)
    is_rows = pad is not None and constant(pad.argument("batch_first", 1)) is True
    return is_rows or filled_rows(program, op.input)
