"""Names and defaults that libraries have removed or will change."""

from __future__ import annotations

import ast

from netmend.check.rule import NOWHERE, Findings, Snippet, StaticRule, mended
from netmend.program.engine.program import Program
from netmend.program.meaning.removed_symbols import (
    in_package,
    is_chosen_by_version,
    may_use_removed,
    renamed,
    uses,
)
from netmend.program.meaning.statements import argument_node, with_argument
from netmend.vocabulary.finding import Fix


class RemovedInterface(StaticRule, code="S701", cause="API-DEPRECATED"):
    """A name, method or argument is used that the installed version of torch, torchvision, numpy or Keras no longer has, or is about to drop.

    The program stops when it gets there, often after hours of training, or will after an update; a few arguments (`volatile=True`,
    `lr=` of some Keras versions) are accepted and quietly ignored, which is worse. Functions whose removal the documentation
    announces (`torch.qr`, `torch.range`, `torch.cuda.amp`, `pretrained=`, …) are told once per file, and not inside packages,
    which must run with several versions; `torch.range` also has one element more than `torch.arange`.

    Use what took its place. Code that must run with several versions can test for them; such places are left alone.
    """

    message = "This interface no longer exists in the installed version."
    triggers = (
        ".qr(", ".svd(", ".cholesky(", "triangular_solve", "chain_matmul", ".lu(", ".ger(", ".range(", "import range", " qr", " svd", " cholesky", " ger,", " ger\n", " ger as", "import lu", "import amp", "_utils import", "nn.init import", "nn.utils import", ".Scale(", " Scale", "stateless",
        "functorch", "lstsq", ".eig(", "import eig", "matrix_rank", "symeig", ".solve(", "import solve", "torch.gels", "torch.gesv",
        "torch.potrf", "btrifact", ".rfft(", ".irfft(", ".ifft(", "set_deterministic", "torch._six", "torch.utils.ffi", "torch.legacy",
        "verbose=", "volatile", "lu_solve", "upsample", "UpsamplingNearest2d", "UpsamplingBilinear2d", "NLLLoss2d", "clip_grad_norm(",
        "clip_grad_norm\n", "weight_norm", "cuda.amp", "cpu.amp", "memory_cached", "reset_max_memory", "set_default_tensor_type", "assert_allclose",
        "sdp_kernel", "_utils.collate", "_register_pytree_node", "init.uniform(", "init.normal(", "init.constant(", "xavier_uniform(", "xavier_normal(",
        "kaiming_uniform(", "kaiming_normal(", "init.orthogonal(", "init.eye(", "init.dirac(", "init.sparse(", "size_average", "reduce=", "pretrained", "jit.quantized",
        "nn.backends", "nn._functions", "_multigpu", "dynamo_export", "transforms.v2", "import v2", "v2.ToTensor", "torchvision.models", "torchvision import models", "to_tensor", "transforms.Scale", "RandomSizedCrop",
        "functional_tensor", "functional_pil", "_transforms_video", "models.utils", "model_urls", "datapoints", "resample=", "fillcolor=", "range=",
        "load_wav", "audio_backend", "magphase", "complex_norm", "ComplexNorm", "torchtext", "np.float)", "np.float,", "np.float(", "np.int)", "np.int,", "np.int(",
        "np.bool)", "np.bool,", "np.bool(", "np.object)", "np.object,", "np.complex)", "np.float_", "np.Inf", "np.NaN", "np.NAN", "np.PINF", "np.NINF", "np.str)",
        "np.str,", "np.str(", "np.unicode_", "np.string_", "np.complex_", "asfarray", "msort", "in1d", ".trapz(", "np.product(", "np.cumproduct(",
        "np.alltrue(", "np.sometrue(", "numpy.float", "numpy.int", "keras", ".predict_classes(", ".predict_proba(", ".fit_generator(", ".evaluate_generator(",
        ".predict_generator(",
    )  # fmt: skip
    # Only methods need an evaluated receiver.
    patterns = (
        r"\.(?:lstsq|symeig|qr|svd|cholesky|ger|lu|triangular_solve|eig|solve|predict_classes|predict_proba|(?:fit|evaluate|predict)_generator)\(",
    )

    GOOD = (
        Snippet("what took its place", "import torch\n\nsolution = torch.linalg.lstsq(a, b).solution\nvalues, vectors = torch.linalg.eigh(a)\n"),
        Snippet("tried in a function", "import torch\n\ndef run(f, x):\n    try:\n        from torch import vmap\n    except ImportError:\n        from functorch import vmap\n    return vmap(f)(x)\n"),
        Snippet("a name of its own", "import torchvision\nfrom mylib import v2\n\nmodel = torchvision.models.resnet18(weights=None)\nstep = v2.ToTensor()\n"),
        Snippet("a part of a package", "import torch\n\ndef size(x):\n    return torch.norm(x)\n", files={"__init__.py": ""}),
        Snippet("learning_rate", "import keras\n\noptimizer = keras.optimizers.Adam(learning_rate=1e-3)\n"),
        Snippet("left before", "import torch\n\ndef solve(a, b):\n    if torch.__version__ >= '1.13':\n        return torch.linalg.solve(a, b)\n    return torch.solve(b, a)[0]\n"),
    )  # fmt: skip
    BAD = (
        Snippet("a function", "import torch as T\n\n\ndef fit(states, target):\n    return T.lstsq(target, states)[0]\n", line=5),
        mended("removal announced", "import torch\n\ndelta = torch.⟨ger → outer⟩(post, pre)\n"),
        Snippet("told once", "import torch\n\na = torch.chain_matmul(x, y)\nb = torch.chain_matmul(y, x)\n", line=3),
        Snippet("mixed precision", "from torch.cuda.amp import GradScaler, autocast\n\nscaler = GradScaler()\n", line=1),
        Snippet("a decorator", "import torch\n\n@torch.cuda.amp.autocast()\ndef run(net, x):\n    return net(x)\n", line=3),
        Snippet("pretrained by position", "import torchvision\n\nnet = torchvision.models.vgg16(True)\n", line=3),
        Snippet("a model by its name", "from torchvision import models\n\nnet = models.__dict__[name](pretrained=False)\n", line=3),
        Snippet("ToTensor of v2", "from torchvision.transforms import v2 as T\n\nsteps = T.Compose([T.ToTensor(), T.Normalize([0.5], [0.5])])\n", line=3),
        Snippet("a private name", "from torch.utils.data._utils.collate import default_collate\n", line=1),
        Snippet("an argument", "from torch import nn\n\nloss = nn.MSELoss(size_average=False)\n", line=3),
        Snippet("an initialiser", "import torch.nn.init as init\n\ndef start(layer):\n    init.xavier_uniform(layer.weight)\n", line=4),
        mended("clipping", "import torch\n\ntorch.nn.utils.⟨clip_grad_norm → clip_grad_norm_⟩(net.parameters(), 1.0)\n"),
        Snippet("a method of a known tensor", "import torch\n\nq, r = torch.randn(3, 3).qr()\n", line=3),
        Snippet("the range of pictures", "from torchvision.utils import save_image\n\nsave_image(made, 'a.png', normalize=True, range=(-1, 1))\n", line=3),
        Snippet("an import", "from torch import matrix_rank\n", line=1),
        Snippet("a method of a tensor", "import torch\n\nvalues, vectors = torch.randn(3, 3).symeig(eigenvectors=True)\n", line=3),
        Snippet("an argument without effect", "from torch.autograd import Variable\n\nx = Variable(data, volatile=True)\n", line=3),
        Snippet("a type of numpy", "import numpy as np\nimport torch\n\nlabels = torch.from_numpy(np.zeros(10, dtype=np.float))\n", line=4),
        Snippet("lr of a Keras optimizer", "from tensorflow.keras.optimizers import Adam\n\noptimizer = Adam(lr=1e-3)\n", line=3),
        Snippet("a method of a Keras model", "import keras\n\nmodel = keras.Sequential([keras.layers.Dense(3)])\nclasses = model.predict_classes(x)\n", line=4),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        may_be_old = in_package(program)
        if may_be_old and not may_use_removed(program.text):
            return
        for use in uses(program, lambda use: use.is_removed or (use.is_announced and not may_be_old)):
            entry = use.entry
            is_private = "._" in use.name and not use.is_removed
            state = "is private" if is_private else "is deprecated and will be removed"
            if use.is_removed:
                state = f"was removed in {entry.package} {entry.removed}"
            text = f"{use.name} {state}; use {entry.instead}."
            cause = "API-USAGE" if is_private else None
            yield self.finding(program, use.node, text, cause=cause, fix=renamed(program, use))


class DeprecatedInterface(StaticRule, code="S702", cause="API-DEPRECATED", advisory=True):
    """A name or argument is used that the installed version of torch still has but advises against.

    It works today, sometimes with a warning, and may stop after an update. Inside packages this tells also what S701 tells elsewhere.

    Use what takes its place.
    """

    message = "This interface is deprecated in the installed version."
    triggers = (
        ".sigmoid(", ".tanh(", "Variable", "torch.norm(", "cuda.amp", "cpu.amp", "weight_norm", "upsample", "clip_grad_norm(", "_utils.collate", "size_average",
        "reduce=", "pretrained=", "set_default_tensor_type", "sdp_kernel", "torch.qr(", "torch.svd(", "torch.cholesky(", "torch.ger(", "torch.range(", "functorch",
        "memory_cached", "v2.ToTensor",
    )  # fmt: skip
    patterns = (NOWHERE,)  # nothing is evaluated

    GOOD = (
        Snippet("what takes its place", "import torch\n\nq, r = torch.linalg.qr(a)\nsteps = torch.arange(0, 10)\nscaler = torch.amp.GradScaler('cuda')\n"),
    )  # fmt: skip
    BAD = (
        Snippet("variables", "from torch.autograd import Variable\n\nx = Variable(data)\n", line=1),
        Snippet("an old name", "import torch.nn.functional as F\n\ny = F.sigmoid(x)\n", line=3),
        Snippet("in a package", "import torch\n\ndef size(x):\n    return torch.norm(x)\n", line=4, files={"__init__.py": ""}),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        may_be_old = in_package(program)
        for use in uses(program, lambda use: use.is_deprecated and (may_be_old or not use.is_announced)):
            entry = use.entry
            state = (
                "is private"
                if "._" in use.name
                else f"is deprecated since {entry.package} {entry.deprecated}"
            )
            text = f"{use.name} {state}; use {entry.instead}."
            yield self.finding(program, use.node, text, fix=renamed(program, use))


# The function, the argument, its position, what to write, why.
_WANTED: dict[str, tuple[str, int | None, str, str]] = {
    "torch.utils.checkpoint.checkpoint": ("use_reentrant", None, "False", "torch will raise an error without it"),
    "torch.meshgrid": ("indexing", None, '"ij"', 'the default will change to "xy"'),
    "torch.stft": ("return_complex", 9, "True", "for real signals torch raises an error without it"),
}  # fmt: skip


class ExplicitArgumentMissing(StaticRule, code="S726", cause="API-USAGE"):
    """An argument is left out whose default torch has announced to change or to take away.

    `checkpoint()` without `use_reentrant` and `meshgrid()` without `indexing` work today with a warning; later they will fail, or quietly
    give another result (a transposed grid). The present default of `checkpoint` also computes no gradients when no input asks for
    one. `stft()` of a real signal without `return_complex` fails already.

    Write the argument. Told once per file and function, and not inside packages, which must run with several versions.
    """

    message = "This argument must be given."
    triggers = ("utils.checkpoint", "utils import checkpoint", "meshgrid(", "stft(")
    needs = "torch"
    patterns = (NOWHERE,)  # nothing is evaluated

    GOOD = (
        Snippet("given", "import torch\nfrom torch.utils.checkpoint import checkpoint\n\ny = checkpoint(block, x, use_reentrant=False)\ngrid = torch.meshgrid(a, b, indexing='ij')\n"),
        Snippet("may be given", "import torch\n\ngrid = torch.meshgrid(a, b, **options)\n"),
        Snippet("one vector", "import torch\n\ngrid, = torch.meshgrid(a)\n"),
        Snippet("a test for the version", "import torch\n\nif TORCH_VERSION >= (1, 10):\n    grid = torch.meshgrid(a, b, indexing='ij')\nelse:\n    grid = torch.meshgrid(a, b)\n"),
    )  # fmt: skip
    BAD = (
        mended("checkpoint", "from torch.utils.checkpoint import checkpoint\n\ny = checkpoint(block, x⟨ → , use_reentrant=False⟩)\n"),
        Snippet("by its module", "import torch.utils.checkpoint as cp\n\ndef run(blocks, x):\n    for block in blocks:\n        x = cp.checkpoint(block, x)\n    return x\n", line=5),
        mended("meshgrid", 'import torch as th\n\nu, v = th.meshgrid(th.arange(3), th.arange(4)⟨ → , indexing="ij"⟩)\n'),
        Snippet("spectrum", "import torch\n\nspectrum = torch.stft(wave, 512)\n", line=3),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        told: set[str] = set()
        for node, qualified in sorted(program.references, key=lambda found: getattr(found[0], "lineno", 0)):
            wanted = _WANTED.get(qualified)
            if wanted is None or qualified in told:
                continue
            call = program.parent(node)
            if not isinstance(call, ast.Call) or call.func is not node:
                continue
            if _may_hold(call, wanted[0], wanted[1]):
                continue
            if qualified == "torch.meshgrid" and len(call.args) < 2:
                continue
            if is_chosen_by_version(program, call) or in_package(program):
                continue
            told.add(qualified)
            argument, _, value, why = wanted
            text = f"{qualified.rpartition('.')[2]}() needs {argument}=: {why}; write {argument}={value}."
            safety = "safe" if qualified == "torch.meshgrid" else "unsafe"
            fix = Fix(f"Give {argument}={value}", with_argument(program, call, argument, value), safety)
            yield self.finding(program, call, text, fix=fix)


def _may_hold(call: ast.Call, name: str, position: int | None) -> bool:
    """Is the argument given, or may a star hold it?"""
    if any(isinstance(given, ast.Starred) for given in call.args) and name != "use_reentrant":
        return True
    return (
        any(keyword.arg is None for keyword in call.keywords)
        or argument_node(call, name, position) is not None
    )
