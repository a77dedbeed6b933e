"""R518."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.program.source.writing import replace
from netmend.program.text.queries import last_name
from netmend.repair.repair import Case, change, register
from netmend.testing.example import Example, example
from netmend.vocabulary.change import FREE, Change

_example = partial(
    example,
    model="nn.Linear(2, 1)",
    optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
    raises=True,
)
_STEP = """
    optimizer.zero_grad()
    model(torch.ones(4, 2)).mean().backward()
    optimizer.step()
    for p in model.parameters():
        p.requires_grad = False
    score = model(torch.ones(1, 2)).item()
    for p in model.parameters():
        p.requires_grad = {}"""


@register
@dataclass(frozen=True)
class ReleaseFrozen:
    """Let a network learn again that was frozen for a part of the step.

    An actor's update freezes the critic and releases it afterwards. Where both loops say False, the critic's next loss has nothing to go back
    through; the later of the two is meant to say True.
    """

    code: ClassVar[str] = "R518"
    cures: ClassVar[tuple[str, ...]] = ("LOS-GRAPH-CUT", "LOOP-FREEZE")
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        for file in case.code.files():
            settings: dict[tuple[ast.AST | None, str], list[ast.Constant]] = {}
            for node in ast.walk(file.tree):
                if isinstance(node, ast.For) and (found := _setting(node)) is not None:
                    settings.setdefault((file.function(node), file.source(node.iter)), []).append(found)
            for values in settings.values():
                values.sort(key=lambda value: value.lineno)
                if len(values) > 1 and all(value.value is False for value in values):
                    edits = replace(file, values[-1], "True")
                    yield from change(
                        self, case, "let the frozen network learn again", edits, knob="requires_grad"
                    )
                    return

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example("frozen twice", step=_STEP.format("⟨False → True⟩")),
        _example("frozen and released", step=_STEP.format("⟨True⟩"), raises=False),
        _example("frozen once", step=_STEP.split("    score")[0].replace("False", "⟨False⟩")),
    )


def _setting(loop: ast.For) -> ast.Constant | None:
    """The value in `for p in net.parameters(): p.requires_grad = …`."""
    is_over_parameters = isinstance(loop.iter, ast.Call) and last_name(loop.iter.func) == "parameters"
    statement = loop.body[0]
    if not is_over_parameters or len(loop.body) != 1 or not isinstance(statement, ast.Assign):
        return None
    target, value = statement.targets[0], statement.value
    is_switch = isinstance(target, ast.Attribute) and target.attr == "requires_grad"
    return value if is_switch and isinstance(value, ast.Constant) else None
