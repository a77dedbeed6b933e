from __future__ import annotations

from collections.abc import Iterator

from netmend.lint.engine.program import Program
from netmend.lint.rule import Snippet, StaticRule, register
from netmend.lint.understand.going_away import uses
from netmend.vocabulary.finding import Finding


@register
class RemovedInterface(StaticRule):
    """A name, method or argument is used that the installed version of torch, numpy or Keras no longer has.

    The program stops when it gets there, often after hours of training; a few arguments (`volatile=True`, `lr=` of some Keras
    versions) are accepted and quietly ignored, which is worse.

    Use what took its place. Code that must run with several versions can test for them; such places are left alone.
    """

    code = "S701"
    cause = "API-DEPRECATED"
    message = "This interface is gone in the installed version."
    triggers = (
        "lstsq", "torch.eig", "matrix_rank", "symeig", "torch.solve", "torch.gels", "torch.gesv", "torch.potrf", "btrifact",
        "torch.rfft", "torch.irfft", "torch.ifft", "torch.set_deterministic", "torch._six", "torch.utils.ffi", "torch.legacy", "lr_scheduler",
        "volatile", "np.float)", "np.float,", "np.float(", "np.int)", "np.int,", "np.int(", "np.bool)", "np.bool,", "np.bool(", "np.object)",
        "np.object,", "np.complex)", "np.float_", "np.Inf", "np.NaN", "np.product(", "np.cumproduct(", "np.alltrue(", "np.sometrue(", "keras",
    )  # fmt: skip

    GOOD = (
        Snippet("what took its place", "import torch\n\nsolution = torch.linalg.lstsq(a, b).solution\nvalues, vectors = torch.linalg.eigh(a)\n"),
        Snippet("a test for the version", "import torch\n\nif hasattr(torch, 'lstsq'):\n    x = torch.lstsq(b, a)\nelse:\n    x = torch.linalg.lstsq(a, b)\n"),
        Snippet("tried first", "try:\n    from torch._six import inf\nexcept ImportError:\n    from math import inf\n"),
        Snippet("numpy's lstsq", "import numpy as np\n\nx = np.linalg.lstsq(a, b, rcond=None)[0]\ny = np.float32(1)\n"),
        Snippet("a method of another object", "class Solver:\n    def lstsq(self, b):\n        return b\n\nSolver().lstsq(3)\n"),
        Snippet("learning_rate", "import keras\n\noptimizer = keras.optimizers.Adam(learning_rate=1e-3)\n"),
        Snippet("left before", "import torch\n\ndef solve(a, b):\n    if torch.__version__ >= '1.13':\n        return torch.linalg.solve(a, b)\n    return torch.solve(b, a)[0]\n"),
    )  # fmt: skip
    BAD = (
        Snippet("a function", "import torch as T\n\n\ndef fit(states, target):\n    return T.lstsq(target, states)[0]\n", line=5),
        Snippet("an import", "from torch import matrix_rank\n", line=1),
        Snippet("a method of a tensor", "import torch\n\nvalues, vectors = torch.randn(3, 3).symeig(eigenvectors=True)\n", line=3),
        Snippet("an argument without effect", "from torch.autograd import Variable\n\nx = Variable(data, volatile=True)\n", line=3),
        Snippet("a type of numpy", "import numpy as np\nimport torch\n\nlabels = torch.from_numpy(np.zeros(10, dtype=np.float))\n", line=4),
        Snippet("lr of a Keras optimizer", "from tensorflow.keras.optimizers import Adam\n\noptimizer = Adam(lr=1e-3)\n", line=3),
        Snippet("a method of a Keras model", "import keras\n\nmodel = keras.Sequential([keras.layers.Dense(3)])\nclasses = model.predict_classes(x)\n", line=4),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for use in uses(program):
            if use.is_removed:
                entry = use.entry
                text = f"{use.name} is gone since {entry.package} {entry.removed}; use {entry.instead}."
                yield self.finding(program, use.node, text)
