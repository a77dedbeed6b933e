"""Models, optimisers and layers that are made anew in every round."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.examples import net
from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import Body, CallEvent, Event, Loop, StoreEvent, always
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Const, Instance, Param, Value, constant, resolved
from netmend.program.meaning.loops import (
    changes_in,
    is_over_epochs,
    is_over_loader,
    is_over_several,
    made_in,
    turns,
)
from netmend.program.meaning.models import is_computed_by
from netmend.program.meaning.modules import BATCH_NORMS, RANDOM, forward_around, learns
from netmend.program.meaning.operations import parts_of
from netmend.program.meaning.roles import MODEL, bare, optimised, role, same
from netmend.program.meaning.sizes import LITERAL_LAYERS
from netmend.program.meaning.training import Round, grad_is_off, loss_of, one_optimiser

MODEL_HEAD = net("fc = nn.Linear(4, 3)", forward="        return self.fc(x)\n\n")
STEP = "opt.zero_grad()\n{0}net(x).mean().backward()\n{0}opt.step()\n"
MAKE = "net = Net()\n{0}opt = torch.optim.Adam(net.parameters())\n"


class ModelMadeInTrainingLoop(StaticRule, code="S123", cause="ARC-INIT-MULTI"):
    """The model that a loop trains is made anew in each epoch or at each batch.

    What was learnt so far is thrown away with the old model: the loss starts again at its first value in every epoch, and at the end
    only the last one counts.

    Make model and optimiser once, before the loop.
    """

    message = "The model is created again in each iteration of the training loop and loses what it learned; create it before the loop."
    triggers = (".backward(",)

    GOOD = (
        Snippet("made once", MODEL_HEAD + MAKE.format("") + "for epoch in range(9):\n    for x in loader:\n        " + STEP.format("        ")),
        Snippet("made when it is needed", MODEL_HEAD + "net = None\nfor epoch in range(9):\n    if net is None:\n        " + MAKE.format("        ") + "    for x in loader:\n        " + STEP.format("        ")),
        Snippet("weights are loaded into it", MODEL_HEAD + "for epoch in range(9):\n    " + MAKE.format("    ") + "    net.load_state_dict(best)\n    for x in loader:\n        " + STEP.format("        ")),
        Snippet("sizes are compared", MODEL_HEAD + "for size in (8, 16):\n    " + MAKE.format("    ") + "    " + STEP.format("    ")),
    )  # fmt: skip
    BAD = (
        Snippet("in each epoch", MODEL_HEAD + "for epoch in range(9):\n    " + MAKE.format("    ") + "    for x in loader:\n        " + STEP.format("        "), line=13),
        Snippet("at each batch", MODEL_HEAD + "def train(loader):\n    for x in loader:\n        " + MAKE.format("        ") + "        " + STEP.format("        "), line=14),
        Snippet("in a helper", MODEL_HEAD + "def setup():\n    net = nn.Sequential(Net(), nn.ReLU())\n    return net, torch.optim.Adam(net.parameters())\n\n"
                "for ep in range(9):\n    net, opt = setup()\n    for x in loader:\n        " + STEP.format("        "), line=17),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for turn in turns(program):
            for model in optimised(one_optimiser(turn.step)) or ():
                model = bare(model)
                if role(model) != MODEL or not isinstance(model, Instance | Call):
                    continue
                if not any(is_computed_by(loss_of(backward), model) for backward in turn.backward):
                    continue
                made = made_each_round(program, turn, model)
                if made is not None and not self._is_loaded(program, model):
                    yield self.finding(program, _site(made))

    def _is_loaded(self, program: Program, model: Value) -> bool:
        events = program.methods_of("load_state_dict")
        return any(event.call is not None and same(event.call.receiver, model) for event in events)


def _site(made: Event) -> ast.AST:
    """Where the loop itself makes it: the call of a helper, if one does it."""
    site = made.node
    for part in made.around():
        if isinstance(part, Loop):
            break
        if isinstance(part, Body) and part.call is not None and part.call.node is not None:
            site = part.call.node
    return site


def made_each_round(program: Program, turn: Round, made: Value) -> Event | None:
    """The event that makes an object in each round of the training itself: of an epoch, or of a batch."""
    loops = [turn.loop, *(part for part in turn.loop.around() if isinstance(part, Loop))]
    for event in program.entry_of(turn.loop).block.events():
        if event.node is not made.node or event.call is None or not event.loops():
            continue
        loop = event.loops()[0]
        if loop not in loops or not always(event, loop) or is_over_several(loop):
            continue
        if is_over_epochs(loop) or (loop is turn.loop and is_over_loader(loop)):
            inner = loops[: loops.index(loop)]
            return event if not any(is_over_epochs(other) for other in inner) else None
    return None


OPTIMIZER_HEAD = """\
import torch
from torch import nn, optim

