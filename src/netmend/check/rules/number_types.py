"""Tensors of the wrong type of number."""

from __future__ import annotations

import ast

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.library.keras import SAME_NUMBERS
from netmend.library.losses import LOSSES
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Const, Item, Value, constant, resolved
from netmend.program.meaning.loaders import drawn
from netmend.program.meaning.losses import losses
from netmend.program.meaning.number_types import BOOL, FLOAT32, FLOAT64, INT, dtype, is_tensor
from netmend.program.meaning.operations import LAYOUT, LINEAR_MAPS, operation, origins
from netmend.program.meaning.uses import operations
from netmend.program.text.edits import replace, wrap
from netmend.vocabulary.finding import Fix

_MAKERS = ("torch.Tensor", "torch.FloatTensor")
_KEEP_TYPE = LAYOUT - {"float", "double", "half", "bfloat16", "type", "type_as"} - {"to"} | {"cuda"}
INTEGER_HEAD = "import torch\nfrom torch import nn\n\nnet = nn.Linear(2, 2)\nx = torch.randn(4, 2)\n"


class FloatTensorForWholeNumbers(StaticRule, code="S704", cause="INP-TYPE"):
    """`torch.Tensor([0, 1])` makes float32, and the result is used as class ids or indices; or a single number is read as a size.

    `torch.Tensor` is the float32 type, not a converter. Class ids and indices must be whole numbers, so the loss, the embedding or
    the indexing refuses them. `torch.Tensor(5)` is worse: five numbers that nobody set.

    Use `torch.tensor([0, 1])`, which keeps the type, and `torch.tensor(5.0)` for one number.
    """

    message = "torch.Tensor makes float32, but class ids and indices must be integers: torch.tensor([...])."
    triggers = ("torch.Tensor(", "FloatTensor(", "Tensor(")

    GOOD = (
        Snippet("tensor keeps the type", INTEGER_HEAD + "y = torch.tensor([0, 1, 0, 1])\nloss = nn.functional.cross_entropy(net(x), y)\n"),
        Snippet("made whole", INTEGER_HEAD + "y = torch.Tensor([0, 1, 0, 1]).long()\nloss = nn.functional.cross_entropy(net(x), y)\n"),
        Snippet("float targets", INTEGER_HEAD + "y = torch.Tensor([[0, 1], [1, 0]])\nloss = nn.functional.mse_loss(net(x), y)\n"),
        Snippet("probabilities", INTEGER_HEAD + "y = torch.Tensor([[0.1, 0.9], [0.5, 0.5]])\nloss = nn.functional.cross_entropy(net(x), y)\n"),
        Snippet("room for values", INTEGER_HEAD + "weight = nn.Parameter(torch.Tensor(5))\nnn.init.normal_(weight)\n"),
        Snippet("class weights", INTEGER_HEAD + "loss = nn.CrossEntropyLoss(weight=torch.Tensor([1, 5]))(net(x), y)\n"),
    )  # fmt: skip
    BAD = (
        mended("class ids", INTEGER_HEAD + "y = torch.⟨Tensor → tensor⟩([0, 1, 0, 1])\nloss = nn.CrossEntropyLoss()(net(x), y)\n"),
        Snippet("indices", INTEGER_HEAD + "table = nn.Embedding(10, 3)\nrows = table(torch.Tensor([1, 2, 3]))\n", line=7),
        Snippet("a real number", INTEGER_HEAD + "rate = torch.FloatTensor(0.5)\n", line=6),
        Snippet("weight of the loss", INTEGER_HEAD + "loss = nn.BCEWithLogitsLoss(pos_weight=torch.Tensor(3))\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for use in losses(program):
            if use.kind in ("cross_entropy", "nll"):
                yield from self._whole(program, use.target, one_axis=True)
        for event in program.calls:
            op = operation(event.call)
            if op is not None and op.name == "embedding" and op.layer is not None:
                yield from self._whole(program, op.input)
        for event in program.calls_of(*_MAKERS):
            call = event.call
            if len(call.args) != 1 or call.keywords or call.open:
                continue
            yield from self._single(program, call)

    def _whole(self, program: Program, value: Value | None, *, one_axis: bool = False) -> Findings:
        """Numbers written as whole ones that reach a place for whole numbers as float32."""
        found = origins(value, _KEEP_TYPE)
        for made in found:
            if isinstance(made, Item):
                made = resolved(made.base)
            if not isinstance(made, Call) or made.qualified not in _MAKERS or len(made.args) != 1:
                return
            if made.node is None:
                return
            numbers = resolved(made.args[0])
            if not isinstance(numbers, Collection) or numbers.open or not numbers.items:
                return
            if not all(isinstance(item, Const) and type(item.value) is int for item in numbers.items):
                return
            edits = (
                replace(program, made.node.func, "torch.tensor")
                if program.source(made.node.func).startswith("torch.")
                else ()
            )
            yield self.finding(program, made.node, fix=Fix("Use torch.tensor", edits, "safe"))

    def _single(self, program: Program, call: Call) -> Findings:
        number = constant(call.args[0])
        node = call.node
        if node is None:
            return
        if type(number) is float:
            yield self.finding(
                program,
                node,
                f"torch.Tensor({number}) fails: it expects a size or a list; write torch.tensor({number}).",
            )
        elif type(number) is int and _stands_for_a_number(program, node):
            text = f"torch.Tensor({number}) is {number} unset values, not the number {number}; write torch.tensor({float(number)})."
            yield self.finding(program, node, text)


def _stands_for_a_number(program: Program, node: ast.AST) -> bool:
    parent = program.parent(node)
    if isinstance(parent, ast.keyword):
        return parent.arg in ("weight", "pos_weight")
    return isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mult | ast.Div | ast.Add | ast.Sub)


class TensorOfTensor(StaticRule, code="S716", cause="API-USAGE", advisory=True):
    """`torch.tensor` is given a tensor.

    It copies the numbers and cuts the copy off from the graph, with a warning in each call. Where a gradient was meant to flow
    through, none does.

    Write `x.detach().clone()` for a copy, `x.to(dtype)` for another type, or use `x` itself.
    """

    message = (
        "torch.tensor() of a tensor copies it and cuts the graph; write x.detach().clone() or x.to(dtype)."
    )
    triggers = ("torch.tensor(", "tensor(")

    GOOD = (
        Snippet("a list", "import torch\n\nx = torch.tensor([1.0, 2.0])\ny = x.detach().clone()\n"),
        Snippet("a number", "import torch\n\nx = torch.randn(3)\ny = torch.tensor(x.mean().item())\n"),
    )
    BAD = (
        Snippet("a copy", "import torch\n\nx = torch.randn(3)\ny = torch.tensor(x)\n", line=4),
        Snippet(
            "another type",
            "import torch\n\nids = torch.arange(5)\nweights = torch.tensor(ids * 2, dtype=torch.float32)\n",
            line=4,
        ),
    )

    def check(self, program: Program) -> Findings:
        for event in program.calls_of("torch.tensor"):
            call = event.call
            if call.args and is_tensor(call.args[0]):
                yield self.finding(program, event.node)


DOUBLE_HEAD = "import numpy as np\nimport torch\nfrom torch import nn\n\nnet = nn.Linear(6, 1)\n"


class DoubleMeetsFloat(StaticRule, code="S722", cause="INP-TENSOR-TYPE"):
    """Numbers of another type than the layer's weights go into it: float64 from numpy, or whole numbers.

    numpy makes float64, layers hold float32; `torch.from_numpy` and `torch.tensor` keep what they are given. The layer stops with
    "mat1 and mat2 must have the same dtype".

    Convert once, where the tensor is made: `torch.from_numpy(rows).float()` or `torch.tensor(rows, dtype=torch.float32)`.
    """

    message = "The input is float64, the layer's weights are float32; convert it with .float()."
    triggers = ("from_numpy", "torch.tensor(", "as_tensor", "torch.arange", "torch.randint", "th.tensor(")
    patterns = (r"from_numpy\(", r"tensor\(\s*np\.", r"np\.random")

    GOOD = (
        Snippet("converted", DOUBLE_HEAD + "out = net(torch.from_numpy(np.random.rand(8, 6)).float())\n"),
        Snippet("float32 from the start", DOUBLE_HEAD + "out = net(torch.from_numpy(np.random.rand(8, 6).astype(np.float32)))\n"),
        Snippet("a double model", DOUBLE_HEAD + "net = net.double()\nout = net(torch.from_numpy(np.random.rand(8, 6)))\n"),
        Snippet("another default", DOUBLE_HEAD + "torch.set_default_dtype(torch.float64)\nlayer = nn.Linear(6, 1)\nout = layer(torch.from_numpy(np.random.rand(8, 6)))\n"),
        Snippet("of unknown type", DOUBLE_HEAD + "out = net(torch.from_numpy(np.load('rows.npy')))\n"),
        Snippet("Keras converts", "import keras\nimport numpy as np\nimport torch\n\nout = keras.layers.Dense(3)(torch.from_numpy(np.random.rand(8, 6)))\n"),
        Snippet("by a layer's dtype", DOUBLE_HEAD + "layer = nn.Linear(6, 1, dtype=torch.float64)\nout = layer(torch.from_numpy(np.random.rand(8, 6)))\n"),
    )  # fmt: skip
    BAD = (
        mended("from_numpy", DOUBLE_HEAD + "rows = np.random.rand(8, 6)\nx = torch.from_numpy(rows)\nfor _ in range(10):\n    out = net(x⟨ → .float()⟩)\n"),
        Snippet("torch.tensor of an array", DOUBLE_HEAD + "out = net(torch.tensor(np.array([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]])))\n", line=6),
        Snippet("in forward", "import numpy as np\nimport torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                "        self.fc = nn.Linear(6, 1)\n\n    def forward(self, x):\n        return self.fc(x)\n\nprint(Net()(torch.as_tensor(np.random.randn(8, 6))))\n", line=11),
        Snippet("whole numbers", DOUBLE_HEAD + "out = net(torch.tensor([[1, 2, 3, 4, 5, 6]]))\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        if ".double()" in program.text or "set_default" in program.text or "autocast" in program.text:
            return
        if "torch.float64)" in program.text:
            return
        for op, _ in operations(program, *LINEAR_MAPS):
            if op.layer is None or not op.layer.qualified.startswith("torch.nn."):
                continue
            if "dtype" in op.layer.keywords or op.layer.open:
                continue
            kind = dtype(op.input)
            if kind not in (FLOAT64, INT):
                continue
            node = op.value.node
            edits = wrap(program, node.args[0], "", ".float()") if node is not None and node.args else ()
            text = (
                None
                if kind == FLOAT64
                else "The input holds integers, the layer's weights are float32; convert it with .float()."
            )
            yield self.finding(program, op.node, text, fix=Fix("Convert to float32", edits))


INPUT_HEAD = "import numpy as np\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n"
_FLOATS = (FLOAT32, FLOAT64)
_MAKES_ARRAYS = ("numpy.random.", "numpy.array", "numpy.zeros", "numpy.ones", "numpy.asarray", "numpy.stack", "numpy.concatenate", "numpy.load", "numpy.linspace", "numpy.arange")  # fmt: skip
_KEEPS_ARRAYS = frozenset((*SAME_NUMBERS, "numpy"))
_WEIGHTS = {loss.layer: loss.weights for loss in LOSSES if loss.weights}


class WrongTypeOfInput(StaticRule, code="S729", cause="INP-TYPE", in_tests=False):
    """A layer or loss is given something of a kind that it cannot take.

    Layers take tensors, not lists or numpy arrays; an embedding and `one_hot` take whole numbers; binary cross-entropy takes targets as floats and
    the cross-entropy class ids as whole numbers; class weights are tensors. Otherwise the call stops with an error of type.

    Convert where the data is made: `torch.as_tensor(rows, dtype=torch.float32)`, `ids.long()`, `targets.float()`.
    """

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
    patterns = (r"\.backward\(", r"DataLoader\(", r"randint\(", r"weight=")

    GOOD = (
        Snippet("ids for the embedding", INPUT_HEAD + "words = nn.Embedding(10, 4)\nout = words(torch.randint(0, 10, (2, 3)))\n"),
        Snippet("floats for the binary loss", INPUT_HEAD + "loss = F.binary_cross_entropy_with_logits(scores, torch.randint(0, 2, (8,)).float())\n"),
        Snippet("probabilities", INPUT_HEAD + "loss = F.cross_entropy(scores, torch.tensor([[0.1, 0.9], [0.5, 0.5]]))\n"),
        Snippet("weights as a tensor", INPUT_HEAD + "criterion = nn.CrossEntropyLoss(weight=torch.tensor([0.1, 0.9]))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("floats for the embedding", INPUT_HEAD + "words = nn.Embedding(10, 4)\nout = words(torch.rand(2, 3))\n", line=7),
        Snippet("an array for the layer", INPUT_HEAD + "net = nn.Linear(4, 2)\nrows = np.random.rand(8, 4).astype(np.float32)\nout = net(rows)\n", line=8),
        Snippet("whole numbers for the binary loss", INPUT_HEAD + "criterion = nn.BCEWithLogitsLoss()\nnet = nn.Linear(4, 1)\nlabels = torch.randint(0, 2, (8, 1))\n"
                "loss = criterion(net(torch.randn(8, 4)), labels)\n", line=9),
        Snippet("floats as class ids", INPUT_HEAD + "y = torch.tensor([0.0, 1.0, 1.0])\nnet = nn.Linear(4, 2)\nloss = nn.CrossEntropyLoss()(net(x), y)\n", line=8),
        Snippet("floats for one_hot", INPUT_HEAD + "codes = F.one_hot(torch.tensor([0.0, 2.0]), 3)\n", line=6),
        Snippet("weights as a list", INPUT_HEAD + "def make():\n    counts = np.random.rand(2)\n    return nn.CrossEntropyLoss(weight=[0.1, 0.9])\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for op, _ in operations(program, "embedding", "one_hot"):
            if _is_of_torch(op.layer or op.value) and dtype(op.input) in _FLOATS:
                text = f"{op.name} takes integers but gets floats; convert with .long()."
                yield self.finding(program, op.node, text)
        for op, _ in operations(program, *LINEAR_MAPS):
            if op.layer is not None and _is_of_torch(op.layer) and _is_no_tensor(op.input):
                text = "A layer takes tensors; convert with torch.as_tensor(…, dtype=torch.float32)."
                yield self.finding(program, op.node, text)
        for event in program.calls:
            if event.call.qualified.startswith("torch.nn."):
                yield from self._weights(program, event.call)
        yield from self._targets(program)

    def _weights(self, program: Program, call: Call) -> Findings:
        for name in _WEIGHTS.get(call.qualified.removeprefix("torch.nn."), ()):
            given = call.argument(name, 0 if name == "weight" else None)
            is_number = isinstance(given, Const) and isinstance(given.value, int | float)
            if given is not None and (_is_no_tensor(given) or is_number):
                yield self.finding(program, call.node, f"{name} must be a tensor: torch.tensor(…).")

    def _targets(self, program: Program) -> Findings:
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
    value = resolved(value)
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
    value = resolved(value)
    if not isinstance(value, Call) or value.qualified != "torch.tensor" or not value.args:
        return False
    if dtype(value) not in _FLOATS:
        return False
    numbers = resolved(value.args[0])
    return (
        isinstance(numbers, Collection)
        and bool(numbers.items)
        and all(isinstance(item, Const) for item in numbers.items)
    )
