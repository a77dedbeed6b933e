"""Samplers of a loader."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.check.examples import TORCH
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import Body, Loop
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Instance, Value, constant, options, resolved
from netmend.program.meaning.loaders import LOADER_NAME
from netmend.program.meaning.statements import without_argument
from netmend.program.meaning.training import is_backward
from netmend.program.text.edits import insert_before
from netmend.vocabulary.finding import Fix

SHUFFLE_HEAD = "from torch.utils.data import DataLoader, RandomSampler, WeightedRandomSampler\n\n"


class SamplerWithShuffle(StaticRule, code="S510", cause="API-USAGE"):
    """A loader is given a sampler and `shuffle=True` at once.

    The sampler decides the order, so both together are refused: the program stops with "sampler option is mutually exclusive with
    shuffle" where the loader is made.

    Leave `shuffle` out; most samplers draw at random themselves.
    """

    message = "A loader with a sampler must not have shuffle=True; remove shuffle."
    triggers = ("sampler",)
    patterns = (r"sampler\s*=",)

    GOOD = (
        Snippet("the sampler alone", SHUFFLE_HEAD + "loader = DataLoader(data, batch_size=8, sampler=RandomSampler(data))\n"),
        Snippet("none is given", SHUFFLE_HEAD + "loader = DataLoader(data, batch_size=8, sampler=None, shuffle=True)\n"),
    )  # fmt: skip
    BAD = (
        mended("both", SHUFFLE_HEAD + "loader = DataLoader(data, batch_size=8, ⟨shuffle=True, sampler → sampler⟩=WeightedRandomSampler(weights, 100))\n"),
        mended("batches by an own sampler", "import torch.utils.data as tud\nclass Buckets(tud.Sampler):\n    def __iter__(self):\n        return iter(order)\n\n"
                "buckets = Buckets()\nloader = tud.DataLoader(data, batch_sampler=buckets⟨, shuffle=True → ⟩)\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.calls_of(LOADER_NAME):
            call = event.call
            if constant(call.argument("shuffle", 2)) is not True:
                continue
            if _is_given(call.argument("sampler", 3)) or _is_given(call.argument("batch_sampler", 4)):
                edits = without_argument(program, call.node, "shuffle")
                yield self.finding(program, event.node, fix=Fix("Remove shuffle", edits, "safe"))


def _is_given(value: Value | None) -> bool:
    """Surely a sampler: made right here."""
    value = resolved(value)
    return isinstance(value, Call | Instance) and (
        isinstance(value, Instance) or "Sampler" in value.qualified
    )


EPOCH_HEAD = f"""{TORCH}\
from torch.utils.data import DataLoader, DistributedSampler

