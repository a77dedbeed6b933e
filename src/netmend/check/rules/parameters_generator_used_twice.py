from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Event, before
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Value, resolved
from netmend.program.meaning.roles import MODEL, OPTIMISER, role
from netmend.program.meaning.training import is_clip
from netmend.program.text.edits import wrap
from netmend.vocabulary.finding import Finding, Fix

HEAD = "import torch\nfrom torch import nn\n\nnet = nn.Linear(4, 2)\n"
LOOP = """\
for x, y in data:
    optimizer.zero_grad()
    net(x).sum().backward()
    nn.utils.clip_grad_norm_({0}, 1.0)
    optimizer.step()
"""
_EXHAUST = ("list", "tuple", "set", "sum", "sorted", "max", "min", "dict", "any", "all")


@register
class ParametersGeneratorUsedTwice(StaticRule):
    """`model.parameters()` is kept in a variable and run through twice; the second time it is empty.

    `parameters()`, `filter()` and the like give generators, which can be read once. The optimiser reads all of it; gradient
    clipping then gets nothing and silently does nothing, or a second optimiser fails.

    Make a list of it: `params = list(model.parameters())`.
    """

    code = "S404"
    cause = "OPT-PARAMS"
    message = "These parameters are a generator that is already exhausted, so nothing is left here; keep list(...) of them instead."
    triggers = ("parameters()\n", "filter(", "parameters() if", "chain(")

    GOOD = (
        Snippet("a list", HEAD + "params = list(net.parameters())\noptimizer = torch.optim.SGD(params, lr=0.1)\n" + LOOP.format("params")),
        Snippet("asked anew", HEAD + "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n" + LOOP.format("net.parameters()")),
        Snippet("a comprehension is a list", HEAD + "params = [p for p in net.parameters() if p.requires_grad]\n"
                "optimizer = torch.optim.SGD(params, lr=0.1)\n" + LOOP.format("params")),
        Snippet("one of two", HEAD + "params = net.parameters()\nif fast:\n    optimizer = torch.optim.SGD(params, lr=0.1)\nelse:\n"
                "    optimizer = torch.optim.Adam(params)\n"),
        Snippet("a project method may give a list", "import torch\nclass Bag:\n    def parameters(self):\n        return [a, b]\n\n"
                "params = Bag().parameters()\noptimizer = torch.optim.SGD(params, lr=0.1)\ntorch.nn.utils.clip_grad_norm_(params, 1.0)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("clipping gets nothing", HEAD + "params = net.parameters()\noptimizer = torch.optim.SGD(params, lr=0.1)\n"
                + LOOP.format("params"), line=10,
                fixed=HEAD + "params = list(net.parameters())\noptimizer = torch.optim.SGD(params, lr=0.1)\n" + LOOP.format("params")),
        Snippet("filtered", HEAD + "params = filter(lambda p: p.requires_grad, net.parameters())\n"
                "optimizer = torch.optim.Adam(params)\n" + LOOP.format("params"), line=10),
        Snippet("counted first", "import torch\ndef build(model):\n    params = (p for p in model.parameters() if p.requires_grad)\n"
                "    print(sum(p.numel() for p in params))\n    return torch.optim.AdamW(params, lr=1e-4)\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        readers: dict[int, tuple[Value, list[Event]]] = {}
        for event in program.calls:
            call = event.call
            if call is None or not (is_clip(event) or role(call) == OPTIMISER or call.qualified in _EXHAUST):
                continue
            for value in (*call.args[:1], *call.keywords.values()):
                if _is_generator(value):
                    readers.setdefault(id(value), (value, []))[1].append(event)
        for loop in program.loops:
            if loop.iterable is not None and _is_generator(loop.iterable) and loop.body.items:
                first = next(loop.body.events(), None)
                if first is not None and not any(event.kind == "exit" for event in loop.body.events()):
                    mark = Event("loop", loop.iterable, loop.node, loop.block, loop.order)
                    readers.setdefault(id(loop.iterable), (loop.iterable, []))[1].append(mark)
        for value, events in readers.values():
            events.sort(key=lambda event: event.order)
            second = next(
                (late for late in events for early in events if early is not late and before(early, late)),
                None,
            )
            if second is not None:
                yield self.finding(program, second.node, fix=self._fix(program, value))

    def _fix(self, program: Program, value: Value) -> Fix | None:
        if not isinstance(value, Call) or value.node is None:
            return None
        edits = wrap(program, value.node, "list(", ")")
        return Fix("Keep a list of the parameters", edits, "safe") if edits else None


def _is_generator(value: Value) -> bool:
    """A generator over parameters that a variable can hold."""
    if isinstance(value, Collection):
        return value.kind == "generator" and any(_is_generator(part) for part in _sources(value))
    if not isinstance(value, Call) or value.result is not None:
        return False
    if value.method == "parameters":
        return role(value.receiver) == MODEL
    if value.qualified in ("filter", "map", "itertools.chain"):
        return any(_is_generator(resolved(argument)) for argument in value.args)
    return False


def _sources(generator: Collection) -> Iterator[Value]:
    from netmend.program.engine.values import Element

    for item in generator.items:
        inner = resolved(item)
        if isinstance(inner, Element):
            yield inner.iterable
