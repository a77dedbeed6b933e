from __future__ import annotations

import re
from collections.abc import Iterator

from netmend.check.examples import net
from netmend.check.rule import NOWHERE, Findings, Snippet, StaticRule
from netmend.program.engine.history import Body, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Instance, Name, Value, resolved
from netmend.program.meaning.freezing import frozen_layers, releases
from netmend.program.meaning.loops import turns
from netmend.program.meaning.models import parts
from netmend.program.meaning.modules import RANDOM
from netmend.program.meaning.operations import layer_name, operation, walk
from netmend.program.meaning.optimisers import steps
from netmend.program.meaning.roles import bare
from netmend.program.meaning.training import Round, loss_of

HEAD = net(
    "body = nn.Sequential(nn.Linear(8, 16), nn.ReLU())",
    "head = nn.Linear(16, 2)",
    forward="        return self.head(self.body(x))\n\nnet = Net()\n",
)
LOOP = """\
opt = torch.optim.Adam({0}, lr=0.01)
for x, y in data:
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
"""
FREEZE = "for p in net.body.parameters():\n    p.requires_grad = False\n"
_LOADS = frozenset(
    ("load_state_dict", "load", "load_weights", "from_pretrained", "restore", "copy_", "load_model", "load_pretrained", "load_checkpoint")
)  # fmt: skip
# Names under which fixed random layers are meant.
_MEANT = re.compile(r"random|reservoir|fixed|echo|esn|elm|fourier|projection|hash|teacher|target|momentum|ema|frozen|lottery|probe", re.IGNORECASE)  # fmt: skip