net = nn.Linear(4, 2)
"""
STEP = (
    "            optimizer.zero_grad()\n            net(x).sum().backward()\n            optimizer.step()\n"
)


class SamplerEpochNotSet(StaticRule, code="S710", cause="API-CALL-MISSING"):
    """Epochs run over a loader with a `DistributedSampler`, and nothing calls the sampler's `set_epoch`.

    The sampler shuffles with a seed made of its own seed and the epoch. Without `set_epoch` every epoch has the same order, so
    every batch holds the same samples again: training is as good as unshuffled.

    Call `sampler.set_epoch(epoch)` at the start of each epoch.
    """

    message = "The sampler gives the same order in every epoch; call sampler.set_epoch(epoch) at the start of the epoch."
    triggers = ("DistributedSampler",)

    GOOD = (
        Snippet("set", EPOCH_HEAD + "def train(data, epochs):\n    sampler = DistributedSampler(data)\n    loader = DataLoader(data, sampler=sampler)\n"
                "    for epoch in range(epochs):\n        sampler.set_epoch(epoch)\n        for x in loader:\n" + STEP),
        Snippet("one epoch", EPOCH_HEAD + "def train(data):\n    loader = DataLoader(data, sampler=DistributedSampler(data))\n    if True:\n        for x in loader:\n" + STEP),
        Snippet("no shuffling wanted", EPOCH_HEAD + "def train(data, epochs):\n    loader = DataLoader(data, sampler=DistributedSampler(data, shuffle=False))\n"
                "    for epoch in range(epochs):\n        for x in loader:\n" + STEP),
        Snippet("an unknown helper", EPOCH_HEAD + "from tools import start_epoch\ndef train(data, epochs):\n    loader = DataLoader(data, sampler=DistributedSampler(data))\n"
                "    for epoch in range(epochs):\n        start_epoch(loader, epoch)\n        for x in loader:\n" + STEP),
        Snippet("set in another file", EPOCH_HEAD + "from steps import one\ndef train(data, epochs):\n    sampler = DistributedSampler(data)\n    loader = DataLoader(data, sampler=sampler)\n"
                "    for epoch in range(epochs):\n        one(net, loader, epoch, sampler=sampler)\n",
                files={"steps.py": "def one(net, loader, epoch, sampler=None):\n    if sampler:\n        sampler.set_epoch(epoch)\n    for x in loader:\n        net(x).sum().backward()\n"}),
        Snippet("evaluation", EPOCH_HEAD + "def test(data, runs):\n    loader = DataLoader(data, sampler=DistributedSampler(data))\n    for run in range(runs):\n"
                "        for x in loader:\n            print(net(x))\n"),
    )  # fmt: skip
    BAD = (
        mended("never set", EPOCH_HEAD + "def train(data, epochs):\n    sampler = DistributedSampler(data)\n    loader = DataLoader(data, sampler=sampler)\n"
                "    for epoch in range(epochs):\n        + loader.sampler.set_epoch(epoch)\n        for x in loader:\n" + STEP, line=10),
        Snippet("on one path", EPOCH_HEAD + "def train(data, args):\n    sampler = DistributedSampler(data) if args.distributed else None\n"
                "    loader = DataLoader(data, sampler=sampler, shuffle=sampler is None)\n    for epoch in range(args.epochs):\n        for x in loader:\n" + STEP, line=10),
        Snippet("in a class", EPOCH_HEAD + "class Trainer:\n    def __init__(self, data):\n        self.loader = DataLoader(data, sampler=DistributedSampler(data))\n\n"
                "    def fit(self, optimizer):\n        for epoch in range(10):\n            self.epoch(optimizer)\n\n    def epoch(self, optimizer):\n"
                "        for x in self.loader:\n" + STEP, line=15),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        if "set_epoch" in program.text:
            return
        for loop in program.loops:
            sampler = _sampler(loop.iterable)
            if sampler is None or not any(is_backward(event) for event in loop.events()):
                continue
            epochs = next((part for part in loop.around() if isinstance(part, Loop)), None)
            if epochs is None or not program.entry_of(loop).complete:
                continue
            if _may_be_set(epochs, loop.iterable, sampler):
                continue
            yield self.finding(program, loop.node, fix=_fix(program, loop, epochs))


def _loader(iterable: Value | None) -> Value | None:
    """What a loop runs over, behind enumerate and progress bars."""
    loader = resolved(iterable)
    while (
        isinstance(loader, Call)
        and loader.qualified.rpartition(".")[2] in ("enumerate", "tqdm")
        and loader.args
    ):
        loader = resolved(loader.args[0])
    return loader


def _sampler(iterable: Value | None) -> Call | None:
    loader = _loader(iterable)
    if not isinstance(loader, Call) or loader.qualified != "torch.utils.data.DataLoader":
        return None
    given = loader.argument("sampler", 3)
    for option in options(resolved(given)) if given is not None else ():
        if isinstance(option, Call) and option.qualified == "torch.utils.data.DistributedSampler":
            return (
                option if constant(option.argument("shuffle", 3), True) is True and not option.open else None
            )
    return None


def _may_be_set(epochs: Loop, iterable: Value | None, sampler: Value) -> bool:
    """A call in the epoch that is not followed and is given the loader or the sampler, or holds them."""
    wanted = {id(sampler), id(_loader(iterable))}
    for event in epochs.events():
        call = event.call
        if call is None or (call.result is not None and call.method != "set_epoch"):
            continue
        if call.qualified in ("enumerate", "len", "tqdm.tqdm", "iter", "next", "range"):
            continue
        if call.method == "set_epoch" or any(
            id(resolved(value)) in wanted for value in (*call.args, *call.keywords.values())
        ):
            return True
    return False


def _fix(program: Program, loop: Loop, epochs: Loop) -> Fix | None:
    node, outer = loop.node, epochs.node
    name = getattr(getattr(outer, "target", None), "id", "")
    source = program.source(node.iter) if hasattr(node, "iter") else ""
    if not name or not source.isidentifier():
        return None
    if any(isinstance(part, Body) for part in _between(loop, epochs)):
        return None
    edits = insert_before(program, program.statement(node), f"{source}.sampler.set_epoch({name})")
    return Fix("Set the sampler's epoch", edits)


def _between(loop: Loop, outer: Loop) -> Iterator[object]:
    for part in loop.around():
        if part is outer:
            return
        yield part
