from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Class, resolved
from netmend.program.meaning.literal_layers import LITERAL_LAYERS
from netmend.program.meaning.modules import learns, loads_of, module_classes
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch import nn\n\n"


@register
class LayerSharedByClass(StaticRule):
    """A layer is made once for the class, in its body or as a default argument, not for each object.

    A layer in the class body is not registered: `parameters()` is empty, nothing is trained, moved or saved. As a default argument it is
    registered, but every model made without that argument shares the same weights.

    Make it in `__init__`: `self.fc = nn.Linear(…)`; for a default use None and make the layer inside.
    """

    code = "S333"
    cause = "ARC-INIT-MODEL"
    message = "A layer in the class body is shared by all instances and not registered, so it is never trained; create it in __init__."
    triggers = ("Module)", "LightningModule")
    patterns = (LITERAL_LAYERS,)

    GOOD = (
        Snippet("made in __init__", HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 1)\n\n    def forward(self, x):\n        return self.fc(x)\n"),
        Snippet("nothing to learn", HEAD + "class Net(nn.Module):\n    act = nn.ReLU()\n\n    def forward(self, x):\n        return self.act(x)\n"),
        Snippet("a class as option", HEAD + "class Net(nn.Module):\n    layer = nn.Linear\n\n    def forward(self, x):\n        return self.layer(2, 1)(x)\n"),
        Snippet("no module", HEAD + "class Settings:\n    head = nn.Linear(2, 1)\n"),
        Snippet("stateless default", HEAD + "class Net(nn.Module):\n    def __init__(self, act=nn.ReLU()):\n        super().__init__()\n        self.act = act\n"),
        Snippet("stored again", HEAD + "class Net(nn.Module):\n    fc = nn.Linear(2, 1)\n\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 1)\n\n    def forward(self, x):\n        return self.fc(x)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in the class body", HEAD + "class Net(nn.Module):\n    fc = nn.Linear(2, 1)\n\n    def forward(self, x):\n        return self.fc(x)\n", line=5),
        Snippet("a whole stack", HEAD + "class Net(nn.Module):\n    body = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))\n\n    def __init__(self):\n        super().__init__()\n\n"
                "    def forward(self, x):\n        return self.body(x)\n", line=5),
        Snippet("as a default", HEAD + "class Net(nn.Module):\n    def __init__(self, head=nn.Linear(8, 2)):\n        super().__init__()\n        self.head = head\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for cls in module_classes(program):
            stored = {name for instance in program.instances_of(cls) for name in instance.stores}
            for name, value in cls.attributes.items():
                made = resolved(value)
                if name in stored or not isinstance(made, Call) or made.node is None:
                    continue
                if learns(made) and loads_of(cls, name):
                    yield self.finding(program, made.node)
            yield from self._defaults(program, cls)

    def _defaults(self, program: Program, cls: Class) -> Iterator[Finding]:
        method = cls.methods.get("__init__")
        if method is None:
            return
        arguments = method.definition.args
        written = {
            id(node) for node in (*arguments.defaults, *arguments.kw_defaults) if isinstance(node, ast.Call)
        }
        if not written:
            return
        for instance in program.instances_of(cls):
            for value in instance.attributes.values():
                given = getattr(value, "default", None) or resolved(value)
                if (
                    isinstance(given, Call)
                    and id(given.node) in written
                    and learns(given)
                    and given.node is not None
                ):
                    yield self.finding(
                        program, given.node,
                        "This layer is created once and shared by every instance that uses the default; use None and create it inside.",
                    )  # fmt: skip
