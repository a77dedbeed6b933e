from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Event, before
from netmend.program.engine.program import Program
from netmend.program.engine.values import constant
from netmend.program.meaning.training import backward_calls
from netmend.vocabulary.finding import Finding

_MODES = ("torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.autograd.no_grad", "torch.autocast", "torch.amp.autocast",
          "torch.cuda.amp.autocast")  # fmt: skip


@register
class ModeWithoutEffect(StaticRule):
    """`torch.no_grad()` stands alone on a line, or gradients are switched off for good before training.

    `torch.no_grad()`, `inference_mode()` and `autocast()` act inside a `with` or as a decorator; alone they do nothing.
    `torch.set_grad_enabled(False)` is the opposite: it acts at once and until it is undone, so a later `backward()` fails.

    Write `with torch.no_grad():` around the code that it is meant for.
    """

    code = "S714"
    cause = "LOOP-NO-GRAD"
    message = "Alone on a line this does nothing; write `with torch.no_grad():` around the code."
    triggers = ("no_grad(", "enable_grad(", "inference_mode(", "autocast(", "set_grad_enabled(")
    patterns = (
        r"^[ \t]*(?:torch|th)\.(?:autograd\.|amp\.|cuda\.amp\.)?(?:no_grad|enable_grad|inference_mode|set_grad_enabled|autocast)\(",
    )

    GOOD = (
        Snippet("with", "import torch\n\nwith torch.no_grad():\n    out = model(x)\n"),
        Snippet("decorator", "import torch\n\n@torch.no_grad()\ndef predict(model, x):\n    return model(x)\n"),
        Snippet("kept for later", "import torch\n\nmode = torch.no_grad()\nwith mode:\n    out = model(x)\n"),
        Snippet("off in a program that only predicts", "import torch\n\ntorch.set_grad_enabled(False)\nprint(model(x))\n"),
        Snippet("off and on again", "import torch\n\ntorch.set_grad_enabled(False)\nscore = model(x)\ntorch.set_grad_enabled(True)\nmodel(x).sum().backward()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("alone", "import torch\n\ndef evaluate(model, loader):\n    model.eval()\n    torch.no_grad()\n    return [model(x) for x in loader]\n", line=5),
        Snippet("autocast alone", "from torch import autocast\n\nautocast('cuda')\nout = model(x)\n", line=3),
        Snippet("off before training", "import torch\n\ntorch.set_grad_enabled(False)\nfor x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    optimizer.step()\n",
                line=3),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for event in program.calls_of(*_MODES):
            if isinstance(program.parent(event.node), ast.Expr):
                name = event.value.qualified.rpartition(".")[2]  # type: ignore[attr-defined]
                yield self.finding(
                    program,
                    event.node,
                    f"Alone on a line, {name}() does nothing; write `with` before it and indent the code.",
                )
        for event in program.calls_of("torch.set_grad_enabled"):
            if (
                isinstance(program.parent(event.node), ast.Expr)
                and self._is_off(event)
                and self._stays(program, event)
            ):
                yield self.finding(
                    program,
                    event.node,
                    "Gradients stay off from here on and backward() fails; use `with torch.no_grad():` instead.",
                )

    @staticmethod
    def _is_off(event: Event) -> bool:
        return event.call is not None and constant(event.call.argument("mode", 0), True) is False

    @staticmethod
    def _stays(program: Program, off: Event) -> bool:
        """Is a backward reached with nothing that switches gradients on again?"""
        if not program.entry_of(off).complete:
            return False
        again = [*program.calls_of("torch.set_grad_enabled", "torch.enable_grad")]
        return any(
            before(off, backward) and not any(other is not off and off.order < other.order for other in again)
            for backward in backward_calls(program)
        )
