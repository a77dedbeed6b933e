from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.dtypes import FLOAT64, INT, dtype
from netmend.program.meaning.operations import LINEAR_MAPS, operation
from netmend.program.text.edits import wrap
from netmend.vocabulary.finding import Finding, Fix

HEAD = "import numpy as np\nimport torch\nfrom torch import nn\n\nnet = nn.Linear(6, 1)\n"


@register
class DoubleMeetsFloat(StaticRule):
    """Numbers of another type than the layer's weights go into it: float64 from numpy, or whole numbers.

    numpy makes float64, layers hold float32; `torch.from_numpy` and `torch.tensor` keep what they are given. The layer stops with
    "mat1 and mat2 must have the same dtype".

    Convert once, where the tensor is made: `torch.from_numpy(rows).float()` or `torch.tensor(rows, dtype=torch.float32)`.
    """

    code = "S722"
    cause = "INP-TENSOR-TYPE"
    message = "The input is float64, the layer's weights are float32; convert it with .float()."
    triggers = ("from_numpy", "torch.tensor(", "as_tensor", "torch.arange", "torch.randint", "th.tensor(")
    patterns = (
        r"from_numpy\(",
        r"tensor\(\s*np\.",
        r"np\.random",
    )

    GOOD = (
        Snippet("converted", HEAD + "out = net(torch.from_numpy(np.random.rand(8, 6)).float())\n"),
        Snippet("float32 from the start", HEAD + "out = net(torch.from_numpy(np.random.rand(8, 6).astype(np.float32)))\n"),
        Snippet("a double model", HEAD + "net = net.double()\nout = net(torch.from_numpy(np.random.rand(8, 6)))\n"),
        Snippet("another default", HEAD + "torch.set_default_dtype(torch.float64)\nlayer = nn.Linear(6, 1)\nout = layer(torch.from_numpy(np.random.rand(8, 6)))\n"),
        Snippet("of unknown type", HEAD + "out = net(torch.from_numpy(np.load('rows.npy')))\n"),
        Snippet("Keras converts", "import keras\nimport numpy as np\nimport torch\n\nout = keras.layers.Dense(3)(torch.from_numpy(np.random.rand(8, 6)))\n"),
        Snippet("by a layer's dtype", HEAD + "layer = nn.Linear(6, 1, dtype=torch.float64)\nout = layer(torch.from_numpy(np.random.rand(8, 6)))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("from_numpy", HEAD + "rows = np.random.rand(8, 6)\nx = torch.from_numpy(rows)\nfor _ in range(10):\n    out = net(x)\n", line=9,
                fixed=HEAD + "rows = np.random.rand(8, 6)\nx = torch.from_numpy(rows)\nfor _ in range(10):\n    out = net(x.float())\n"),
        Snippet("torch.tensor of an array", HEAD + "out = net(torch.tensor(np.array([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]])))\n", line=6),
        Snippet("in forward", "import numpy as np\nimport torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                "        self.fc = nn.Linear(6, 1)\n\n    def forward(self, x):\n        return self.fc(x)\n\nprint(Net()(torch.as_tensor(np.random.randn(8, 6))))\n", line=11),
        Snippet("whole numbers", HEAD + "out = net(torch.tensor([[1, 2, 3, 4, 5, 6]]))\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        if (
            ".double()" in program.text
            or "set_default" in program.text
            or "autocast" in program.text
            or "torch.float64)" in program.text
        ):
            return
        for event in program.calls:
            op = operation(event.call)
            if (
                op is None
                or op.layer is None
                or op.name not in LINEAR_MAPS
                or not op.layer.qualified.startswith("torch.nn.")
                or "dtype" in op.layer.keywords
                or op.layer.open
            ):
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
            yield self.finding(
                program, op.node, text, fix=Fix("Convert to float32", edits) if edits else None
            )
