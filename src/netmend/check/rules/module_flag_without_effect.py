from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import STORE, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Const, Instance, Value
from netmend.program.meaning.freezing import owner_of_parameter
from netmend.program.meaning.models import bare, is_module
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Finding, Fix

HEAD = "import torch\nfrom torch import nn\nfrom torchvision import models\n\nmodel = models.resnet18(weights='DEFAULT')\n"


@register
class ModuleFlagWithoutEffect(StaticRule):
    """A flag is set that torch does not know: `model.requires_grad`, `model.trainable`, `param.require_grad`.

    Python accepts any attribute, so nothing complains and nothing is frozen: the layers that were meant to stay are trained on.

    Write `model.requires_grad_(False)`, or `param.requires_grad = False` for each parameter.
    """

    code = "S410"
    cause = "LOOP-FREEZE"
    message = "A module has no such flag, so nothing is frozen; write requires_grad_(False)."
    triggers = (".requires_grad =", ".requires_grad=", ".trainable", ".require_grad", ".requires_grads")

    GOOD = (
        Snippet("each parameter", HEAD + "for p in model.parameters():\n    p.requires_grad = False\n"),
        Snippet("the method", HEAD + "model.requires_grad_(False)\n"),
        Snippet("a parameter of a layer", HEAD + "model.fc.weight.requires_grad = False\nmodel.fc.bias.requires_grad = False\n"),
        Snippet("a flag of the project's own", "from torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                "        self.trainable = False\n\n    def forward(self, x):\n        return x if self.trainable else x.detach()\n\n"
                "net = Net()\nnet.trainable = True\n"),
        Snippet("a property of the class", "from torch import nn\nclass Net(nn.Module):\n    @property\n    def requires_grad(self):\n        return True\n\n"
                "    @requires_grad.setter\n    def requires_grad(self, value):\n        self.requires_grad_(value)\n\nnet = Net()\nnet.requires_grad = False\n"),
        Snippet("the tensor's own flag", "import torch\nx = torch.rand(3)\nx.requires_grad = True\n"),
    )  # fmt: skip
    BAD = (
        Snippet("on the model", HEAD + "model.requires_grad = False\n", line=6, fixed=HEAD + "model.requires_grad_(False)\n"),
        Snippet("on a block", HEAD + "model.layer1.requires_grad = False\n", line=6, fixed=HEAD + "model.layer1.requires_grad_(False)\n"),
        Snippet("from Keras", HEAD + "model.trainable = False\n", line=6, fixed=HEAD + "model.requires_grad_(False)\n"),
        Snippet("misspelt", "import torch\ndef freeze(net):\n    for param in net.parameters():\n        param.require_grad = False\n", line=4,
                fixed="import torch\ndef freeze(net):\n    for param in net.parameters():\n        param.requires_grad = False\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for event in program.events:
            target = event.target
            if (
                event.kind != STORE
                or target is None
                or target.base is None
                or not isinstance(event.node, ast.Assign)
            ):
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

    def _on_module(self, program: Program, event: Event, name: str) -> Finding:
        node = event.node
        fix = None
        if (
            isinstance(node, ast.Assign)
            and len(node.targets) == 1
            and isinstance(node.targets[0], ast.Attribute)
        ):
            flag = isinstance(event.value, Const) and event.value.value
            edits = replace(program, node, f"{program.source(node.targets[0].value)}.requires_grad_({flag})")
            fix = Fix("Use requires_grad_()", edits) if edits else None
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
        if definition is not None and any(getattr(part, "attr", "") == name for part in ast.walk(definition)):
            return True
    return False
