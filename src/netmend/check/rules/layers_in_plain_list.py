from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.unregistered import hidden_layers
from netmend.program.text.edits import wrap
from netmend.vocabulary.finding import Finding, Fix

HEAD = "import torch\nimport torch.nn as nn\n\nclass Net(nn.Module):\n    def __init__(self, depth=3):\n        super().__init__()\n"
USE = "\n    def forward(self, x):\n        for layer in self.layers:\n            x = torch.relu(layer(x))\n        return x\n"


@register
class LayersInPlainList(StaticRule):
    """Layers of a module are kept in a Python list or tuple.

    `nn.Module` registers layers that are attributes, not those inside a list: `parameters()` leaves them out, so the optimiser never
    trains them, `.to(device)` does not move them, and `state_dict()` does not save them.

    Put the list into `nn.ModuleList(...)`.
    """

    code = "S301"
    cause = "ARC-INIT-MODEL"
    message = (
        "Layers in a plain list are not registered with the module and never trained; use nn.ModuleList."
    )
    triggers = ("Module)", "nn.Linear(", "LightningModule", "nn.Conv")
    patterns = (
        r"= [\[(]\s*[^\n]*\b(?:nn\.|[A-Z]\w+\()",
        r"= list\(",
        r"\.append\(\s*(?:[\w.]*nn\.|[A-Z]\w+\()",
    )

    GOOD = (
        Snippet("registered", HEAD + "        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(depth)])\n" + USE),
        Snippet("list, then registered", HEAD + "        self.layers = [nn.Linear(8, 8), nn.Linear(8, 8)]\n"
                "        self.net = nn.Sequential(*self.layers)\n" + USE),
        Snippet("also attributes", HEAD + "        self.a = nn.Linear(8, 8)\n        self.b = nn.Linear(8, 8)\n"
                "        self.layers = [self.a, self.b]\n" + USE),
        Snippet("added by name", HEAD + "        self.layers = []\n        for i in range(depth):\n            layer = nn.Linear(8, 8)\n"
                "            self.add_module(f'layer{i}', layer)\n            self.layers.append(layer)\n" + USE),
        Snippet("nothing to train", HEAD + "        self.layers = [nn.ReLU(), nn.Tanh()]\n" + USE),
        Snippet("local list", HEAD + "        layers = []\n        for i in range(depth):\n            layers.append(nn.Linear(8, 8))\n"
                "        self.layers = nn.Sequential(*layers)\n" + USE),
        Snippet("hidden on purpose", HEAD + "        self.layers = [nn.Linear(8, 8)]\n" + USE),
        Snippet("given to the optimiser by hand", HEAD + "        self.layers = [nn.Linear(8, 8), nn.Linear(8, 8)]\n        self.all = [p for layer in self.layers for p in layer.parameters()]\n" + USE),
        Snippet("no module", "from torch import nn\n\nclass Ensemble:\n    def __init__(self):\n        self.nets = [nn.Linear(2, 1), nn.Linear(2, 1)]\n\n"
                "    def vote(self, x):\n        return [net(x) for net in self.nets]\n"),
    )  # fmt: skip
    BAD = (
        Snippet("comprehension", HEAD + "        self.layers = [nn.Linear(8, 8) for _ in range(depth)]\n" + USE, line=7,
                fixed=HEAD + "        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(depth)])\n" + USE),
        Snippet("appended", HEAD + "        self.layers = []\n        for i in range(depth):\n            self.layers.append(nn.Linear(8, 8))\n" + USE, line=7),
        Snippet("trained by the class itself", "import torch\nimport pytorch_lightning as pl\nfrom torch import nn\n\nclass Net(pl.LightningModule):\n    def __init__(self):\n        super().__init__()\n"
                "        self.head = nn.Linear(8, 1)\n        self.layers = [nn.Linear(8, 8), nn.Linear(8, 8)]\n\n    def forward(self, x):\n        for layer in self.layers:\n            x = layer(x).relu()\n        return self.head(x)\n\n"
                "    def configure_optimizers(self):\n        return torch.optim.Adam(self.parameters())\n", line=9),
        Snippet("tuple of blocks", "from torch import nn as layers\n\nclass Block(layers.Module):\n    def __init__(self):\n        super().__init__()\n"
                "        self.fc = layers.Linear(4, 4)\n\n    def forward(self, x):\n        return self.fc(x)\n\n\nclass Net(layers.Module):\n"
                "    def __init__(self):\n        super().__init__()\n        self.blocks = (Block(), Block())\n\n"
                "    def forward(self, x):\n        return self.blocks[1](self.blocks[0](x))\n", line=15),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for hidden in hidden_layers(program, ("list", "tuple")):
            yield self.finding(program, hidden.node, fix=registered(program, hidden.node, "ModuleList"))


def registered(program: Program, node: ast.AST, container: str) -> Fix | None:
    """Put the stored value into a container, under the name that the file has for torch.nn; only where it is written out."""
    if not isinstance(node, ast.Assign) or not isinstance(
        node.value, ast.List | ast.Tuple | ast.ListComp | ast.Dict | ast.DictComp
    ):
        return None
    alias = next((program.source(part) for part, name in program.references if name == "torch.nn.Module"), "")
    prefix = alias.removesuffix("Module")
    if not prefix.endswith(".") or (isinstance(node.value, ast.List | ast.Tuple) and not node.value.elts):
        return None
    edits = wrap(program, node.value, f"{prefix}{container}(", ")")
    return Fix(f"Put the layers into {prefix}{container}", edits, "safe") if edits else None
