"""N107."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.neutral.move import moved, register
from netmend.program.source.naming import qualified, spelled
from netmend.program.source.writing import replace
from netmend.repair.repair import Case, Example
from netmend.vocabulary.change import SHORT_SEARCH, Change

KINDS = ("SGD", "Adam", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "AdamW")
_SHARED = ("weight_decay",)  # means the same to all of them
_STEPS = """
for step in range(3):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(torch.ones(4, 2)), torch.ones(4, 1)).backward()
    optimizer.step()
"""


@register
@dataclass(frozen=True)
class OtherOptimizer:
    """An optimiser of another kind at the same learning rate.

    Weight decay stays; what only the old one knows (momentum, betas) is left out.
    """

    code: ClassVar[str] = "N107"
    causes: ClassVar[tuple[str, ...]] = ("OPT-SELECT",)
    effort: ClassVar[int] = SHORT_SEARCH

    def propose(self, case: Case) -> Iterator[Change]:
        for optimizer in case.trace.optimizers:
            found = case.code.call_at(optimizer.created)
            if found is None:
                continue
            file, call = found
            given = {keyword.arg: file.source(keyword.value) for keyword in call.keywords}
            starred = any(isinstance(value, ast.Starred) for value in call.args)
            if None in given or starred or not qualified(file, call.func).startswith("torch.optim."):
                continue  # `**settings` may hold anything
            given |= dict(zip(("params", "lr"), map(file.source, call.args), strict=False))
            texts = [given.get("params", ""), *([f"lr={given['lr']}"] if "lr" in given else [])]
            texts += [f"{name}={given[name]}" for name in _SHARED if name in given]
            for kind in KINDS:
                if kind == optimizer.kind or not texts[0]:
                    continue
                name, extra = spelled(file, f"torch.optim.{kind}", like=call.func)
                edits = (*replace(file, call, f"{name}({', '.join(texts)})"), *extra)
                yield from moved(self, "OPT-SELECT", f"{optimizer.kind} → {kind}", edits, knob=optimizer.name)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "momentum goes, the rate and the decay stay",
            before=f"""
import torch
from torch import nn
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9, weight_decay=1e-4)
{_STEPS}""",
            old="SGD(model.parameters(), 0.01, momentum=0.9, weight_decay=1e-4)",
            new="Adam(model.parameters(), lr=0.01, weight_decay=1e-4)",
        ),
        Example(
            "imported by name",
            before=f"""
import torch
from torch import nn
from torch.optim import Adam
model = nn.Linear(2, 1)
optimizer = Adam(model.parameters(), lr=0.01)
{_STEPS}""",
            old="import Adam\nmodel = nn.Linear(2, 1)\noptimizer = Adam(",
            new="import Adam, SGD\nmodel = nn.Linear(2, 1)\noptimizer = SGD(",
        ),
        Example(
            "settings that are unpacked may hold anything",
            before=f"""
import torch
from torch import nn
settings = dict(lr=0.1, momentum=0.5)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), **settings)
{_STEPS}""",
        ),
    )
