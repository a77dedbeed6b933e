from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.text.edits import wrap
from netmend.vocabulary.finding import Finding, Fix

_METHODS = ("step", "zero_grad", "backward", "eval", "train")
_ENDS = ("\n", "  #", " #", ";", "\r")
HEAD = """\
import torch

for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
"""


@register
class MethodNotCalled(StaticRule):
    """A method stands alone on a line without brackets: `optimizer.step`.

    Python looks the method up and throws it away. Nothing is called: without `step()` the weights stay as they are, without
    `zero_grad()` gradients pile up, without `eval()` dropout stays on.

    Write the brackets: `optimizer.step()`.
    """

    code = "S707"
    cause = "API-CALL-MISSING"
    message = "The method is named but not called; add the parentheses."
    triggers = tuple(f".{method}{end}" for method in _METHODS for end in _ENDS)

    GOOD = (
        Snippet("called", HEAD + "    optimizer.step()\n"),
        Snippet("handed on", HEAD + "    hooks.append(\n        optimizer.step\n    )\n    update = optimizer.step\n"),
        Snippet("tried", "try:\n    model.train\nexcept AttributeError:\n    model = wrap(model)\n"),
        Snippet("expected to fail", "import pytest\n\nwith pytest.raises(AttributeError):\n    model.step\n"),
    )  # fmt: skip
    BAD = (
        Snippet("step", HEAD + "    optimizer.step\n", line=7, fixed=HEAD + "    optimizer.step()\n"),
        Snippet("eval in a class", "import torch\n\nclass Trainer:\n    def validate(self):\n        self.model.eval  # no dropout\n        return run(self.model)\n", line=5,
                fixed="import torch\n\nclass Trainer:\n    def validate(self):\n        self.model.eval()  # no dropout\n        return run(self.model)\n"),
        Snippet("backward", "import torch\n\ndef train(model, loader, opt):\n    for x in loader:\n        opt.zero_grad()\n        model(x).sum().backward\n        opt.step()\n",
                line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for node in ast.walk(program.tree):
            if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Attribute):
                continue
            method = node.value
            if method.attr not in _METHODS or any(
                isinstance(above, ast.Try | ast.With) for above in _blocks(program, node)
            ):
                continue
            edits = wrap(program, method, "", "()")
            text = f"{method.attr} is named but not called; write {method.attr}()."
            yield self.finding(program, method, text, fix=Fix("Call it", edits, "safe") if edits else None)


def _blocks(program: Program, node: ast.AST) -> Iterator[ast.AST]:
    """What stands around, up to the function: a `try` or a `with` may be about the look-up itself."""
    for above in program.above(node):
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
            return
        if isinstance(above, ast.With) and not any(
            "raises" in program.source(item.context_expr).lower() for item in above.items
        ):
            continue
        if isinstance(above, ast.Try) and all(map(_is_about_more, above.handlers)):
            continue
        yield above


def _is_about_more(handler: ast.ExceptHandler) -> bool:
    """Does it catch something that a look-up does not raise: `except KeyboardInterrupt:`?"""
    caught = ast.unparse(handler.type) if handler.type is not None else ""
    return bool(caught) and not any(word in caught for word in ("Attribute", "Exception"))
