"""R517."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.program.source.naming import spelled
from netmend.program.source.writing import wrap
from netmend.repair.repair import Case, change, register
from netmend.testing.example import Example, example
from netmend.vocabulary.change import FREE, Change

_example = partial(
    example,
    optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
    backward="(model(torch.ones(4, 2)) - 0.9 * target(torch.ones(4, 2)).detach()).pow(2).mean()",
)


@register
@dataclass(frozen=True)
class CopyTarget:
    """Make the target network a copy of the trained one.

    `target = model` gives one network a second name, and what is copied from it every so often is copied onto itself. A deep copy starts equal
    and stays behind until the program brings it up to date.
    """

    code: ClassVar[str] = "R517"
    cures: ClassVar[tuple[str, ...]] = ("RL-NET-BIASED",)
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        found = None if case.fault is None else case.code.statement_at(case.fault.site)
        if found is None:
            return
        file, statement = found
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name | ast.Attribute):
            name, brought = spelled(file, "copy.deepcopy")
            edits = (*wrap(file, statement.value, f"{name}(", ")"), *brought)
            yield from change(self, case, "a copy as the target network", edits, knob="target network")

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "another name for the same network",
            setup="import copy\ntarget = ⟨model → copy.deepcopy(model)⟩",
        ),
        _example("by its own name", setup="from copy import deepcopy\ntarget = ⟨model → deepcopy(model)⟩"),
        _example("a network of its own", setup="⟨target = nn.Linear(2, 1)⟩"),
    )
