"""Layers that are frozen by mistake, or that are not."""

from __future__ import annotations

import ast

from netmend.check.examples import NET_CLASS, TORCH
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Const, Instance, Name, Value, resolved
from netmend.program.meaning.freezing import Freeze, freezes, is_released, owner_of_parameter
from netmend.program.meaning.models import is_construction, is_module, is_part, new_parameters
from netmend.program.meaning.optimisers import is_stepped, made_optimisers
from netmend.program.meaning.roles import bare
from netmend.program.meaning.uses import calls_given
from netmend.program.text.edits import replace
from netmend.program.text.queries import inside
from netmend.vocabulary.finding import Finding, Fix

HEAD = "import torch\nfrom torch import nn\nfrom torchvision import models\n\nmodel = models.resnet18(weights='DEFAULT')\n"
FREEZE = "for p in model.parameters():\n    p.requires_grad = False\n"
NEW = "model.fc = nn.Linear(512, 3)\n"
OPTIMISER = "optimizer = torch.optim.Adam(model.fc.parameters(), lr=1e-3)\n"


class NewHeadFrozen(StaticRule, code="S409", cause="LOOP-FREEZE", preview=True):
    """A new head is put on the model, and after that every parameter of the model is frozen, the head's too.

    Nothing is left to learn: `backward()` fails with "does not require grad", or, if something else is trained as well, the head
    keeps its random initial values.

    Freeze first, then replace the head; or set the head's parameters free again.
    """

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
    )  # fmt: skip
    BAD = (
        Snippet("head first", HEAD + NEW + FREEZE + OPTIMISER, line=8),
        Snippet("whole model at once", HEAD + NEW + "model.requires_grad_(False)\noptimizer = torch.optim.Adam(model.parameters())\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for freeze in freezes(program):
            if not is_module(freeze.model) or is_released(program, freeze):
                continue
            head = _new_head(program, freeze)
            if head is None or not _is_trained(program, freeze):
                continue
            yield self.finding(
                program, freeze.event.node, see=[("The new layer is assigned here.", head.node)]
            )


def _new_head(program: Program, freeze: Freeze) -> Event | None:
    """The store of a new layer before the freeze, if none comes after it."""
    found = None
    for event in program.stores:
        if event.target.base is None:
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
                freeze.event.order < event.order < made.event.order and event.call.result is None
                for event in calls_given(program, freeze.model)
            )
    return False


class ModuleFlagWithoutEffect(StaticRule, code="S410", cause="LOOP-FREEZE"):
    """A flag is set that torch does not know: `model.requires_grad`, `model.trainable`, `param.require_grad`.

    Python accepts any attribute, so nothing complains and nothing is frozen: the layers that were meant to stay are trained on.

    Write `model.requires_grad_(False)`, or `param.requires_grad = False` for each parameter.
    """

    message = "A module has no such flag, so nothing is frozen; write requires_grad_(False)."
    triggers = (".requires_grad =", ".requires_grad=", ".trainable", ".require_grad", ".requires_grads")

    GOOD = (
        Snippet("each parameter", HEAD + "for p in model.parameters():\n    p.requires_grad = False\n"),
        Snippet("a flag of the project's own", "from torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                "        self.trainable = False\n\n    def forward(self, x):\n        return x if self.trainable else x.detach()\n\n"
                "net = Net()\nnet.trainable = True\n"),
        Snippet("a property of the class", "from torch import nn\nclass Net(nn.Module):\n    @property\n    def requires_grad(self):\n        return True\n\n"
                "    @requires_grad.setter\n    def requires_grad(self, value):\n        self.requires_grad_(value)\n\nnet = Net()\nnet.requires_grad = False\n"),
        Snippet("the tensor's own flag", "import torch\nx = torch.rand(3)\nx.requires_grad = True\n"),
    )  # fmt: skip
    BAD = (
        mended("on the model", HEAD + "model.⟨requires_grad = False → requires_grad_(False)⟩\n"),
        mended("on a block", HEAD + "model.layer⟨1.requires_grad = False → 1.requires_grad_(False)⟩\n"),
        mended("from Keras", HEAD + "model.⟨trainable = False → requires_grad_(False)⟩\n"),
        mended("misspelt", "import torch\ndef freeze(net):\n    for param in net.parameters():\n        param.⟨require_grad → requires_grad⟩ = False\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.stores:
            target = event.target
            if target.base is None:
                continue
            if not isinstance(event.node, ast.Assign):
                continue
            if target.name in ("requires_grad", "trainable") and isinstance(event.value, Const):
                if isinstance(event.value.value, bool) and _ignores(program, target.base, target.name):
                    yield self._on_module(program, event, target.name)
            elif (
                target.name in ("require_grad", "requires_grads", "require_grads")
                and owner_of_parameter(target.base) is not None
            ):
                written = event.node.targets[0]
                edits = replace(
                    program, written, program.source(written).removesuffix(target.name) + "requires_grad"
                )
                yield self.finding(
                    program,
                    event.node,
                    f"A parameter has no {target.name}, so nothing changes; write requires_grad.",
                    fix=Fix("Correct the name", edits) if edits and len(event.node.targets) == 1 else None,
                )

    def _on_module(self, program: Program, event: Event, name: str) -> Finding | None:
        node = event.node
        fix = None
        if (
            isinstance(node, ast.Assign)
            and len(node.targets) == 1
            and isinstance(node.targets[0], ast.Attribute)
        ):
            flag = isinstance(event.value, Const) and event.value.value
            edits = replace(program, node, f"{program.source(node.targets[0].value)}.requires_grad_({flag})")
            fix = Fix("Use requires_grad_()", edits)
        return self.finding(
            program,
            node,
            f"A torch module has no flag {name}, so nothing is frozen; write requires_grad_(False).",
            fix=fix,
        )


def _ignores(program: Program, base: Value, name: str) -> bool:
    """Is it a module for which the name means nothing?"""
    owner = bare(base)
    if isinstance(owner, Attribute):
        # `model.fc.weight` is a tensor; a part of a library model that is no weight is a module.
        is_tensor = any(
            word in owner.name
            for word in ("weight", "bias", "token", "embed", "param", "scale", "gamma", "beta", "temperature")
        )
        return not is_tensor and isinstance(bare(owner.base), Call) and is_module(owner.base)
    if isinstance(owner, Instance):
        return (
            is_module(owner)
            and owner.cls.is_known
            and owner.cls.method(name) is None
            and not _mentions(owner, name)
        )
    return (
        isinstance(owner, Call) and is_module(owner) and not owner.qualified.endswith(("Parameter", "Buffer"))
    )


def _mentions(owner: Instance, name: str) -> bool:
    """Does a class of the project read or set the name itself?"""
    for cls in owner.cls.ancestry():
        definition = getattr(cls, "definition", None)
        if definition is not None and any(part.attr == name for part in inside(definition, ast.Attribute)):
            return True
    return False


REST = (
    "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nfor x, y in data:\n    optimizer.zero_grad()\n"
    "    nn.functional.cross_entropy(model(x), y).backward()\n    optimizer.step()\n"
)
OWN = f"""{TORCH}{NET_CLASS}\
        self.a = nn.Linear(3, 3)
    def forward(self, x):
        return self.a(x)
    def freeze(self):
        for p in self.parameters():
            p.requires_grad = False

net = Net()
net.freeze()
"""


class TrainedModelFrozen(StaticRule, code="S413", cause="LOOP-FREEZE", preview=True):
    """Every parameter of a model is frozen, and then an optimiser trains just this model.

    No parameter gets a gradient: `backward()` fails, or, if other things require gradients, the optimiser's steps change nothing.

    Freeze only what shall stay, and leave or set free what shall learn.
    """

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

    def check(self, program: Program) -> Findings:
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
    for store in program.stores:
        base = store.target.base
        if base is None or is_construction(store) or not is_module(resolved(store.value)):
            continue
        if is_part(base, freeze.model):
            return True
    for event in calls_given(program, freeze.model):
        call = event.call
        if event.order < freeze.event.order or call.result is not None:
            continue
        if not isinstance(call.function, Name) or not call.function.qualified.startswith(("torch.", "print")):
            return True
    return False
