"""What tracking gradients allows and what it does not."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value, constant, resolved
from netmend.program.meaning.number_types import BOOL, INT, dtype
from netmend.program.meaning.operations import ACTIVATIONS, LAYOUT, LINEAR_MAPS, Op, all_origins, operation
from netmend.program.meaning.training import grad_is_off
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Fix


class GradientForWholeNumbers(StaticRule, code="S717", cause="INP-TENSOR-TYPE"):
    """A tensor of whole numbers or truth values is to have a gradient.

    Only floating-point tensors can; the program stops with "Only Tensors of floating point and complex dtype can require gradients".
    `torch.tensor([1, 2])` and `torch.arange(5)` hold whole numbers.

    Write the numbers with a point (`torch.tensor([1.0, 2.0])`) or give `dtype=torch.float32`.
    """

    message = "Integers cannot have a gradient; make the tensor floating-point, for example with dtype=torch.float32."
    triggers = ("requires_grad", "Parameter(")
    patterns = (
        r"requires_grad\s*=\s*True",
        r"Parameter\(\s*\w+\.(?:arange|tensor|randint|LongTensor|IntTensor)",
    )

    GOOD = (
        Snippet("floating-point", "import torch\nfrom torch import nn\n\nw = torch.tensor([1.0, 2], requires_grad=True)\np = nn.Parameter(torch.zeros(3))\n"),
        Snippet("by its type", "import torch\n\nw = torch.tensor([1, 2], dtype=torch.float32, requires_grad=True)\nv = torch.arange(5).float().requires_grad_()\n"),
        Snippet("without a gradient", "import torch\nfrom torch import nn\n\nsteps = nn.Parameter(torch.tensor([0]), requires_grad=False)\nx = torch.arange(5, requires_grad=False)\n"),
        Snippet("of unknown kind", "import torch\nfrom torch import nn\n\ndef make(values):\n    return nn.Parameter(torch.tensor(values))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("written without a point", "import torch\n\nw = torch.tensor([1, 2], requires_grad=True)\n", line=3),
        Snippet("a parameter", "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                "        self.scale = nn.Parameter(torch.tensor(1))\n\n    def forward(self, x):\n        return x * self.scale\n", line=7),
        Snippet("afterwards", "import torch\n\nx = torch.arange(10).reshape(2, 5)\nx.requires_grad_()\n", line=4),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.calls:
            call = event.call
            value = _wanted(call)
            if value is not None and dtype(value) in (INT, BOOL):
                yield self.finding(program, event.node)


def _wanted(call: Call) -> Value | None:
    """What is to have a gradient by this call."""
    if call.qualified == "torch.nn.Parameter" or call.qualified == "torch.nn.parameter.Parameter":
        given = call.argument("requires_grad", 1)
        return call.argument("data", 0) if given is None or constant(given) is True else None
    if call.method == "requires_grad_":
        return (
            call.receiver
            if constant(call.argument("requires_grad", 0), True) is True and not _unknown(call)
            else None
        )
    if call.qualified.startswith("torch.") and constant(call.keywords.get("requires_grad")) is True:
        return call
    return None


def _unknown(call: Call) -> bool:
    return bool(call.args) and constant(call.args[0]) is not True


_THROUGH = LAYOUT | (ACTIVATIONS - {"threshold"}) | {"cpu", "mean", "sum", "exp"}
HEAD = (
    "import torch\nfrom torch import nn\n\nnet = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))\n"
)


class NumpyOfTrackedTensor(StaticRule, code="S718", cause="API-USAGE"):
    """`.numpy()` is called on the output of a model that still carries its graph.

    The program stops with "Can't call numpy() on Tensor that requires grad".

    Write `out.detach().numpy()`, or predict under `with torch.no_grad():`.
    """

    message = "This output requires grad, so numpy() fails; write .detach().numpy() or predict under torch.no_grad()."
    triggers = (".numpy()",)

    GOOD = (
        Snippet("detached", HEAD + "out = net(torch.randn(3, 4)).detach().numpy()\n"),
        Snippet("a caller may switch gradients off", HEAD + "def predict(x):\n    return net(x).numpy()\n"),
        Snippet("switched off for all", HEAD + "torch.set_grad_enabled(False)\nout = net(torch.randn(3, 4)).numpy()\n"),
        Snippet("a model of Keras", "import torch\nfrom tensorflow.keras import Model, layers\n\nclass Net(Model):\n    def __init__(self):\n        super().__init__()\n"
                "        self.out = layers.Dense(2)\n\n    def call(self, x):\n        return self.out(x)\n\nprint(Net()(images).numpy())\n"),
        Snippet("frozen", HEAD + "for p in net.parameters():\n    p.requires_grad = False\nout = net(torch.randn(3, 4)).numpy()\n"),
    )  # fmt: skip
    BAD = (
        mended("straight from the model", HEAD + "out = net(torch.randn(3, 4)).⟨ → detach().⟩numpy()\n"),
        Snippet("in a function that is called", HEAD + "def predict(x):\n    scores = torch.softmax(net(x), 1)\n    return scores.cpu().numpy()\n\n"
                "print(predict(torch.randn(3, 4)))\n", line=7),
        Snippet("a module", "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(4, 1)\n\n"
                "    def forward(self, x):\n        return torch.sigmoid(self.fc(x)).squeeze(1)\n\nnet = Net()\nfor x in loader:\n    print(net(x).numpy())\n", line=14),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        if "requires_grad = False" in program.text or "requires_grad_(False)" in program.text:
            return
        if "inference_mode" in program.text:
            return
        if any(call for call in program.calls_of("torch.set_grad_enabled")):
            return
        made: dict[int, Event] | None = None
        for event in program.methods_of("numpy"):
            call = event.call
            if program.entry_of(event).kind != "file" or grad_is_off(event) or call.keywords:
                continue
            if call.args:
                continue
            if not all_origins(call.receiver, _has_weights, _THROUGH):
                continue
            made = {id(other.value): other for other in program.calls} if made is None else made
            if any(grad_is_off(step) for step in _steps(call.receiver, made)):
                continue
            receiver = (
                call.node.func.value if call.node is not None and hasattr(call.node.func, "value") else None
            )
            edits = (
                replace(program, receiver, f"{program.source(receiver)}.detach()")
                if receiver is not None
                else ()
            )
            yield self.finding(program, event.node, fix=Fix("Detach it first", edits))


def _has_weights(op: Op) -> bool:
    return op.layer is not None and op.name in LINEAR_MAPS and op.layer.qualified.startswith("torch.nn.")


def _steps(value: Value | None, made: dict[int, Event]) -> Iterator[Event]:
    """The calls between the layer and `numpy()`, with their places."""
    for _ in range(100):
        if value is None:
            return
        for form in (value, resolved(value)):
            if id(form) in made:
                yield made[id(form)]
        op = operation(resolved(value))
        value = op.input if op is not None and op.name in _THROUGH else None
