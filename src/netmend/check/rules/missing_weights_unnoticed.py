from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import constant
from netmend.vocabulary.finding import Finding


@register
class MissingWeightsUnnoticed(StaticRule):
    """`load_state_dict(…, strict=False)` is called and what it returns is not looked at.

    With `strict=False` names that do not match are skipped without a word. A checkpoint with another prefix (`module.`, `model.`)
    then loads nothing at all, and the model starts from random weights.

    Look at the result: `missing, unexpected = model.load_state_dict(state, strict=False)`; stop where something is missing that
    should not be.
    """

    code = "S711"
    cause = "TRN-CKPT"
    message = "Weights that do not match are skipped silently; check the missing and unexpected keys that this call returns."
    advisory = True
    triggers = ("strict=False",)

    GOOD = (
        Snippet("strict", "import torch\n\nmodel.load_state_dict(torch.load('a.pt'))\n"),
        Snippet(
            "looked at",
            "import torch\n\nmissing, unexpected = model.load_state_dict(state, strict=False)\nassert not missing\n",
        ),
        Snippet(
            "another strict",
            "import torch\n\npairs = zip(a, b, strict=False)\nmodel.load_state_dict(state, strict=True)\n",
        ),
    )
    BAD = (
        Snippet("script", "import torch\n\nmodel.load_state_dict(state, strict=False)\n", line=3),
        Snippet("class", "import torch\n\nclass Runner:\n    def load(self, path):\n        self.net.load_state_dict(torch.load(path)['net'], strict=False)\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for event in program.methods_of("load_state_dict"):
            call = event.call
            if call is None or constant(call.keywords.get("strict"), True) is not False:
                continue
            if isinstance(program.parent(event.node), ast.Expr):
                yield self.finding(program, event.node)