"""
STATELESS = frozenset(("SGD", "ASGD", "LBFGS"))


class OptimizerMadeInTrainingLoop(StaticRule, code="S124", cause="OPT-PARAMS"):
    """The optimiser is made anew in each epoch or at each batch while the model goes on.

    Momentum and the running averages of Adam are lost each time: at each batch Adam then makes steps of full size in the direction of
    the sign of the gradient, and any schedule starts again.

    Make the optimiser once, before the loop; to change the rate, use a scheduler or `param_groups`.
    """

    message = "The optimiser is created again in each iteration of the training loop and loses its momentum and averages; create it before the loop."
    triggers = (".backward(",)

    GOOD = (
        Snippet("made once", OPTIMIZER_HEAD + "net = nn.Linear(4, 3)\nopt = optim.Adam(net.parameters())\nfor epoch in range(9):\n    for x in loader:\n        " + STEP.format("        ")),
        Snippet("one per fold", OPTIMIZER_HEAD + "for fold in range(5):\n    net = nn.Linear(4, 3)\n    opt = optim.Adam(net.parameters())\n    for x in loader:\n        " + STEP.format("        ")),
        Snippet("nothing to lose", OPTIMIZER_HEAD + "net = nn.Linear(4, 3)\nfor epoch in range(9):\n    opt = optim.SGD(net.parameters(), lr=0.1)\n    for x in loader:\n        " + STEP.format("        ")),
        Snippet("a new rate each epoch", OPTIMIZER_HEAD + "net = nn.Linear(4, 3)\nfor epoch in range(9):\n    opt = optim.Adam(net.parameters(), lr=0.1 / (1 + epoch))\n    for x in loader:\n        "
                + STEP.format("        ")),
        Snippet("layers are set free step by step", OPTIMIZER_HEAD + "net = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 3))\nfor epoch in range(9):\n    net[0].weight.requires_grad = epoch > 5\n"
                "    opt = optim.Adam(net.parameters())\n    for x in loader:\n        " + STEP.format("        ")),
        Snippet("an input is optimised", OPTIMIZER_HEAD + "net = nn.Linear(4, 3)\nfor x in loader:\n    noise = torch.zeros(4, requires_grad=True)\n    opt = optim.Adam([noise])\n    for _ in range(9):\n"
                "        opt.zero_grad()\n        net(x + noise).mean().backward()\n        opt.step()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in each epoch", OPTIMIZER_HEAD + "net = nn.Linear(4, 3)\nfor epoch in range(9):\n    opt = optim.Adam(net.parameters(), lr=0.01)\n    for x in loader:\n        " + STEP.format("        "), line=6),
        Snippet("at each batch", OPTIMIZER_HEAD + "def train(net, loader):\n    for x in loader:\n        opt = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)\n        " + STEP.format("        "), line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for turn in turns(program):
            optimiser = one_optimiser(turn.step)
            made = resolved(optimiser)
            if not isinstance(made, Call) or not _has_state(made):
                continue
            event = made_each_round(program, turn, made)
            if event is not None and self._goes_on(program, event, made):
                yield self.finding(program, event.node)

    def _goes_on(self, program: Program, event: Event, made: Call) -> bool:
        """The same model is trained on with the same settings in the next round."""
        loop = event.loops()[0]
        owners = optimised(made)
        if not owners or any(made_in(program, owner, loop) or not _is_model(owner) for owner in owners):
            return False
        settings = (*made.args[1:], *made.keywords.values())
        if any(changes_in(value, loop) for value in settings):
            return False
        return not any(
            isinstance(other, StoreEvent) and other.target.name in ("requires_grad", "lr")
            for other in loop.events()
        ) and not any(
            other.call is not None and other.call.method == "requires_grad_" for other in loop.events()
        )


def _is_model(value: Value) -> bool:
    return role(value) == MODEL and isinstance(resolved(value), Call | Instance | Param)


def _has_state(optimiser: Call) -> bool:
    kind = optimiser.qualified.rpartition(".")[2]
    momentum = optimiser.argument("momentum", 2)
    if kind == "SGD":
        return momentum is not None and not (isinstance(momentum, Const) and not constant(momentum))
    return kind not in STATELESS


LAYER_HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\nclass Net(nn.Module):\n"
INIT = "    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(4, 8)\n\n"
_NEW_EACH_TIME = RANDOM | BATCH_NORMS


class LayerMadeInForward(StaticRule, code="S303", cause="ARC-INIT-MULTI", in_tests=False):
    """A layer with weights is made inside `forward`.

    Every call makes a new layer with new random weights. They are not registered with the module, no optimiser holds them, and what
    they learn is thrown away with them: the output is noise that cannot be trained.

    Make the layer in `__init__` (`self.fc2 = nn.Linear(…)`) and call it in `forward`.
    """

    message = "This layer gets new random weights on every call of forward; create it in __init__."
    triggers = ("def forward",)
    patterns = (
        r"^[ \t]+(?:return |\w+ = )(?:self\.)?\w*\(?nn\.(?:Linear|Conv[123]d|LSTM|GRU|RNN|Embedding|BatchNorm[123]d)\(",
        LITERAL_LAYERS,
    )

    GOOD = (
        Snippet("made in __init__", LAYER_HEAD + INIT + "    def forward(self, x):\n        return self.fc(x)\n"),
        Snippet("weights are given", LAYER_HEAD + INIT + "    def forward(self, x):\n        blur = nn.Conv2d(1, 1, 3, bias=False)\n"
                "        blur.weight.data.fill_(1 / 9)\n        return self.fc(blur(x))\n"),
        Snippet("no module", "from torch import nn\n\nclass Probe:\n    def forward(self, x):\n        return nn.Linear(4, 2)(x)\n"),
        Snippet("a normalisation without weights", LAYER_HEAD + INIT + "    def forward(self, x):\n        return nn.LayerNorm(8)(self.fc(x))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("made and called", LAYER_HEAD + INIT + "    def forward(self, x):\n        x = F.relu(self.fc(x))\n        return nn.Linear(8, 2)(x)\n", line=12),
        Snippet("width from the data", LAYER_HEAD + INIT + "    def forward(self, x):\n        head = nn.Linear(x.shape[1], 2).to(x.device)\n        return head(x)\n", line=11),
        Snippet("a block of the project, in a helper", LAYER_HEAD + INIT + "    def forward(self, x):\n        return self.mix(x)\n\n    def mix(self, x):\n"
                "        block = nn.Sequential(nn.Linear(4, 4), nn.ReLU())\n        return self.fc(block(x))\n", line=14),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        made = [(event, made) for event in program.calls if (made := _made(event)) is not None]
        if not made:
            return
        inner = {id(part) for _, value in made for part in _given(value)}
        for event, value in made:
            body = forward_around(event)
            if body is None or id(value) in inner or grad_is_off(event):
                continue
            if _is_only_called(list(body.events()), value):
                yield self.finding(program, event.node)


def _made(event: CallEvent) -> Value | None:
    call = event.call
    if not call.qualified.startswith("torch.nn.") or call.result is not None:
        return None
    return call if learns(call, _NEW_EACH_TIME) and forward_around(event) is not None else None


def _given(value: Value) -> Iterator[Value]:
    """Layers that another one was made of: the outer one is told."""
    if isinstance(value, Call):
        for part in parts_of(value):
            yield resolved(part)
            yield from (resolved(inner) for inner in parts_of(resolved(part)))


def _is_only_called(events: list[Event], layer: Value) -> bool:
    """Is the layer called, and neither kept in an object nor changed or asked for its weights?"""
    is_called = False
    for event in events:
        call = event.call
        if call is not None and resolved(call.function) is layer:
            is_called = True
        elif call is not None:
            receiver = resolved(call.receiver)
            if receiver is layer and call.result is not layer:
                return False
            if any(resolved(part) is layer for part in (*call.args, *call.keywords.values())):
                return False
            if call.receiver is not None and _reads(call.receiver, layer):
                return False
        elif isinstance(event, StoreEvent):
            base = event.target.base
            if base is not None and (resolved(event.value) is layer or _reads(base, layer)):
                return False
    return is_called


def _reads(value: Value, layer: Value) -> bool:
    """`layer.weight`, `layer.weight.data`."""
    for _ in range(5):
        base = getattr(value, "base", None)
        if not isinstance(base, Value):
            return False
        value = resolved(base)
        if value is layer:
            return True
    return False
