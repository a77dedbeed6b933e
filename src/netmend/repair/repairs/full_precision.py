"""R114."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.localise.source import last_name
from netmend.repair.code import File
from netmend.repair.repair import Case, Example, change, register
from netmend.repair.writing import add_argument, replace
from netmend.vocabulary import ParameterFact
from netmend.vocabulary.change import BY_FACTS, Change, FileEdits

_HALF = ("float16", "half", "bfloat16")


@register
@dataclass(frozen=True)
class FullPrecision:
    """Keep the weights in float32, or compute with a format of wider range.

    In half precision a small update is lost, and large values overflow. Weights and data that were converted go back to float32;
    where only autocast is used, it works with bfloat16, then not at all. It costs memory and time.
    """

    code: ClassVar[str] = "R114"
    cures: ClassVar[tuple[str, ...]] = ("LOOP-AMP",)
    effort: ClassVar[int] = BY_FACTS
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        halves = any(_is_half(p.dtype) for p in case.trace.all(ParameterFact))
        if halves:
            edits = tuple(edit for file in self._files(case) for edit in _converted(file))
            yield from change(self, case, "weights and data in float32", edits, knob="precision")
        elif case.trace.environment.autocast:
            blocks = [(file, call) for file in self._files(case) for call in file.calls("autocast")]
            if "bfloat16" not in str(case.trace.environment.autocast):
                edits = tuple(edit for file, call in blocks for edit in _wider(file, call))
                yield from change(self, case, "autocast to bfloat16", edits, knob="precision")
            edits = tuple(edit for file, call in blocks for edit in _off(file, call))
            yield from change(self, case, "without autocast", edits, knob="precision")

    def _files(self, case: Case) -> Iterator[File]:
        return case.code.files(case.trace.run.script)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "weights in half precision",
            before="""
import torch
from torch import nn
model = nn.Linear(2, 1).bfloat16()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
x = torch.ones(4, 2).to(torch.bfloat16)
for step in range(3):
    optimizer.zero_grad()
    model(x).mean().backward()
    optimizer.step()
""",
            old="""nn.Linear(2, 1).bfloat16()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
x = torch.ones(4, 2).to(torch.bfloat16)""",
            new="""nn.Linear(2, 1).float()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
x = torch.ones(4, 2).to(torch.float32)""",
            mark="optim.SGD",
        ),
        Example(
            "float32 throughout",
            before="""
import torch
from torch import nn
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
for step in range(3):
    optimizer.zero_grad()
    model(torch.ones(4, 2)).mean().backward()
    optimizer.step()
""",
            mark="optim.SGD",
        ),
    )


def _is_half(dtype: str) -> bool:
    return dtype.rpartition(".")[2] in _HALF


def _converted(file: File) -> FileEdits:
    """`.half()` → `.float()`, `torch.float16` → `torch.float32`; not within autocast."""
    edits: FileEdits = ()
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Attribute) and node.attr in _HALF:
            if any(
                isinstance(above, ast.Call) and last_name(above.func) == "autocast"
                for above in file.parents(node)
            ):
                continue
            parent = file.parent(node)
            is_method = isinstance(parent, ast.Call) and parent.func is node and not parent.args
            if is_method or node.attr != "half" or file.source(node.value) == "torch":
                name = "float" if is_method else "float32"
                edits += replace(file, node, f"{file.source(node.value)}.{name}")
        elif isinstance(node, ast.Constant) and node.value in ("float16", "bfloat16", "half", "fp16"):
            edits += replace(file, node, '"float32"')
    return edits


def _wider(file: File, call: ast.Call) -> FileEdits:
    given = next((keyword for keyword in call.keywords if keyword.arg == "dtype"), None)
    if given is None:
        return add_argument(file, call, "dtype=torch.bfloat16")
    return replace(file, given.value, "torch.bfloat16")


def _off(file: File, call: ast.Call) -> FileEdits:
    given = next((keyword for keyword in call.keywords if keyword.arg == "enabled"), None)
    return (
        replace(file, given.value, "False")
        if given is not None
        else add_argument(file, call, "enabled=False")
    )
