"""Which parameters the optimiser was given."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.examples import NET_CLASS, TORCH
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import STORE, Event, before
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Collection, Const, Name, Value, resolved
from netmend.program.meaning.models import is_module, is_part, new_parameters
from netmend.program.meaning.optimisers import Made, groups_are_changed, is_stepped, made_optimisers
from netmend.program.meaning.roles import MODEL, OPTIMISER, bare, role
from netmend.program.meaning.statements import argument_node
from netmend.program.meaning.training import is_clip
from netmend.program.text.edits import wrap
from netmend.vocabulary.finding import Fix

REPLACED_HEAD = """\
import torch
from torch import nn, optim
from torchvision import models

model = models.resnet18(weights="DEFAULT")
"""
REPLACED_LOOP = (
    "for x, y in loader:\n    optimizer.zero_grad()\n    model(x).sum().backward()\n    optimizer.step()\n"
)
TRAINER = f"""{TORCH}{NET_CLASS}\
        self.body = nn.Linear(8, 8)
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        return self.head(self.body(x))

class Trainer:
    def __init__(self):
        self.model = Net()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def adapt(self, classes, data):
        self.model.head = nn.Linear(8, classes)
        for x, y in data:
            self.optimizer.zero_grad()
            self.model(x).sum().backward()
            self.optimizer.step()