class RandomLayersFrozen(StaticRule, code="S416", cause="LOOP-FREEZE"):
    """Layers are frozen that were never trained and never loaded: they keep their random weights.

    Freezing keeps what pretraining has taught. Without pretrained weights there is nothing to keep: the layers behind learn from
    random features, and the result is far below what the network could do.

    Load the pretrained weights before freezing, or let these layers learn.
    """

    message = "These layers are frozen at random weights: nothing was loaded into them. Load pretrained weights first, or train them."
    triggers = ("requires_grad",)
    patterns = (NOWHERE,)  # a function alone does not tell what was loaded

    GOOD = (
        Snippet("weights were loaded", HEAD + 'net.load_state_dict(torch.load("net.pt"))\n' + FREEZE + LOOP.format("net.parameters()")),
        Snippet("trained before", HEAD + LOOP.format("net.parameters()") + FREEZE + LOOP.format("net.head.parameters()")),
        Snippet("set free later", HEAD + FREEZE + LOOP.format("net.parameters()") + FREEZE.replace("False", "True") + LOOP.format("net.parameters()")),
        Snippet("random features on purpose", (HEAD + FREEZE).replace("body", "random_features") + LOOP.format("net.parameters()")),
        Snippet("a pretrained body", "from torchvision.models import resnet18\n" + HEAD.replace("nn.Sequential(nn.Linear(8, 16), nn.ReLU())",
                "resnet18(weights='DEFAULT')") + FREEZE + LOOP.format("net.parameters()")),
        Snippet("only the head is named", HEAD + "for name, p in net.named_parameters():\n    p.requires_grad = 'body' in name or 'head' in name\n"
                + LOOP.format("net.parameters()")),
        Snippet("loaded by another function", "from tools import restore_from\n" + HEAD + "restore_from(net, 'net.pt')\n" + FREEZE
                + LOOP.format("net.head.parameters()")),
    )  # fmt: skip
    BAD = (
        Snippet("a part of it", HEAD + FREEZE + LOOP.format("net.parameters()"), line=15),
        Snippet("by name", HEAD + "def prepare(model):\n    for name, p in model.named_parameters():\n        if not name.startswith('head'):\n"
                "            p.requires_grad_(False)\n    return [p for p in model.parameters() if p.requires_grad]\n\n" + LOOP.format("prepare(net)"), line=17),
        Snippet("by a flag", HEAD + "for n, p in net.named_parameters():\n    p.requires_grad = 'head' in n\n"
                + LOOP.format("filter(lambda p: p.requires_grad, net.parameters())"), line=15),
        Snippet("several parts", HEAD + "for part in (net.body,):\n    for p in part.parameters():\n        p.requires_grad = False\n"
                + LOOP.format("[p for p in net.parameters() if p.requires_grad]"), line=16),
        Snippet("a class that trains", HEAD.replace("net = Net()\n", "") + "class Trainer:\n    def __init__(self):\n        self.net = Net()\n"
                "        self.net.body.requires_grad_(False)\n        self.opt = torch.optim.SGD(self.net.head.parameters(), lr=0.1)\n\n"
                "    def fit(self, data):\n        for x, y in data:\n            self.opt.zero_grad()\n"
                "            nn.functional.cross_entropy(self.net(x), y).backward()\n            self.opt.step()\n\nTrainer().fit(data)\n", line=16),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for frozen in frozen_layers(program):
            event = frozen.event
            entry = program.entry_of(event)
            layers = {id(layer) for layer in frozen.layers if layer_name(layer) in RANDOM}
            if not layers or not entry.complete or entry.kind != "file":
                continue
            if any(release.order > event.order for release in releases(program) if release is not event):
                continue
            if _in_own_init(event) or _was_trained(program, layers, event) or not _is_plain(program, layers):
                continue
            if any(
                turn.loop.order > event.order and _feeds_what_learns(turn, layers) for turn in turns(program)
            ):
                yield self.finding(program, event.node)


def _in_own_init(event: Event) -> bool:
    """A model that freezes a part of itself when it is made means it."""
    return any(
        isinstance(part, Body)
        and part.function.name == "__init__"
        and part.function.within is not None
        and part.function.within.inherits("torch.nn.Module")
        for part in event.around()
    )


def _was_trained(program: Program, layers: set[int], event: Event) -> bool:
    """Did an optimiser that may hold the layers step before?"""
    return any(step.order < event.order for step, _ in steps(program))


def _is_plain(program: Program, layers: set[int]) -> bool:
    """Were the models around the layers made here, with nothing loaded, copied or handed to code that is not seen?"""
    around: set[int] = set()
    for value in (made for each in program.machine.made.values() for made in each):
        inner = {id(part) for part in parts(value)}
        if inner & layers:
            around |= inner
            if _MEANT.search(value.cls.name) or any(_MEANT.search(name) for name in value.attributes):
                return False
    around |= layers
    for event in program.calls:
        call = event.call
        if call.result is not None:
            continue
        if call.method in _LOADS or call.qualified.rpartition(".")[2] in _LOADS:
            return False
        if call.qualified.startswith(("torch.", "print", "copy.")) or call.qualified in _HARMLESS:
            continue
        is_unseen = call.receiver is not None and not isinstance(bare(call.receiver), Call | Instance)
        is_given = any(id(bare(value)) in around for value in _given(call))
        if is_given and (is_unseen or isinstance(call.function, Name)):
            return False
    return True


_HARMLESS = frozenset(("len", "sum", "isinstance", "type", "id", "str", "repr", "list", "filter", "map", "getattr", "super"))  # fmt: skip


def _given(call: Call) -> Iterator[Value]:
    yield from call.args
    yield from call.keywords.values()


def _feeds_what_learns(turn: Round, layers: set[int]) -> bool:
    """Does the loss come from layers that learn, which get what the frozen ones give?"""
    for event in turn.backward:
        for value in walk(loss_of(event)):
            op = operation(resolved(value))
            if op is None or op.layer is None or id(op.layer) in layers or op.name not in RANDOM:
                continue
            for part in walk(op.input):
                inner = operation(resolved(part))
                if inner is not None and inner.layer is not None and id(inner.layer) in layers:
                    return True
    return False
