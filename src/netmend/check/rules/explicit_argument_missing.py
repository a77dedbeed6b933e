from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.arguments import argument_node, with_argument
from netmend.program.meaning.removed_symbols import in_package, is_chosen_by_version
from netmend.vocabulary.finding import Finding, Fix

# The function, the argument, its position, what to write, why.
_WANTED: dict[str, tuple[str, int | None, str, str]] = {
    "torch.utils.checkpoint.checkpoint": ("use_reentrant", None, "False", "torch will raise an error without it"),
    "torch.meshgrid": ("indexing", None, '"ij"', 'the default will change to "xy"'),
    "torch.stft": ("return_complex", 9, "True", "for real signals torch raises an error without it"),
}  # fmt: skip


@register
class ExplicitArgumentMissing(StaticRule):
    """An argument is left out whose default torch has announced to change or to take away.

    `checkpoint()` without `use_reentrant` and `meshgrid()` without `indexing` work today with a warning; later they will fail, or quietly
    give another result (a transposed grid). The present default of `checkpoint` also computes no gradients when no input asks for
    one. `stft()` of a real signal without `return_complex` fails already.

    Write the argument. Told once per file and function, and not inside packages, which must run with several versions.
    """

    code = "S726"
    cause = "API-USAGE"
    message = "This argument must be given."
    triggers = ("utils.checkpoint", "utils import checkpoint", "meshgrid(", "stft(")
    needs = "torch"
    patterns = (r"(?!)",)  # nothing is evaluated

    GOOD = (
        Snippet("given", "import torch\nfrom torch.utils.checkpoint import checkpoint\n\ny = checkpoint(block, x, use_reentrant=False)\ngrid = torch.meshgrid(a, b, indexing='ij')\n"),
        Snippet("may be given", "import torch\n\ngrid = torch.meshgrid(a, b, **options)\n"),
        Snippet("another meshgrid", "import numpy as np\nimport torch\n\ngrid = np.meshgrid(a, b)\n"),
        Snippet("one vector", "import torch\n\ngrid, = torch.meshgrid(a)\n"),
        Snippet("a test for the version", "import torch\n\nif TORCH_VERSION >= (1, 10):\n    grid = torch.meshgrid(a, b, indexing='ij')\nelse:\n    grid = torch.meshgrid(a, b)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("checkpoint", "from torch.utils.checkpoint import checkpoint\n\ny = checkpoint(block, x)\n", line=3,
                fixed="from torch.utils.checkpoint import checkpoint\n\ny = checkpoint(block, x, use_reentrant=False)\n"),
        Snippet("by its module", "import torch.utils.checkpoint as cp\n\ndef run(blocks, x):\n    for block in blocks:\n        x = cp.checkpoint(block, x)\n    return x\n", line=5),
        Snippet("meshgrid", "import torch as th\n\nu, v = th.meshgrid(th.arange(3), th.arange(4))\n", line=3,
                fixed="import torch as th\n\nu, v = th.meshgrid(th.arange(3), th.arange(4), indexing=\"ij\")\n"),
        Snippet("spectrum", "import torch\n\nspectrum = torch.stft(wave, 512)\n", line=3),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        told: set[str] = set()
        for node, qualified in sorted(program.references, key=lambda found: getattr(found[0], "lineno", 0)):
            wanted = _WANTED.get(qualified)
            if wanted is None or qualified in told:
                continue
            call = program.parent(node)
            if (
                not isinstance(call, ast.Call)
                or call.func is not node
                or _may_hold(call, wanted[0], wanted[1])
            ):
                continue
            if qualified == "torch.meshgrid" and len(call.args) < 2:
                continue
            if is_chosen_by_version(program, call) or in_package(program):
                continue
            told.add(qualified)
            argument, _, value, why = wanted
            text = f"{qualified.rpartition('.')[2]}() needs {argument}=: {why}; write {argument}={value}."
            safety = "safe" if qualified == "torch.meshgrid" else "unsafe"
            edits = with_argument(program, call, argument, value)
            fix = Fix(f"Give {argument}={value}", edits, safety) if edits else None
            yield self.finding(program, call, text, fix=fix)


def _may_hold(call: ast.Call, name: str, position: int | None) -> bool:
    """Is the argument given, or may a star hold it?"""
    if any(isinstance(given, ast.Starred) for given in call.args) and name != "use_reentrant":
        return True
    return (
        any(keyword.arg is None for keyword in call.keywords)
        or argument_node(call, name, position) is not None
    )