Trainer().adapt(10, data)
"""


class OptimiserBeforeLayerReplaced(StaticRule, code="S401", cause="OPT-PARAMS"):
    """A layer of the model is replaced or added after the optimiser was built, and that optimiser goes on training.

    The optimiser holds the parameters that the model had when it was built. The new layer's parameters are in no optimiser: they
    get gradients but never move, so the new layer keeps its random initial values.

    Change the model first, then build the optimiser; or give it the new parameters with `optimizer.add_param_group(...)`.
    """

    message = "The optimiser was created before this layer and does not train it; create the optimiser once the model is complete."
    triggers = ("optim.", "optim import", "optimizer = ")

    GOOD = (
        Snippet("first the layer, then the optimiser", REPLACED_HEAD + "model.fc = nn.Linear(512, 3)\n"
                "optimizer = optim.SGD(model.parameters(), lr=0.1)\n" + REPLACED_LOOP),
        Snippet("the group is added", REPLACED_HEAD + "optimizer = optim.SGD(model.parameters(), lr=0.1)\nmodel.fc = nn.Linear(512, 3)\n"
                'optimizer.add_param_group({"params": model.fc.parameters()})\n' + REPLACED_LOOP),
        Snippet("built anew", REPLACED_HEAD + "optimizer = optim.SGD(model.parameters(), lr=0.1)\n" + REPLACED_LOOP + "model.fc = nn.Linear(512, 3)\n"
                "optimizer = optim.SGD(model.parameters(), lr=0.01)\n" + REPLACED_LOOP),
        Snippet("the head has an optimiser of its own", REPLACED_HEAD + "optimizer = optim.SGD(model.parameters(), lr=0.1)\n"
                "head = nn.Linear(512, 3)\nhead_optimizer = optim.SGD(head.parameters(), lr=0.1)\nmodel.fc = head\n" + REPLACED_LOOP
                + "    head_optimizer.step()\n"),
        Snippet("replaced for export, after training", REPLACED_HEAD + "optimizer = optim.SGD(model.parameters(), lr=0.1)\n" + REPLACED_LOOP
                + "model.fc = nn.Linear(512, 3)\n"),
        Snippet("the old layer is kept inside", REPLACED_HEAD + "optimizer = optim.SGD(model.parameters(), lr=0.1)\n"
                "model.fc = nn.Sequential(nn.Dropout(0.5), model.fc)\n" + REPLACED_LOOP),
    )  # fmt: skip
    BAD = (
        Snippet("head replaced after", REPLACED_HEAD + "optimizer = optim.SGD(model.parameters(), lr=0.1)\nmodel.fc = nn.Linear(512, 3)\n" + REPLACED_LOOP,
                line=7),
        Snippet("item of a container", REPLACED_HEAD + "model = model.to(device)\noptimizer = torch.optim.Adam(model.parameters())\n"
                "model.classifier[6] = nn.Linear(4096, 3)\n" + REPLACED_LOOP, line=8),
        Snippet("in a trainer", TRAINER, line=19),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        optimisers = [made for made in made_optimisers(program) if made.models]
        if not optimisers:
            return
        born = {id(event.node): event.order for event in program.calls}
        for event in program.events:
            layer = _new_layer(event)
            if layer is None:
                continue
            for made in optimisers:
                if self._is_missed(program, made, event, layer, born):
                    yield self.finding(
                        program, event.node, see=[("The optimiser is created here.", made.event.node)]
                    )
                    break

    def _is_missed(
        self, program: Program, made: Made, event: Event, layer: Value, born: dict[int, int]
    ) -> bool:
        target = event.target
        assert target is not None
        if event.order < made.event.order or not is_stepped(program, made.call, after=event.order):
            return False
        if not any(is_part(target.base, model) for model in made.models):
            return False
        fresh = [part for part in new_parameters(layer) if born.get(id(part.node), 0) > made.event.order]
        if not fresh or groups_are_changed(program, made.call):
            return False
        return not any(
            is_part(layer, model)
            for other in made_optimisers(program)
            if other.event.order > born.get(id(fresh[0].node), 0)
            for model in other.models
        )


def _new_layer(event: Event) -> Value | None:
    """The module that a store puts into another module."""
    target = event.target
    if event.kind != STORE or target is None or target.base is None:
        return None
    layer = resolved(event.value)
    if not is_module(layer) or (isinstance(layer, Call) and layer.qualified.startswith("torch.nn.utils.")):
        return None
    return layer if bare(target.base) is not None else None


DEVICE_HEAD = "import torch\nfrom torch import nn\n\nmodel = nn.Linear(4, 2)\n"
MADE_OPTIMISER = "optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)\n"


class OptimiserBeforeDevice(StaticRule, code="S402", cause="OPT-PARAMS", advisory=True):
    """The optimiser is built before the model is moved to its device.

    Current torch moves parameters in place, so this works for `.to(device)` and `.cuda()`. It does not for wrappers that make new
    parameters (FSDP, some accelerator back ends), and an optimiser whose state exists already keeps it on the old device.

    Move the model first, then build the optimiser.
    """

    message = (
        "The model is moved after its optimiser was created; move it first, as torch's documentation asks."
    )
    triggers = (".to(", ".cuda(", ".xpu(")

    GOOD = (
        Snippet("moved first", DEVICE_HEAD + 'model = model.to("cuda")\n' + MADE_OPTIMISER),
        Snippet("only the type changes", DEVICE_HEAD + MADE_OPTIMISER + "model.to(torch.float64)\n"),
        Snippet(
            "another model is moved",
            DEVICE_HEAD + "teacher = nn.Linear(4, 2)\n" + MADE_OPTIMISER + 'teacher.to("cuda")\n',
        ),
    )
    BAD = (
        Snippet("moved after", DEVICE_HEAD + MADE_OPTIMISER + 'model.to("cuda")\n', line=6),
        Snippet("in a function", "import torch\ndef prepare(model, device):\n    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
                "    model = model.to(device)\n    return model, optimizer\n", line=4),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        optimisers = made_optimisers(program)
        for event in program.methods_of("to", "cuda", "xpu"):
            call = event.call
            if call.method == "to" and not _is_device(call):
                continue
            model = bare(call.receiver)
            entry = program.entry_of(event)
            if any(
                made.event.order < event.order
                and any(owner is model for owner in made.models)
                and program.entry_of(made.event) is entry
                and not made.event.loops()
                for made in optimisers
            ):
                yield self.finding(program, event.node)


def _is_device(call: Call) -> bool:
    given: Value | None = call.argument("device", 0)
    if isinstance(given, Name):
        return not given.qualified.startswith("torch.")
    return given is not None and not (isinstance(given, Const) and not isinstance(given.value, str))


TWICE_HEAD = "import torch\nfrom torch import nn\n\nnet = nn.Linear(4, 2)\n"
TWICE_LOOP = """\
for x, y in data:
    optimizer.zero_grad()
    net(x).sum().backward()
    nn.utils.clip_grad_norm_({0}, 1.0)
    optimizer.step()
