"""Layers and tensors that the module does not know of."""

from __future__ import annotations

import ast

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import STORE, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Class, Const, Value, constant, resolved
from netmend.program.meaning.modules import Hidden, bodies, hidden_layers, learns, loads_of, module_classes
from netmend.program.meaning.sizes import LITERAL_LAYERS
from netmend.program.meaning.statements import without_argument
from netmend.program.text.edits import wrap
from netmend.program.text.queries import inside
from netmend.vocabulary.finding import Fix

LIST_HEAD = "import torch\nimport torch.nn as nn\n\nclass Net(nn.Module):\n    def __init__(self, depth=3):\n        super().__init__()\n"
LIST_USE = "\n    def forward(self, x):\n        for layer in self.layers:\n            x = torch.relu(layer(x))\n        return x\n"


class LayersInPlainList(StaticRule, code="S301", cause="ARC-INIT-MODEL"):
    """Layers of a module are kept in a Python list or tuple.

    `nn.Module` registers layers that are attributes, not those inside a list: `parameters()` leaves them out, so the optimiser never
    trains them, `.to(device)` does not move them, and `state_dict()` does not save them.

    Put the list into `nn.ModuleList(...)`.
    """

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
        Snippet("registered", LIST_HEAD + "        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(depth)])\n" + LIST_USE),
        Snippet("list, then registered", LIST_HEAD + "        self.layers = [nn.Linear(8, 8), nn.Linear(8, 8)]\n"
                "        self.net = nn.Sequential(*self.layers)\n" + LIST_USE),
        Snippet("hidden on purpose", LIST_HEAD + "        self.layers = [nn.Linear(8, 8)]\n" + LIST_USE),
        Snippet("given to the optimiser by hand", LIST_HEAD + "        self.layers = [nn.Linear(8, 8), nn.Linear(8, 8)]\n        self.all = [p for layer in self.layers for p in layer.parameters()]\n" + LIST_USE),
        Snippet("no module", "from torch import nn\n\nclass Ensemble:\n    def __init__(self):\n        self.nets = [nn.Linear(2, 1), nn.Linear(2, 1)]\n\n"
                "    def vote(self, x):\n        return [net(x) for net in self.nets]\n"),
    )  # fmt: skip
    BAD = (
        mended("comprehension", LIST_HEAD + "        self.layers = ⟨[nn.Linear(8, 8) for _ in range(depth)] → nn.ModuleList([nn.Linear(8, 8) for _ in range(depth)])⟩\n" + LIST_USE),
        Snippet("appended", LIST_HEAD + "        self.layers = []\n        for i in range(depth):\n            self.layers.append(nn.Linear(8, 8))\n" + LIST_USE, line=7),
        Snippet("trained by the class itself", "import torch\nimport pytorch_lightning as pl\nfrom torch import nn\n\nclass Net(pl.LightningModule):\n    def __init__(self):\n        super().__init__()\n"
                "        self.head = nn.Linear(8, 1)\n        self.layers = [nn.Linear(8, 8), nn.Linear(8, 8)]\n\n    def forward(self, x):\n        for layer in self.layers:\n            x = layer(x).relu()\n        return self.head(x)\n\n"
                "    def configure_optimizers(self):\n        return torch.optim.Adam(self.parameters())\n", line=9),
        Snippet("tuple of blocks", "from torch import nn as layers\n\nclass Block(layers.Module):\n    def __init__(self):\n        super().__init__()\n"
                "        self.fc = layers.Linear(4, 4)\n\n    def forward(self, x):\n        return self.fc(x)\n\n\nclass Net(layers.Module):\n"
                "    def __init__(self):\n        super().__init__()\n        self.blocks = (Block(), Block())\n\n"
                "    def forward(self, x):\n        return self.blocks[1](self.blocks[0](x))\n", line=15),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
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
    return Fix(f"Put the layers into {prefix}{container}", edits, "safe")


DICT_HEAD = "import torch\nimport torch.nn as nn\n\nclass Net(nn.Module):\n    def __init__(self, names=('a', 'b')):\n        super().__init__()\n"
DICT_USE = "\n    def forward(self, x, name):\n        return self.heads[name](x)\n"


class LayersInPlainDict(StaticRule, code="S302", cause="ARC-INIT-MODEL"):
    """Layers of a module are kept in a Python dict.

    `nn.Module` registers layers that are attributes, not those inside a dict: `parameters()` leaves them out, so the optimiser never
    trains them, `.to(device)` does not move them, and `state_dict()` does not save them.

    Use `nn.ModuleDict({...})`; its keys are strings without dots.
    """

    message = (
        "Layers in a plain dict are not registered with the module and never trained; use nn.ModuleDict."
    )
    triggers = ("Module)", "nn.Linear(", "LightningModule", "nn.Conv")
    patterns = (r"= (?:\{|dict\()\s*[^\n]*\b(?:nn\.|[A-Z]\w+\()", r"\] = (?:[\w.]*nn\.|[A-Z]\w+\()")

    GOOD = (
        Snippet("registered", DICT_HEAD + "        self.heads = nn.ModuleDict({'a': nn.Linear(4, 1), 'b': nn.Linear(4, 2)})\n" + DICT_USE),
        Snippet("losses", DICT_HEAD + "        self.heads = {'a': nn.MSELoss(), 'b': nn.L1Loss()}\n" + DICT_USE),
    )  # fmt: skip
    BAD = (
        mended("written out", DICT_HEAD + "        self.heads = ⟨{'a': nn.Linear(4, 1), 'b': nn.Linear(4, 2)} → nn.ModuleDict({'a': nn.Linear(4, 1), 'b': nn.Linear(4, 2)})⟩\n" + DICT_USE),
        Snippet("comprehension", DICT_HEAD + "        self.heads = {name: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)) for name in names}\n" + DICT_USE,
                line=7),
        Snippet("filled in a loop", DICT_HEAD + "        self.heads = {}\n        for name in names:\n            self.heads[name] = nn.Linear(4, 1)\n" + DICT_USE, line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for hidden in hidden_layers(program, ("dict",)):
            fix = registered(program, hidden.node, "ModuleDict") if _has_words(hidden) else None
            yield self.finding(program, hidden.node, fix=fix)


def _has_words(hidden: Hidden) -> bool:
    return all(
        isinstance(key, Const) and isinstance(key.value, str) and key.value and "." not in key.value
        for key in hidden.collection.keys or ()
    )


TENSOR_HEAD = "import torch\nfrom torch import nn\n\nclass Scale(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
TENSOR_USE = "\n    def forward(self, x):\n        return x * self.weight\n"


class TensorNotRegistered(StaticRule, code="S313", cause="ARC-INIT-MODEL"):
    """A tensor with `requires_grad=True` is stored in a module without being an `nn.Parameter`.

    It gets gradients, but `parameters()` does not list it: the optimiser never changes it, `.to(device)` leaves it behind, and
    `state_dict()` does not save it.

    Store `nn.Parameter(torch.randn(...))`.
    """

    message = "This tensor requires gradients but is not an nn.Parameter, so the optimiser never sees it; wrap it in nn.Parameter."
    triggers = ("requires_grad",)

    GOOD = (
        Snippet("parameter", TENSOR_HEAD + "        self.weight = nn.Parameter(torch.randn(3))\n" + TENSOR_USE),
        Snippet("no gradients wanted", TENSOR_HEAD + "        self.weight = torch.randn(3, requires_grad=False)\n" + TENSOR_USE),
        Snippet("given to the optimiser by hand", TENSOR_HEAD + "        self.weight = torch.randn(3, requires_grad=True)\n" + TENSOR_USE
                + "\nmodel = Scale()\noptimizer = torch.optim.SGD([model.weight], lr=0.1)\n"),
    )  # fmt: skip
    BAD = (
        mended("made with gradients", TENSOR_HEAD + "        self.weight = torch.⟨randn(3, requires_grad=True) → nn.Parameter(torch.randn(3))⟩\n" + TENSOR_USE),
        Snippet("replaced later", TENSOR_HEAD + "        self.weight = torch.randn(3, requires_grad=True)\n\n    def rescale(self):\n        self.weight = self.weight / 2\n" + TENSOR_USE, line=7),
        Snippet("asked for later", TENSOR_HEAD + "        self.weight = torch.zeros(3).requires_grad_()\n" + TENSOR_USE, line=7),
        Snippet("old variable", TENSOR_HEAD + "        from torch.autograd import Variable\n        self.weight = Variable(torch.ones(3), requires_grad=True)\n" + TENSOR_USE, line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for cls in module_classes(program):
            for body in bodies(program, cls, "__init__")[:1]:
                for event in body.events():
                    target = event.target
                    if event.kind != STORE or target is None or target.base is None:
                        continue
                    if resolved(target.base) is not body.function.owner or not _wants_gradients(event.value):
                        continue
                    if loads_of(cls, target.name, outside="__init__") and not _is_used_by_hand(
                        program, target.name
                    ):
                        fix = None if _is_set_again(cls, target.name) else _fix(program, event)
                        yield self.finding(program, event.node, fix=fix)


def _is_set_again(cls: Class, name: str) -> bool:
    """A parameter cannot be replaced by a tensor later."""
    nodes = [node for method in cls.methods.values() for node in inside(method.definition, ast.Attribute)]
    return sum(node.attr == name and isinstance(node.ctx, ast.Store) for node in nodes) > 1


def _wants_gradients(value: Value) -> bool:
    if not isinstance(value, Call):
        return False
    if value.method == "requires_grad_":
        made = resolved(value.receiver)
        asked = value.argument("requires_grad", 0)
        return isinstance(made, Call) and _makes_tensor(made) and (asked is None or constant(asked) is True)
    return _makes_tensor(value) and constant(value.keywords.get("requires_grad")) is True


def _makes_tensor(call: Call) -> bool:
    name = call.qualified
    return name == "torch.autograd.Variable" or (
        name.startswith("torch.") and name.count(".") == 1 and name.rpartition(".")[2][:1].islower()
    )


def _is_used_by_hand(program: Program, name: str) -> bool:
    """Is it given to an optimiser, or to anything that may be one, or listed, or made a parameter later?"""
    for node in program.nodes:
        if isinstance(node, ast.List | ast.Tuple | ast.Dict | ast.Call | ast.keyword):
            for child in ast.iter_child_nodes(node):
                if (
                    isinstance(child, ast.Attribute)
                    and child.attr == name
                    and isinstance(child.ctx, ast.Load)
                ):
                    if isinstance(node, ast.Call) and child is node.func:
                        continue
                    if isinstance(node, ast.Call) and _is_tensor_function(node):
                        continue
                    return True
        if isinstance(node, ast.FunctionDef) and node.name in ("parameters", "named_parameters"):
            return True
    return False


def _is_tensor_function(node: ast.Call) -> bool:
    """`torch.matmul(x, self.weight)`, `F.linear(x, self.weight)`."""
    base = node.func.value if isinstance(node.func, ast.Attribute) else None
    return isinstance(base, ast.Name) and base.id in ("torch", "F")


def _fix(program: Program, event: Event) -> Fix | None:
    call = event.value.node if isinstance(event.value, Call) else None
    if call is None or not isinstance(event.value, Call) or not event.value.qualified.startswith("torch."):
        return None
    if not program.source(call).startswith("torch.") or len(call.keywords) + len(call.args) < 2:
        return None
    around = wrap(program, call, "torch.nn.Parameter(", ")")
    gone = without_argument(program, call, "requires_grad")
    return Fix("Make it a parameter", (*around, *gone), "unsafe") if around and gone else None


CLASS_HEAD = "import torch\nfrom torch import nn\n\n"


class LayerSharedByClass(StaticRule, code="S333", cause="ARC-INIT-MODEL", preview=True):
    """A layer is made once for the class, in its body or as a default argument, not for each object.

    A layer in the class body is not registered: `parameters()` is empty, nothing is trained, moved or saved. As a default argument it is
    registered, but every model made without that argument shares the same weights.

    Make it in `__init__`: `self.fc = nn.Linear(…)`; for a default use None and make the layer inside.
    """

    message = "A layer in the class body is shared by all instances and not registered, so it is never trained; create it in __init__."
    triggers = ("Module)", "LightningModule")
    patterns = (LITERAL_LAYERS,)

    GOOD = (
        Snippet("made in __init__", CLASS_HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 1)\n\n    def forward(self, x):\n        return self.fc(x)\n"),
        Snippet("nothing to learn", CLASS_HEAD + "class Net(nn.Module):\n    act = nn.ReLU()\n\n    def forward(self, x):\n        return self.act(x)\n"),
        Snippet("stored again", CLASS_HEAD + "class Net(nn.Module):\n    fc = nn.Linear(2, 1)\n\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 1)\n\n    def forward(self, x):\n        return self.fc(x)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in the class body", CLASS_HEAD + "class Net(nn.Module):\n    fc = nn.Linear(2, 1)\n\n    def forward(self, x):\n        return self.fc(x)\n", line=5),
        Snippet("a whole stack", CLASS_HEAD + "class Net(nn.Module):\n    body = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))\n\n    def __init__(self):\n        super().__init__()\n\n"
                "    def forward(self, x):\n        return self.body(x)\n", line=5),
        Snippet("as a default", CLASS_HEAD + "class Net(nn.Module):\n    def __init__(self, head=nn.Linear(8, 2)):\n        super().__init__()\n        self.head = head\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for cls in module_classes(program):
            stored = {name for instance in program.instances_of(cls) for name in instance.stores}
            for name, value in cls.attributes.items():
                made = resolved(value)
                if name in stored or not isinstance(made, Call):
                    continue
                if learns(made) and loads_of(cls, name):
                    yield self.finding(program, made.node)
            yield from self._defaults(program, cls)

    def _defaults(self, program: Program, cls: Class) -> Findings:
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
                if isinstance(given, Call) and id(given.node) in written and learns(given):
                    yield self.finding(
                        program, given.node,
                        "This layer is created once and shared by every instance that uses the default; use None and create it inside.",
                    )  # fmt: skip
