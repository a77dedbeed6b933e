from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Const, constant, resolved
from netmend.program.meaning.loaders_of_models import loader_made
from netmend.program.meaning.training import rounds
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader\n\nnet = nn.Linear(4, 2)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
LOOP = """\
for step in range(1000):
    x, y = {0}
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
"""


@register
class FirstBatchAgain(StaticRule):
    """`next(iter(loader))` stands inside the training loop, and the loader does not shuffle.

    `iter(loader)` starts from the beginning each time, so every step trains on the first batch alone; the rest of the data is
    never seen.

    Run through the loader (`for x, y in loader:`), or make the iterator once before the loop.
    """

    code = "S517"
    cause = "HYP-BATCH-IMPL"
    message = "Every step gets the first batch again; iterate over the loader with a for loop, or create the iterator once."
    triggers = ("next(",)

    GOOD = (
        Snippet(
            "a loop over the loader",
            HEAD
            + "for x, y in DataLoader(data, batch_size=8):\n    opt.zero_grad()\n    net(x).sum().backward()\n    opt.step()\n",
        ),
        Snippet(
            "iterator made once",
            HEAD + "batches = iter(DataLoader(data, batch_size=8))\n" + LOOP.format("next(batches)"),
        ),
        Snippet(
            "another batch each time",
            HEAD
            + "loader = DataLoader(data, batch_size=8, shuffle=True)\n"
            + LOOP.format("next(iter(loader))"),
        ),
        Snippet(
            "a sample before the loop",
            HEAD
            + "loader = DataLoader(data, batch_size=8)\nx, y = next(iter(loader))\n"
            + LOOP.format("x, y"),
        ),
        Snippet(
            "not known how it draws",
            HEAD
            + "loader = DataLoader(data, batch_size=8, sampler=sampler)\n"
            + LOOP.format("next(iter(loader))"),
        ),
        Snippet(
            "the loader is made in the loop",
            HEAD + LOOP.format("next(iter(DataLoader(collect(step), batch_size=8)))"),
        ),
    )
    BAD = (
        Snippet("first batch only", HEAD + "loader = DataLoader(data, batch_size=8)\n" + LOOP.format("next(iter(loader))"), line=9),
        Snippet("in a function", HEAD + "def fit(loader):\n" + "".join(f"    {line}\n" for line in LOOP.format("next(iter(loader))").splitlines())
                + "\nfit(DataLoader(data, batch_size=8, shuffle=False))\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for turn in rounds(program):
            for event in turn.loop.body.events():
                call = event.call
                if call is None or call.qualified != "next" or not call.args:
                    continue
                inner = resolved(call.args[0])
                if not isinstance(inner, Call) or inner.qualified != "iter" or not inner.args:
                    continue
                loader = loader_made(inner.args[0])
                if loader is None or not _starts_alike(loader):
                    continue
                inside = {id(other.value) for other in turn.loop.body.events()}
                if id(inner) in inside and id(loader) not in inside:
                    yield self.finding(program, event.node)


def _starts_alike(loader: Call) -> bool:
    """Does the loader give the same first batch each time?"""
    shuffle = loader.argument("shuffle", 2)
    if loader.open or (shuffle is not None and not isinstance(shuffle, Const)) or constant(shuffle, False):
        return False
    return not any(
        value is not None and not (isinstance(value, Const) and value.value is None)
        for value in (loader.argument("sampler", 3), loader.argument("batch_sampler", 4))
    )
