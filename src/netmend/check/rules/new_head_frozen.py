from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import STORE, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Value, resolved
from netmend.program.meaning.freezing import Freeze, freezes, is_released
from netmend.program.meaning.models import is_construction, is_module, is_part, new_parameters
from netmend.program.meaning.optimisers import made_optimisers
from netmend.program.meaning.uses import calls_given
from netmend.vocabulary.finding import Finding, Related

HEAD = "import torch\nfrom torch import nn\nfrom torchvision import models\n\nmodel = models.resnet18(weights='DEFAULT')\n"
FREEZE = "for p in model.parameters():\n    p.requires_grad = False\n"
NEW = "model.fc = nn.Linear(512, 3)\n"
OPTIMISER = "optimizer = torch.optim.Adam(model.fc.parameters(), lr=1e-3)\n"


@register
class NewHeadFrozen(StaticRule):
    """A new head is put on the model, and after that every parameter of the model is frozen, the head's too.

    Nothing is left to learn: `backward()` fails with "does not require grad", or, if something else is trained as well, the head
    keeps its random initial values.

    Freeze first, then replace the head; or set the head's parameters free again.
    """

    code = "S409"
    cause = "LOOP-FREEZE"
    message = (
        "This also freezes the new head, which is already in place; freeze first, then replace the head."
    )
    triggers = ("requires_grad = False", "requires_grad=False", "requires_grad_(False")

    GOOD = (
        Snippet("frozen first", HEAD + FREEZE + NEW + OPTIMISER),
        Snippet("the head is set free", HEAD + NEW + FREEZE + "for p in model.fc.parameters():\n    p.requires_grad = True\n" + OPTIMISER),
        Snippet("only the body", HEAD + NEW + "for name, p in model.named_parameters():\n    if 'fc' not in name:\n        p.requires_grad = False\n"
                + OPTIMISER),
        Snippet("frozen for evaluation, not trained", HEAD + NEW + FREEZE),
        Snippet("by flag", HEAD + NEW + "for n, p in model.named_parameters():\n    p.requires_grad = n.startswith('fc')\n" + OPTIMISER),
    )  # fmt: skip
    BAD = (
        Snippet("head first", HEAD + NEW + FREEZE + OPTIMISER, line=8),
        Snippet("whole model at once", HEAD + NEW + "model.requires_grad_(False)\noptimizer = torch.optim.Adam(model.parameters())\n", line=7),
        Snippet("in a function", "import torch\nfrom torch import nn\nimport torchvision\n\ndef build(classes):\n"
                "    net = torchvision.models.vgg16(weights='DEFAULT')\n    net.classifier[6] = nn.Linear(4096, classes)\n"
                "    for _, param in net.named_parameters():\n        param.requires_grad = False\n"
                "    return net, torch.optim.SGD(net.parameters(), lr=0.01)\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for freeze in freezes(program):
            if not is_module(freeze.model) or is_released(program, freeze):
                continue
            head = _new_head(program, freeze)
            if head is None or not _is_trained(program, freeze):
                continue
            place = program.place(head.node)
            put = Related("The new layer is assigned here.", place.file, place.line, place.column)
            yield self.finding(program, freeze.event.node, related=(put,))


def _new_head(program: Program, freeze: Freeze) -> Event | None:
    """The store of a new layer before the freeze, if none comes after it."""
    found = None
    for event in program.events:
        if event.kind != STORE or event.target is None or event.target.base is None:
            continue
        layer: Value = resolved(event.value)
        if (
            is_module(layer)
            and any(True for _ in new_parameters(layer))
            and is_part(event.target.base, freeze.model)
        ):
            if is_construction(event):
                continue
            if event.order > freeze.event.order:
                return None
            found = event
    return found


def _is_trained(program: Program, freeze: Freeze) -> bool:
    """An optimiser gets the model's parameters afterwards, and nothing unseen touched the model in between."""
    for made in made_optimisers(program):
        if made.event.order < freeze.event.order or not made.models:
            continue
        if all(is_part(model, freeze.model) for model in made.models):
            return not any(
                freeze.event.order < event.order < made.event.order
                and event.call is not None
                and event.call.result is None
                for event in calls_given(program, freeze.model)
            )
    return False
