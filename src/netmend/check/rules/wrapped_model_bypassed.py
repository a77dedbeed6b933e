from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Event, before
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Either, Value, resolved
from netmend.program.meaning.model_calls import PARALLEL
from netmend.program.meaning.operations import walk
from netmend.program.meaning.training import backward_calls, grad_is_off
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

net = nn.Linear(12, 3)
"""
LOOP = "for x, y in loader:\n    loss = nn.functional.cross_entropy({}, y)\n    loss.backward()\n    optimizer.step()\n    optimizer.zero_grad()\n"


@register
class WrappedModelBypassed(StaticRule):
    """The training step runs the inner model (`ddp.module(x)`, or the model before it was wrapped), not the wrapper.

    `DistributedDataParallel` averages gradients only when its own forward ran. Called past it, every process follows its own
    gradients: the replicas drift apart, without a message.

    Call the wrapper in training; use `.module` for saving and for evaluation.
    """

    code = "S709"
    cause = "GPU-PARALLEL"
    message = "The training step bypasses the parallel wrapper, so gradients are not averaged; call the wrapper itself."
    triggers = ("DistributedDataParallel", "FullyShardedDataParallel")

    GOOD = (
        Snippet("the wrapper is called", HEAD + "net = DDP(net)\n" + LOOP.format("net(x)")),
        Snippet("module for evaluation", HEAD + "net = DDP(net)\n" + LOOP.format("net(x)") + "with torch.no_grad():\n    out = net.module(x)\n"
                "torch.save(net.module.state_dict(), 'net.pt')\n"),
        Snippet("before it was wrapped", HEAD + "start = net(x).sum()\nstart.backward()\nddp = DDP(net)\n" + LOOP.format("ddp(x)")),
        Snippet("wrapped on one path", HEAD + "if distributed:\n    net = DDP(net)\n" + LOOP.format("net(x)")),
        Snippet("a part of it", HEAD + "ddp = DDP(net)\n" + LOOP.format("ddp(x) + ddp.module.bias")),
    )  # fmt: skip
    BAD = (
        Snippet("module", HEAD + "net = DDP(net)\n" + LOOP.format("net.module(x)"), line=8),
        Snippet("the model before", HEAD + "ddp = DDP(net, device_ids=[0])\noptimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)\n" + LOOP.format("net(x)"), line=9),
        Snippet("in a function", "import torch\nfrom torch import nn\n\ndef train(rank, loader, model):\n    wrapped = nn.parallel.DistributedDataParallel(model.to(rank))\n"
                "    optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.1)\n    for x, y in loader:\n        optimizer.zero_grad()\n"
                "        loss = nn.functional.mse_loss(wrapped.module(x), y)\n        loss.backward()\n        optimizer.step()\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        wraps = [event for event in program.calls_of(*PARALLEL) if event.call is not None and event.call.args]
        if not wraps:
            return
        through = {id(event.node) for event in program.calls if _calls_wrapper(event)}
        suspects = {
            id(event.value): event
            for event in program.calls
            if id(event.node) not in through and _goes_past(event, wraps)
        }
        if not suspects:
            return
        for backward in backward_calls(program):
            call = backward.call
            for value in walk(call.receiver if call is not None else None):
                event = suspects.pop(id(value), None)
                if event is not None and not grad_is_off(event):
                    yield self.finding(program, event.node)


def _calls_wrapper(event: Event) -> bool:
    call = event.call
    function = resolved(call.function) if call is not None else None
    options = function.options if isinstance(function, Either) else (function,)
    return any(isinstance(option, Call) and option.qualified in PARALLEL for option in options)


def _goes_past(event: Event, wraps: list[Event]) -> bool:
    call = event.call
    if call is None:
        return False
    if call.method == "module":
        return isinstance(made := resolved(call.receiver or call), Call) and made.qualified in PARALLEL
    model: Value = resolved(call.function)
    return any(before(wrap, event) and resolved(wrap.value.args[0]) is model for wrap in wraps)  # type: ignore[attr-defined]
