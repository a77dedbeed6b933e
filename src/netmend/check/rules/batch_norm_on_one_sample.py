from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Element, constant, resolved
from netmend.program.meaning.operations import ACTIVATIONS, Op, walk
from netmend.program.meaning.paths import UNCHANGED, paths, previous
from netmend.program.meaning.shapes import shapes
from netmend.program.meaning.training import backward_calls, grad_is_off
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader

net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""
LOOP = "for x, y in loader:\n    optimizer.zero_grad()\n    loss = (net(x) - y).pow(2).mean()\n    loss.backward()\n    optimizer.step()\n"


@register
class BatchNormOnOneSample(StaticRule):
    """`BatchNorm1d` is trained on batches of one sample.

    The variance of one value is not defined: training stops with "Expected more than 1 value per channel when training". A loader
    without `batch_size` gives batches of one.

    Give the loader a larger `batch_size` (and `drop_last=True`), or use `LayerNorm`.
    """

    code = "S331"
    cause = "HYP-BATCH-SMALL"
    message = "Batches hold one sample, and BatchNorm1d cannot be trained on one; give the loader a batch_size, or use LayerNorm."
    triggers = ("BatchNorm1d", ".backward(")

    GOOD = (
        Snippet("larger batches", HEAD + "loader = DataLoader(data, batch_size=32)\n" + LOOP),
        Snippet("size from the outside", HEAD + "loader = DataLoader(data, batch_size=size)\n" + LOOP),
        Snippet("evaluation", HEAD + "loader = DataLoader(data, batch_size=1)\nnet.eval()\nwith torch.no_grad():\n    for x, y in loader:\n        print(net(x))\n"),
        Snippet("layer norm", HEAD.replace("BatchNorm1d", "LayerNorm") + "loader = DataLoader(data, batch_size=1)\n" + LOOP),
        Snippet("frozen statistics", HEAD + "loader = DataLoader(data, batch_size=1)\nnet.eval()\n" + LOOP),
        Snippet("the data set makes the batches", HEAD + "loader = DataLoader(data, batch_size=None)\n" + LOOP),
    )  # fmt: skip
    BAD = (
        Snippet("batches of one", HEAD + "loader = DataLoader(data, batch_size=1, shuffle=True)\n" + LOOP, line=5),
        Snippet("size forgotten", HEAD + "loader = DataLoader(data, shuffle=True)\n" + LOOP, line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        known = paths(program)
        trained = [event for event in backward_calls(program) if event.loops()]
        if not trained:
            return
        modes = sorted(program.methods_of("eval", "train"), key=lambda event: event.order)
        told: set[int] = set()
        for op in known.ops:
            event = known.events.get(id(op.value))
            if (
                op.name != "batchnorm1d"
                or event is None
                or op.layer is None
                or id(op.layer) in told
                or grad_is_off(event)
            ):
                continue
            if not any(event.loops() and event.loops()[0] in other.loops() for other in trained):
                continue
            if _is_vector(program, op) and _comes_one_by_one(op) and not _is_evaluated(modes, event):
                told.add(id(op.layer))
                yield self.finding(program, op.node)


def _is_vector(program: Program, op: Op) -> bool:
    """Two axes for certain, or what a linear layer gives for a plain batch."""
    given = shapes(program).of(op.input)
    if given is not None and given.whole:
        return given.rank == 2
    before = previous(op, UNCHANGED | ACTIVATIONS)
    return before is not None and before.name == "linear"


def _comes_one_by_one(op: Op) -> bool:
    sources = [part for part in walk(op.input) if isinstance(part, Element)]
    for source in sources:
        loader = resolved(source.iterable)
        if not isinstance(loader, Call) or loader.qualified != "torch.utils.data.DataLoader" or loader.open:
            return False
        if {"batch_sampler", "collate_fn", "sampler"} & set(loader.keywords):
            return False
        size = loader.argument("batch_size", 1)
        if size is not None and constant(size) != 1:
            return False
    return bool(sources)


def _is_evaluated(modes: list[Event], event: Event) -> bool:
    before = [mode for mode in modes if mode.order < event.order]
    return bool(before) and before[-1].call is not None and before[-1].call.method == "eval"
