from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import STORE, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value, resolved
from netmend.program.meaning.models import bare, is_module, is_part, new_parameters
from netmend.program.meaning.optimisers import Made, groups_are_changed, is_stepped, made_optimisers
from netmend.vocabulary.finding import Finding, Related

HEAD = """\
import torch
from torch import nn, optim
from torchvision import models

model = models.resnet18(weights="DEFAULT")
"""
LOOP = "for x, y in loader:\n    optimizer.zero_grad()\n    model(x).sum().backward()\n    optimizer.step()\n"
TRAINER = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
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


@register
class OptimiserBeforeLayerReplaced(StaticRule):
    """A layer of the model is replaced or added after the optimiser was built, and that optimiser goes on training.

    The optimiser holds the parameters that the model had when it was built. The new layer's parameters are in no optimiser: they
    get gradients but never move, so the new layer keeps its random initial values.

    Change the model first, then build the optimiser; or give it the new parameters with `optimizer.add_param_group(...)`.
    """

    code = "S401"
    cause = "OPT-PARAMS"
    message = "The optimiser was created before this layer and does not train it; create the optimiser once the model is complete."
    triggers = ("optim.", "optim import", "optimizer = ")

    GOOD = (
        Snippet("first the layer, then the optimiser", HEAD + "model.fc = nn.Linear(512, 3)\n"
                "optimizer = optim.SGD(model.parameters(), lr=0.1)\n" + LOOP),
        Snippet("the group is added", HEAD + "optimizer = optim.SGD(model.parameters(), lr=0.1)\nmodel.fc = nn.Linear(512, 3)\n"
                'optimizer.add_param_group({"params": model.fc.parameters()})\n' + LOOP),
        Snippet("built anew", HEAD + "optimizer = optim.SGD(model.parameters(), lr=0.1)\n" + LOOP + "model.fc = nn.Linear(512, 3)\n"
                "optimizer = optim.SGD(model.parameters(), lr=0.01)\n" + LOOP),
        Snippet("nothing to learn in it", HEAD + "optimizer = optim.SGD(model.parameters(), lr=0.1)\n" + LOOP + "model.fc = nn.Identity()\n"
                + LOOP),
        Snippet("the head has an optimiser of its own", HEAD + "optimizer = optim.SGD(model.parameters(), lr=0.1)\n"
                "head = nn.Linear(512, 3)\nhead_optimizer = optim.SGD(head.parameters(), lr=0.1)\nmodel.fc = head\n" + LOOP
                + "    head_optimizer.step()\n"),
        Snippet("replaced for export, after training", HEAD + "optimizer = optim.SGD(model.parameters(), lr=0.1)\n" + LOOP
                + "model.fc = nn.Linear(512, 3)\n"),
        Snippet("the old layer is kept inside", HEAD + "optimizer = optim.SGD(model.parameters(), lr=0.1)\n"
                "model.fc = nn.Sequential(nn.Dropout(0.5), model.fc)\n" + LOOP),
    )  # fmt: skip
    BAD = (
        Snippet("head replaced after", HEAD + "optimizer = optim.SGD(model.parameters(), lr=0.1)\nmodel.fc = nn.Linear(512, 3)\n" + LOOP,
                line=7),
        Snippet("item of a container", HEAD + "model = model.to(device)\noptimizer = torch.optim.Adam(model.parameters())\n"
                "model.classifier[6] = nn.Linear(4096, 3)\n" + LOOP, line=8),
        Snippet("in a trainer", TRAINER, line=19),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
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
                    place = program.place(made.event.node)
                    built = Related("The optimiser is created here.", place.file, place.line, place.column)
                    yield self.finding(program, event.node, related=(built,))
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
