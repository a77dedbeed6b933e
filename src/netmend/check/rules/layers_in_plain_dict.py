from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.check.rules.layers_in_plain_list import registered
from netmend.program.engine.program import Program
from netmend.program.engine.values import Const
from netmend.program.meaning.unregistered import Hidden, hidden_layers
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nimport torch.nn as nn\n\nclass Net(nn.Module):\n    def __init__(self, names=('a', 'b')):\n        super().__init__()\n"
USE = "\n    def forward(self, x, name):\n        return self.heads[name](x)\n"


@register
class LayersInPlainDict(StaticRule):
    """Layers of a module are kept in a Python dict.

    `nn.Module` registers layers that are attributes, not those inside a dict: `parameters()` leaves them out, so the optimiser never
    trains them, `.to(device)` does not move them, and `state_dict()` does not save them.

    Use `nn.ModuleDict({...})`; its keys are strings without dots.
    """

    code = "S302"
    cause = "ARC-INIT-MODEL"
    message = (
        "Layers in a plain dict are not registered with the module and never trained; use nn.ModuleDict."
    )
    triggers = ("Module)", "nn.Linear(", "LightningModule", "nn.Conv")
    patterns = (
        r"= (?:\{|dict\()\s*[^\n]*\b(?:nn\.|[A-Z]\w+\()",
        r"\] = (?:[\w.]*nn\.|[A-Z]\w+\()",
    )

    GOOD = (
        Snippet("registered", HEAD + "        self.heads = nn.ModuleDict({'a': nn.Linear(4, 1), 'b': nn.Linear(4, 2)})\n" + USE),
        Snippet("also attributes", HEAD + "        self.a = nn.Linear(4, 1)\n        self.b = nn.Linear(4, 1)\n"
                "        self.heads = {'a': self.a, 'b': self.b}\n" + USE),
        Snippet("classes, not layers", HEAD + "        self.heads = {'a': nn.Linear, 'b': nn.Identity}\n        self.fc = nn.Linear(4, 1)\n" + USE),
        Snippet("losses", HEAD + "        self.heads = {'a': nn.MSELoss(), 'b': nn.L1Loss()}\n" + USE),
        Snippet("dict, then registered", HEAD + "        self.heads = {'a': nn.Linear(4, 1)}\n        self.all = nn.ModuleDict(self.heads)\n" + USE),
    )  # fmt: skip
    BAD = (
        Snippet("written out", HEAD + "        self.heads = {'a': nn.Linear(4, 1), 'b': nn.Linear(4, 2)}\n" + USE, line=7,
                fixed=HEAD + "        self.heads = nn.ModuleDict({'a': nn.Linear(4, 1), 'b': nn.Linear(4, 2)})\n" + USE),
        Snippet("comprehension", HEAD + "        self.heads = {name: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)) for name in names}\n" + USE,
                line=7),
        Snippet("filled in a loop", HEAD + "        self.heads = {}\n        for name in names:\n            self.heads[name] = nn.Linear(4, 1)\n" + USE, line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for hidden in hidden_layers(program, ("dict",)):
            fix = registered(program, hidden.node, "ModuleDict") if _has_words(hidden) else None
            yield self.finding(program, hidden.node, fix=fix)


def _has_words(hidden: Hidden) -> bool:
    return all(
        isinstance(key, Const) and isinstance(key.value, str) and key.value and "." not in key.value
        for key in hidden.collection.keys or ()
    )
