from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import STORE
from netmend.program.engine.program import Program
from netmend.program.engine.values import Name, resolved
from netmend.program.meaning.freezing import Freeze, freezes, is_released
from netmend.program.meaning.models import is_construction, is_module, is_part
from netmend.program.meaning.optimisers import is_stepped, made_optimisers
from netmend.program.meaning.uses import calls_given
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch import nn\nfrom torchvision import models\n\nmodel = models.resnet18(weights='DEFAULT')\n"
FREEZE = "for p in model.parameters():\n    p.requires_grad = False\n"
REST = (
    "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nfor x, y in data:\n    optimizer.zero_grad()\n"
    "    nn.functional.cross_entropy(model(x), y).backward()\n    optimizer.step()\n"
)

OWN = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)
    def forward(self, x):
        return self.a(x)
    def freeze(self):
        for p in self.parameters():
            p.requires_grad = False

net = Net()
net.freeze()
"""


@register
class TrainedModelFrozen(StaticRule):
    """Every parameter of a model is frozen, and then an optimiser trains just this model.

    No parameter gets a gradient: `backward()` fails, or, if other things require gradients, the optimiser's steps change nothing.

    Freeze only what shall stay, and leave or set free what shall learn.
    """

    code = "S413"
    cause = "LOOP-FREEZE"
    message = "All parameters of this model are frozen here, but an optimiser is meant to train them; unfreeze the part to train."
    triggers = ("requires_grad = False", "requires_grad=False", "requires_grad_(False")

    GOOD = (
        Snippet("a new head afterwards", HEAD + FREEZE + "model.fc = nn.Linear(512, 3)\n" + REST),
        Snippet("the last block set free", HEAD + FREEZE + "model.layer4.requires_grad_(True)\n" + REST),
        Snippet(
            "adapters are put in",
            "from peft import get_peft_model\n" + HEAD + FREEZE + "get_peft_model(model, config)\n" + REST,
        ),
        Snippet(
            "the teacher is frozen",
            HEAD + "teacher = models.resnet50(weights='DEFAULT')\nteacher.requires_grad_(False)\n" + REST,
        ),
        Snippet("frozen after training", HEAD + REST + FREEZE),
    )
    BAD = (
        Snippet("loop over parameters", HEAD + FREEZE + REST, line=7),
        Snippet("by a method of its own", OWN + REST.replace("model", "net"), line=12),
        Snippet("whole model, list given", HEAD + "model.eval().requires_grad_(False)\n"
                + REST.replace("model.parameters()", "list(model.parameters())"), line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for freeze in freezes(program):
            if not is_module(freeze.model) or is_released(program, freeze) or _is_changed(program, freeze):
                continue
            for made in made_optimisers(program):
                models = made.models
                if (
                    made.event.order > freeze.event.order
                    and models
                    and all(model is freeze.model for model in models)
                    and is_stepped(program, made.call, after=made.event.order)
                ):
                    yield self.finding(program, freeze.event.node)
                    break


def _is_changed(program: Program, freeze: Freeze) -> bool:
    """Is a layer put in, before or after, or the model handed to code that is not seen?"""
    for event in program.events:
        if event.kind == STORE and event.target is not None and event.target.base is not None:
            stored = resolved(event.value)
            if not is_construction(event) and is_module(stored) and is_part(event.target.base, freeze.model):
                return True
    for event in calls_given(program, freeze.model):
        call = event.call
        if call is None or event.order < freeze.event.order or call.result is not None:
            continue
        if not isinstance(call.function, Name) or not call.function.qualified.startswith(("torch.", "print")):
            return True
    return False
