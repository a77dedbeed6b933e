from __future__ import annotations

from collections.abc import Iterator

from netmend.lint.engine.program import Program
from netmend.lint.rule import Snippet, StaticRule, register
from netmend.lint.understand.going_away import renamed, uses
from netmend.vocabulary.finding import Finding


@register
class RemovedInterface(StaticRule):
    """A name, method or argument is used that the installed version of torch, numpy or Keras no longer has, or is about to drop.

    The program stops when it gets there, often after hours of training, or will after an update; a few arguments (`volatile=True`,
    `lr=` of some Keras versions) are accepted and quietly ignored, which is worse. Functions whose removal the documentation
    announces (`torch.qr`, `torch.ger`, `torch.range`, …) count; `torch.range` also has one element more than `torch.arange`.

    Use what took its place. Code that must run with several versions can test for them; such places are left alone.
    """

    code = "S701"
    cause = "API-DEPRECATED"
    message = "This interface is gone in the installed version."
    triggers = (
        ".qr(", ".svd(", ".cholesky(", "triangular_solve", "chain_matmul", "torch.lu(", ".ger(", "torch.range(", "stateless",
        "functorch", "lstsq", "torch.eig", "matrix_rank", "symeig", "torch.solve", "torch.gels", "torch.gesv", "torch.potrf", "btrifact",
        "torch.rfft", "torch.irfft", "torch.ifft", "torch.set_deterministic", "torch._six", "torch.utils.ffi", "torch.legacy", "lr_scheduler",
        "volatile", "np.float)", "np.float,", "np.float(", "np.int)", "np.int,", "np.int(", "np.bool)", "np.bool,", "np.bool(", "np.object)",
        "np.object,", "np.complex)", "np.float_", "np.Inf", "np.NaN", "np.product(", "np.cumproduct(", "np.alltrue(", "np.sometrue(", "keras", ".predict_classes(",
        ".predict_proba(", ".fit_generator(", ".evaluate_generator(", ".predict_generator(",
    )  # fmt: skip

    GOOD = (
        Snippet("what took its place", "import torch\n\nsolution = torch.linalg.lstsq(a, b).solution\nvalues, vectors = torch.linalg.eigh(a)\n"),
        Snippet("a test for the version", "import torch\n\nif hasattr(torch, 'lstsq'):\n    x = torch.lstsq(b, a)\nelse:\n    x = torch.linalg.lstsq(a, b)\n"),
        Snippet("tried first", "try:\n    from torch._six import inf\nexcept ImportError:\n    from math import inf\n"),
        Snippet("tried in a function", "import torch\n\ndef run(f, x):\n    try:\n        from torch import vmap\n    except ImportError:\n        from functorch import vmap\n    return vmap(f)(x)\n"),
        Snippet("named in a table", "import torch\n\nSLOW = {torch.qr: 1, torch.svd: 2}\n"),
        Snippet("numpy's lstsq", "import numpy as np\n\nx = np.linalg.lstsq(a, b, rcond=None)[0]\ny = np.float32(1)\n"),
        Snippet("a method of another object", "class Solver:\n    def lstsq(self, b):\n        return b\n\nSolver().lstsq(3)\n"),
        Snippet("learning_rate", "import keras\n\noptimizer = keras.optimizers.Adam(learning_rate=1e-3)\n"),
        Snippet("left before", "import torch\n\ndef solve(a, b):\n    if torch.__version__ >= '1.13':\n        return torch.linalg.solve(a, b)\n    return torch.solve(b, a)[0]\n"),
    )  # fmt: skip
    BAD = (
        Snippet("a function", "import torch as T\n\n\ndef fit(states, target):\n    return T.lstsq(target, states)[0]\n", line=5),
        Snippet("removal announced", "import torch\n\ndelta = torch.ger(post, pre)\n", line=3, fixed="import torch\n\ndelta = torch.outer(post, pre)\n"),
        Snippet("an import", "from torch import matrix_rank\n", line=1),
        Snippet("a method of a tensor", "import torch\n\nvalues, vectors = torch.randn(3, 3).symeig(eigenvectors=True)\n", line=3),
        Snippet("an argument without effect", "from torch.autograd import Variable\n\nx = Variable(data, volatile=True)\n", line=3),
        Snippet("a type of numpy", "import numpy as np\nimport torch\n\nlabels = torch.from_numpy(np.zeros(10, dtype=np.float))\n", line=4),
        Snippet("lr of a Keras optimizer", "from tensorflow.keras.optimizers import Adam\n\noptimizer = Adam(lr=1e-3)\n", line=3),
        Snippet("a method of a Keras model", "import keras\n\nmodel = keras.Sequential([keras.layers.Dense(3)])\nclasses = model.predict_classes(x)\n", line=4),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for use in uses(program, lambda use: use.is_removed or use.is_announced):
            entry = use.entry
            state = "is deprecated and will be removed"
            if use.is_removed:
                state = f"is gone since {entry.package} {entry.removed}"
            yield self.finding(
                program, use.node, f"{use.name} {state}; use {entry.instead}.", fix=renamed(program, use)
            )
