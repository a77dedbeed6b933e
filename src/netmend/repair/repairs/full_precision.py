"""R410."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.diagnose.measures.loop import calls
from netmend.program.source.moving import taken_out
from netmend.program.source.naming import qualified
from netmend.program.source.writing import add_argument, replace, unwrap_method
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary.change import BY_FACTS, Change, FileEdits

_HALF = ("float16", "bfloat16")
_CASTS = ("half", "bfloat16")
_TYPES = {
    "torch.float16": "float32",
    "torch.half": "float32",
    "torch.bfloat16": "float32",
    "numpy.float16": "float32",
    "numpy.half": "float32",
}


_example = partial(
    example,
    model="nn.Linear(3, 1)",
    optimizer="torch.optim.SGD(model.parameters(), lr=1e-6)",
    loop="for step in range(5)",
)


@register
@dataclass(frozen=True)
class FullPrecision:
    """Keep weights and data in float32.

    In half precision a weight plus a small update is the same weight again, and values beyond 65504 overflow. Training takes more memory
    and, on a device made for it, more time; automatic mixed precision gives most of that back.
    """

    code: ClassVar[str] = "R410"
    cures: ClassVar[tuple[str, ...]] = ("LOOP-AMP", "PRE-WRONG-DTYPE")
    effort: ClassVar[int] = BY_FACTS
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        if any(parameter.trainable and parameter.dtype in _HALF for parameter in case.trace.parameters):
            edits = tuple(edit for file in case.code.files() for edit in self._casts(file))
            yield from change(self, case, "weights and data in float32", edits, knob="precision")
        elif any(call.detail.startswith("skipped") for _, call in calls(case.trace, "step")):
            # Values overflow although the scale was lowered: a wider range, or none of it.
            for title, argument in (("mixed precision in bfloat16", "bfloat16"), ("no mixed precision", "")):
                edits = tuple(edit for file in case.code.files() for edit in self._autocast(file, argument))
                yield from change(self, case, title, edits, knob="precision")

    def _casts(self, file: File) -> FileEdits:
        """Every cast to half precision that is not a part of mixed precision."""
        edits: list[FileEdits] = []
        for node in inside(file.tree, ast.Call, ast.Attribute):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
                if node.func.attr in _CASTS and not qualified(file, node.func):
                    statement = file.parent(node)
                    if isinstance(statement, ast.Expr):
                        edits.append(taken_out(file, statement))
                    elif (
                        isinstance(node.func.value, ast.Call)
                        and last_name(node.func.value.func)[:1].isupper()
                    ):
                        edits.append(unwrap_method(file, node))  # Net().half()
                    else:
                        edits.append(replace(file, node, f"{file.source(node.func.value)}.float()"))
            elif isinstance(node, ast.Attribute) and not self._is_mixed(file, node):
                wanted = _TYPES.get(qualified(file, node), "")
                if wanted:
                    edits.append(replace(file, node, f"{file.source(node.value)}.{wanted}"))
        return tuple(edit for part in edits for edit in part)

    def _is_mixed(self, file: File, node: ast.AST) -> bool:
        return any(
            isinstance(above, ast.Call) and last_name(above.func) in ("autocast", "Policy", "MixedPrecision")
            for above in file.parents(node)
        )

    def _autocast(self, file: File, dtype: str) -> FileEdits:
        edits: list[FileEdits] = []
        for call in file.calls("autocast"):
            name, text = ("dtype", f"torch.{dtype}") if dtype else ("enabled", "False")
            given = next((keyword for keyword in call.keywords if keyword.arg == name), None)
            if given is not None:
                edits.append(replace(file, given.value, text))
            else:
                edits.append(add_argument(file, call, f"{name}={text}"))
        return tuple(edit for part in edits for edit in part)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "a model in half precision",
            helpers="- model.half()  # faster",
            step="""
                x, y = torch.randn(8, 3).⟨half(), torch.randn(8, 1, dtype=torch.float16) → float(), torch.randn(8, 1, dtype=torch.float32)⟩
                optimizer.zero_grad()
                ((model(x) - y) ** 2).mean().backward()
                optimizer.step()""",
        ),
        _example(
            "made so and moved so",
            model="nn.Sequential(nn.Linear(3, 1)).to(torch.⟨bfloat16 → float32⟩)",
            step="""
                x = torch.randn(8, 3)
                optimizer.zero_grad()
                model(x.to(model[0].weight.dtype)).mean().backward()
                optimizer.step()""",
            cause="PRE-WRONG-DTYPE",
        ),
        _example(
            "mixed precision keeps its weights in float32",
            optimizer="⟨torch.optim.SGD(model.parameters(), lr=1e-2)⟩",
            loop="for step in range(3)",
            step="""
                optimizer.zero_grad()
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    loss = model(torch.randn(8, 3)).mean()
                loss.backward()
                optimizer.step()""",
        ),
    )
