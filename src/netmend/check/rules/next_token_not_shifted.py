from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.heads import where
from netmend.program.meaning.next_token import token_losses
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Finding, Fix

HEAD = """\
import torch
from torch import nn
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
    HEAD
    + "for step in range(100):\n    starts = torch.randint(len(data) - 64, (8,))\n    x = torch.stack([data[i : i + 64] for i in starts])\n"
    "    y = torch.stack([data[{}] for i in starts])\n" + FIT
)
SET = (
    HEAD
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


@register
class NextTokenNotShifted(StaticRule):
    """Inputs and targets of a network that is to say the next token are cut out of the text at the same place.

    Two pieces are cut so that the second one begins a step later. Here both begin at the same step: the network is asked for the very
    token that it is given. The loss goes to zero within a few hundred steps, and nothing is learnt.

    Start the targets one step later: `x = data[i : i + n]`, `y = data[i + 1 : i + n + 1]`.
    """

    code = "S233"
    cause = "TOK-SHIFT-MISSING"
    message = "The targets start at the same position as the inputs, so the network only copies; start them one step later."
    triggers = ("cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss")
    needs = "mbedding"

    GOOD = (
        Snippet("one step later", WINDOWS.format("i + 1 : i + 65")),
        Snippet("an autoencoder", HEAD + "for x in data:\n    loss = nn.functional.cross_entropy(net(x).view(-1, 65), x.view(-1))\n    loss.backward()\n"),
        Snippet("one piece for both, as an autoencoder", WINDOWS.format("i : i + 64").replace("y.view", "x.view")),
        Snippet("hidden tokens", WINDOWS.format("i : i + 64").replace(FIT, "    x[torch.rand(8, 64) < 0.15] = 3\n" + FIT)),
        Snippet("tags of the tokens", WINDOWS.format("i : i + 64").replace("y = torch.stack([data[", "y = torch.stack([tags[")),
        Snippet("a part that is cut off both", SET.format("piece = self.data[i : i + self.size + 1]\n        return piece[:-1], piece[1:]")),
        Snippet("from a data set", SET.format("return self.data[i : i + self.size], self.data[i + 1 : i + 1 + self.size]")),
    )  # fmt: skip
    BAD = (
        Snippet("windows", WINDOWS.format("i : i + 64"), line=21, fixed=WINDOWS.format("i + 1 : i + 64 + 1")),
        Snippet("a data set", SET.format("return self.data[i : i + self.size], self.data[i : i + self.size]"), line=26,
                fixed=SET.format("return self.data[i : i + self.size], self.data[i + 1 : i + self.size + 1]")),
        Snippet("one end for both", SET.format("piece = self.data[i : i + self.size + 1]\n        return piece[:-1], piece[:-1]"), line=27,
                fixed=SET.format("piece = self.data[i : i + self.size + 1]\n        return piece[:-1], piece[1:]")),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        seen: set[int] = set()
        for found in token_losses(program):
            node = found.goal.node
            if found.shift == 0 and node is not None and id(node) not in seen:
                seen.add(id(node))
                yield self.finding(
                    program,
                    node,
                    fix=_one_later(program, node),
                    related=where(program, "Compared here.", found.use.node),
                )


def _one_later(program: Program, goal: ast.AST) -> Fix | None:
    """`data[i : i + n]` → `data[i + 1 : i + n + 1]`, `piece[:-1]` → `piece[1:]`."""
    cuts = [
        node.slice
        for node in ast.walk(goal)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
    ]
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
    return Fix("Start the targets one step later", edits) if edits else None
