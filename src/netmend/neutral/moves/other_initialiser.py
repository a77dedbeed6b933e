"""N105."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.network.first_values import without
from netmend.neutral.move import moved, register
from netmend.program.source.naming import qualified, spelled
from netmend.program.source.writing import replace
from netmend.program.text.file import File
from netmend.repair.repair import Case, Example
from netmend.vocabulary.change import BY_FACTS, Change

# Function, further arguments, whether it needs a matrix.
KINDS = (
    ("xavier_uniform_", "", True),
    ("xavier_normal_", "", True),
    ("kaiming_uniform_", "", True),
    ("kaiming_normal_", "", True),
    ("normal_", ", std=0.05", False),
    ("uniform_", ", -0.05, 0.05", False),
    ("zeros_", "", False),
    ("ones_", "", False),
)
_TAIL = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))
    loss.backward()
    optimizer.step()
"""


@register
@dataclass(frozen=True)
class OtherInitialiser:
    """Other first values for weights or biases that the program sets itself.

    Glorot's and He's, uniform and normal, small random values, zeros, ones; or the framework's own, without the line.
    """

    code: ClassVar[str] = "N105"
    causes: ClassVar[tuple[str, ...]] = ("ARC-INIT-WEIGHT", "ARC-INIT-BIAS")
    effort: ClassVar[int] = BY_FACTS

    def propose(self, case: Case) -> Iterator[Change]:
        for file in case.code.files(case.trace.run.script):
            for call in file.calls():
                full = qualified(file, call.func)
                if full.startswith("torch.nn.init.") and call.args and full.endswith("_"):
                    yield from self._others(file, call, full.rpartition(".")[2])

    def _others(self, file: File, call: ast.Call, present: str) -> Iterator[Change]:
        target = file.source(call.args[0])
        bias = "bias" in target.rpartition(".")[2]
        cause = "ARC-INIT-BIAS" if bias else "ARC-INIT-WEIGHT"
        knob = (
            f"first values of {target}, line {call.lineno}"
            if file.loop(call)
            else f"first values of {target}"
        )
        statement = file.statement(call)
        if isinstance(statement, ast.Expr) and statement.value is call:
            edits, _ = without(file, [statement])
            yield from moved(self, cause, f"{target}: the framework's own first values", edits, knob=knob)
        for name, more, matrix in KINDS:
            if name == present or (matrix and bias):
                continue
            written, extra = spelled(file, f"torch.nn.init.{name}", like=call.func)
            edits = (*replace(file, call, f"{written}({target}{more})"), *extra)
            yield from moved(self, cause, f"{target}: {present} → {name}", edits, knob=knob)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "the framework's own",
            before=f"""
import torch
from torch import nn
model = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
nn.init.zeros_(model[0].weight)
nn.init.zeros_(model[2].weight)
{_TAIL}""",
            old="nn.init.zeros_(model[0].weight)\n",
            new="",
        ),
        Example(
            "Glorot's, in a function",
            before=f"""
import torch
from torch import nn
from torch.nn.init import constant_
def start(module):
    if isinstance(module, nn.Linear):
        constant_(module.weight, 0.5)
        constant_(module.bias, 0.5)
model = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
model.apply(start)
{_TAIL}""",
            old="constant_\ndef start(module):\n    if isinstance(module, nn.Linear):\n        constant_(module.weight, 0.5)",
            new="constant_, xavier_uniform_\ndef start(module):\n    if isinstance(module, nn.Linear):\n        xavier_uniform_(module.weight)",
            nth=1,
        ),
        Example(
            "a bias is no matrix",
            before=f"""
import torch
from torch import nn
model = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
nn.init.ones_(model[0].bias)
{_TAIL}""",
            old="nn.init.ones_(model[0].bias)",
            new="nn.init.normal_(model[0].bias, std=0.05)",
            nth=1,
        ),
        Example(
            "nothing is set by the program",
            before=f"""
import torch
from torch import nn
model = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
{_TAIL}""",
        ),
    )
