"""R315."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.program.source.writing import replace
from netmend.program.text.file import File
from netmend.program.text.queries import last_name
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import FREE, Change, FileEdits

_ROWS = re.compile(r"Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)")
_SIZE = re.compile(r"is invalid for input of size (\d+)")


_example = partial(
    example, loss="nn.functional.cross_entropy(model(torch.randn(4, 1, 6, 6)), torch.arange(4) % 3)"
)


@register
@dataclass(frozen=True)
class FlattenSize:
    """Let flattening keep the samples apart, and the layer behind take as many numbers as a sample has.

    `view(-1, n)` with a wrong n makes more or fewer rows than there are samples: the program stops there, or in the loss.
    """

    code: ClassVar[str] = "R315"
    cures: ClassVar[tuple[str, ...]] = ("TSR-SHAPE",)
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        for file, call in self._views(case):
            holder = call.func.value if isinstance(call.func, ast.Attribute) else None
            old = _number(call.args[1])
            samples = case.model.input_shapes[0][0] if case.model and case.model.input_shapes else 0
            size = _per_sample(case.trace.run.exception or "", old, samples)
            if holder is None or not isinstance(holder, ast.Name) or not size or old is None:
                continue
            edits = (
                *replace(file, call.args[0], f"{holder.id}.size(0)"),
                *replace(file, call.args[1], "-1"),
                *(self._layer(case, old, size) if size != old else ()),
            )
            title = f"flatten each sample to {size} numbers"
            yield from change(self, case, title, edits, knob="flattening")
            return

    @staticmethod
    def _views(case: Case) -> Iterator[tuple[File, ast.Call]]:
        """`x.view(-1, n)` on the fault's line and on that of the exception."""
        sites = (case.fault.site if case.fault is not None else None, case.trace.run.exception_site)
        for site in sites:
            found = case.code.statement_at(site)
            for call in found[0].calls("view", "reshape", inside=found[1]) if found is not None else ():
                if (
                    found is not None
                    and len(call.args) == 2
                    and isinstance(call.args[0], ast.UnaryOp | ast.Constant)
                ):
                    yield found[0], call

    @staticmethod
    def _layer(case: Case, old: int, size: int) -> FileEdits:
        """The linear layer that was made for the old number."""
        for module in case.trace.all(ModuleFact):
            if module.kind == "Linear" and module.settings.get("in_features") == old:
                found = case.code.call_at(module.created)
                value = None if found is None else case.sources.argument(found[1], "in_features", 0)
                if found is not None and value is not None and last_name(found[1].func) == "Linear":
                    return replace(found[0], value, str(size))
        return ()

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "a number that does not divide",
            layers="self.conv = nn.Conv2d(1, 2, 3)\nself.fc = nn.Linear(⟨2 * 5 * 5 → 32⟩, 3)",
            forward="""
                x = self.conv(x)
                x = x.view(⟨-1, 2 * 5 * 5 → x.size(0), -1⟩)
                return self.fc(x)""",
            mark="x.view",
            raises=True,
        ),
        _example(
            "samples are torn apart",
            layers="self.conv = nn.Conv2d(1, 2, 3)\nself.fc = nn.Linear(⟨16 → 32⟩, 3)",
            forward="""
                x = self.conv(x)
                x = x.reshape(⟨-1, 16 → x.size(0), -1⟩)
                return self.fc(x)""",
            mark="x.reshape",
            raises=True,
        ),
        _example(
            "a size that fits",
            layers="self.conv = nn.Conv2d(1, 2, 3)\nself.fc = nn.Linear(32, 3)",
            forward="""
                x = self.conv(x)
                x = ⟨x.view(-1, 32)⟩
                return self.fc(x)""",
        ),
    )


def _per_sample(text: str, old: int | None, samples: int) -> int:
    """How many numbers a sample has, told from the exception; 0 when it cannot be told."""
    rows, size = _ROWS.search(text), _SIZE.search(text)
    if rows is not None and old is not None:
        total, count = int(rows[1]) * old, int(rows[2])
    elif size is not None:
        total, count = int(size[1]), samples
    else:
        return 0
    return total // count if count and total % count == 0 else 0


def _number(node: ast.expr) -> int | None:
    """The value of `400` or `16 * 5 * 5`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = _number(node.left), _number(node.right)
        return None if left is None or right is None else left * right
    return None