"""
_EXHAUST = ("list", "tuple", "set", "sum", "sorted", "max", "min", "dict", "any", "all")


class ParametersGeneratorUsedTwice(StaticRule, code="S404", cause="OPT-PARAMS"):
    """`model.parameters()` is kept in a variable and run through twice; the second time it is empty.

    `parameters()`, `filter()` and the like give generators, which can be read once. The optimiser reads all of it; gradient
    clipping then gets nothing and silently does nothing, or a second optimiser fails.

    Make a list of it: `params = list(model.parameters())`.
    """

    message = "These parameters are a generator that is already exhausted, so nothing is left here; keep list(...) of them instead."
    triggers = ("parameters()\n", "filter(", "parameters() if", "chain(")

    GOOD = (
        Snippet("a list", TWICE_HEAD + "params = list(net.parameters())\noptimizer = torch.optim.SGD(params, lr=0.1)\n" + TWICE_LOOP.format("params")),
        Snippet("a comprehension is a list", TWICE_HEAD + "params = [p for p in net.parameters() if p.requires_grad]\n"
                "optimizer = torch.optim.SGD(params, lr=0.1)\n" + TWICE_LOOP.format("params")),
        Snippet("one of two", TWICE_HEAD + "params = net.parameters()\nif fast:\n    optimizer = torch.optim.SGD(params, lr=0.1)\nelse:\n"
                "    optimizer = torch.optim.Adam(params)\n"),
        Snippet("a project method may give a list", "import torch\nclass Bag:\n    def parameters(self):\n        return [a, b]\n\n"
                "params = Bag().parameters()\noptimizer = torch.optim.SGD(params, lr=0.1)\ntorch.nn.utils.clip_grad_norm_(params, 1.0)\n"),
    )  # fmt: skip
    BAD = (
        mended("clipping gets nothing", TWICE_HEAD + "params = ⟨net.parameters() → list(net.parameters())⟩\noptimizer = torch.optim.SGD(params, lr=0.1)\n"
                + TWICE_LOOP.format("params"), line=10),
        Snippet("filtered", TWICE_HEAD + "params = filter(lambda p: p.requires_grad, net.parameters())\n"
                "optimizer = torch.optim.Adam(params)\n" + TWICE_LOOP.format("params"), line=10),
        Snippet("counted first", "import torch\ndef build(model):\n    params = (p for p in model.parameters() if p.requires_grad)\n"
                "    print(sum(p.numel() for p in params))\n    return torch.optim.AdamW(params, lr=1e-4)\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        readers: dict[int, tuple[Value, list[Event]]] = {}
        for event in program.calls:
            call = event.call
            if not (is_clip(event) or role(call) == OPTIMISER or call.qualified in _EXHAUST):
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
        return Fix("Keep a list of the parameters", wrap(program, value.node, "list(", ")"), "safe")


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


class ParametersNotCalled(StaticRule, code="S411", cause="OPT-PARAMS"):
    """The optimiser is given the method `model.parameters` instead of what it returns.

    The program stops with "'method' object is not iterable" as soon as the line is reached.

    Call it: `model.parameters()`.
    """

    message = "parameters is a method; call it: parameters()."
    triggers = (".parameters",)

    GOOD = (
        Snippet("called", TWICE_HEAD + "opt = torch.optim.Adam(net.parameters())\n"),
        Snippet("an attribute of something else", "import torch\ndef build(setup):\n    return torch.optim.Adam(setup.parameters, lr=1e-3)\n"),
        Snippet("a list kept in the model", "import torch\nfrom torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n"
                "        super().__init__()\n        self.parameters = [torch.zeros(2, requires_grad=True)]\n        self.opt = torch.optim.SGD(self.parameters, lr=0.1)\n"),
    )  # fmt: skip
    BAD = (
        mended("brackets forgotten", TWICE_HEAD + "opt = torch.optim.Adam(net.parameters⟨ → ()⟩, lr=1e-3)\n"),
        mended("by keyword", "from torch import optim\ndef build(model):\n    return optim.SGD(params=model.parameters⟨ → ()⟩, lr=0.1)\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for made in made_optimisers(program):
            given = made.call.argument("params", 0)
            node = argument_node(made.call.node, "params", 0)
            if isinstance(node, ast.Attribute) and node.attr == "parameters" and _is_method(given):
                edits = wrap(program, node, "", "()")
                yield self.finding(program, node, fix=Fix("Call parameters()", edits, "safe"))


def _is_method(value: Value | None) -> bool:
    return isinstance(value, Attribute) and value.name == "parameters" and role(value.base) == MODEL
