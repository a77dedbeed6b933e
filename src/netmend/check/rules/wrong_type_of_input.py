from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Const, Value, resolved
from netmend.program.meaning.dtypes import BOOL, FLOAT32, FLOAT64, INT, dtype
from netmend.program.meaning.loaders_of_models import drawn
from netmend.program.meaning.losses import losses
from netmend.program.meaning.operations import LINEAR_MAPS, operation
from netmend.program.meaning.test_code import is_test_code
from netmend.vocabulary.finding import Finding

HEAD = "import numpy as np\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n"
_FLOATS = (FLOAT32, FLOAT64)
_MAKES_ARRAYS = ("numpy.random.", "numpy.array", "numpy.zeros", "numpy.ones", "numpy.asarray", "numpy.stack", "numpy.concatenate", "numpy.load", "numpy.linspace", "numpy.arange")  # fmt: skip
_KEEPS_ARRAYS = frozenset(("astype", "reshape", "transpose", "copy", "ravel", "flatten", "numpy"))
_WEIGHTS = {
    "CrossEntropyLoss": ("weight",),
    "NLLLoss": ("weight",),
    "BCELoss": ("weight",),
    "BCEWithLogitsLoss": ("weight", "pos_weight"),
}


@register
class WrongTypeOfInput(StaticRule):
    """A layer or loss is given something of a kind that it cannot take.

    Layers take tensors, not lists or numpy arrays; an embedding and `one_hot` take whole numbers; binary cross-entropy takes targets as floats and
    the cross-entropy class ids as whole numbers; class weights are tensors. Otherwise the call stops with an error of type.

    Convert where the data is made: `torch.as_tensor(rows, dtype=torch.float32)`, `ids.long()`, `targets.float()`.
    """

    code = "S729"
    cause = "INP-TYPE"
    message = "This has the wrong type."
    triggers = (
        "nn.Embedding(",
        "one_hot(",
        "nn.Linear(",
        "nn.Conv",
        "binary_cross_entropy",
        "BCE",
        "CrossEntropyLoss(",
        "cross_entropy(",
    )
    needs = "torch"
    patterns = (
        r"\.backward\(",
        r"DataLoader\(",
        r"randint\(",
        r"weight=",
    )

    GOOD = (
        Snippet("ids for the embedding", HEAD + "words = nn.Embedding(10, 4)\nout = words(torch.randint(0, 10, (2, 3)))\n"),
        Snippet("a tensor for the layer", HEAD + "net = nn.Linear(4, 2)\nout = net(torch.from_numpy(np.random.rand(8, 4)).float())\n"),
        Snippet("floats for the binary loss", HEAD + "loss = F.binary_cross_entropy_with_logits(scores, torch.randint(0, 2, (8,)).float())\n"),
        Snippet("probabilities", HEAD + "loss = F.cross_entropy(scores, torch.tensor([[0.1, 0.9], [0.5, 0.5]]))\n"),
        Snippet("weights as a tensor", HEAD + "criterion = nn.CrossEntropyLoss(weight=torch.tensor([0.1, 0.9]))\n"),
        Snippet("of unknown type", HEAD + "words = nn.Embedding(10, 4)\ndef run(ids):\n    return words(ids)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("floats for the embedding", HEAD + "words = nn.Embedding(10, 4)\nout = words(torch.rand(2, 3))\n", line=7),
        Snippet("an array for the layer", HEAD + "net = nn.Linear(4, 2)\nrows = np.random.rand(8, 4).astype(np.float32)\nout = net(rows)\n", line=8),
        Snippet("a list for the layer", HEAD + "net = nn.Linear(3, 2)\ndef run():\n    return net([1.0, 2.0, 3.0])\nrun()\n", line=8),
        Snippet("whole numbers for the binary loss", HEAD + "criterion = nn.BCEWithLogitsLoss()\nnet = nn.Linear(4, 1)\nlabels = torch.randint(0, 2, (8, 1))\n"
                "loss = criterion(net(torch.randn(8, 4)), labels)\n", line=9),
        Snippet("floats as class ids", HEAD + "y = torch.tensor([0.0, 1.0, 1.0])\nnet = nn.Linear(4, 2)\nloss = nn.CrossEntropyLoss()(net(x), y)\n", line=8),
        Snippet("floats for one_hot", HEAD + "codes = F.one_hot(torch.tensor([0.0, 2.0]), 3)\n", line=6),
        Snippet("weights as a list", HEAD + "def make():\n    counts = np.random.rand(2)\n    return nn.CrossEntropyLoss(weight=[0.1, 0.9])\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        if is_test_code(program):
            return
        for event in program.calls:
            call = event.call
            op = operation(call)
            if call is None:
                continue
            if op is not None and op.name in ("embedding", "one_hot") and _is_of_torch(op.layer or call):
                if dtype(op.input) in _FLOATS:
                    text = f"{op.name} takes integers but gets floats; convert with .long()."
                    yield self.finding(program, op.node, text)
            elif (
                op is not None and op.layer is not None and op.name in LINEAR_MAPS and _is_of_torch(op.layer)
            ):
                if _is_no_tensor(op.input):
                    text = "A layer takes tensors; convert with torch.as_tensor(…, dtype=torch.float32)."
                    yield self.finding(program, op.node, text)
            elif call.qualified.startswith("torch.nn."):
                yield from self._weights(program, call)
        yield from self._targets(program)

    def _weights(self, program: Program, call: Call) -> Iterator[Finding]:
        for name in _WEIGHTS.get(call.qualified.removeprefix("torch.nn."), ()):
            given = call.argument(name, 0 if name == "weight" else None)
            is_number = isinstance(given, Const) and isinstance(given.value, int | float)
            if given is not None and call.node is not None and (_is_no_tensor(given) or is_number):
                yield self.finding(program, call.node, f"{name} must be a tensor: torch.tensor(…).")

    def _targets(self, program: Program) -> Iterator[Finding]:
        for use in losses(program):
            target = drawn(program, use.target) or use.target
            if use.kind in ("bce", "bce_logits") and dtype(target) in (INT, BOOL):
                yield self.finding(
                    program,
                    use.node,
                    "Binary cross-entropy takes the targets as floats; convert with .float().",
                )
            elif use.kind == "cross_entropy" and _is_row_of_floats(target):
                yield self.finding(
                    program,
                    use.node,
                    "Cross-entropy takes class ids as integers; drop the decimal points or use .long().",
                )


def _is_of_torch(call: Call) -> bool:
    return call.qualified.startswith("torch.nn.")


def _is_no_tensor(value: Value | None) -> bool:
    """A list of numbers, or an array of numpy."""
    value = resolved(value) if value is not None else None
    if isinstance(value, Collection):
        return (
            value.kind in ("list", "tuple")
            and bool(value.items)
            and all(isinstance(item, Const) for item in value.items)
        )
    if not isinstance(value, Call):
        return False
    if value.method:
        return value.method in _KEEPS_ARRAYS and _is_no_tensor(value.receiver)
    return value.qualified.startswith(_MAKES_ARRAYS)


def _is_row_of_floats(value: Value | None) -> bool:
    """`torch.tensor([0.0, 1.0])`: one axis, floats."""
    value = resolved(value) if value is not None else None
    if (
        not isinstance(value, Call)
        or value.qualified != "torch.tensor"
        or not value.args
        or dtype(value) not in _FLOATS
    ):
        return False
    numbers = resolved(value.args[0])
    return (
        isinstance(numbers, Collection)
        and bool(numbers.items)
        and all(isinstance(item, Const) for item in numbers.items)
    )
