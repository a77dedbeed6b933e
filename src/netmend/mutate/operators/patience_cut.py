"""M111."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.loop_code import targets_of
from netmend.mutate.examples import STACK, VALIDATED
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.program.source.numbers import number, set_number
from netmend.program.text.file import File
from netmend.program.text.queries import last_name
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class PatienceCut:
    """Make early stopping less patient.

    Training ends at the first chance fluctuation of the validation loss.
    """

    code: ClassVar[str] = "M111"
    causes: ClassVar[tuple[str, ...]] = ("HYP-EPOCH-FEW",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("RCP",)

    def propose(self, case: Case) -> Iterator[Mutation]:
        for file, value, present in _patience(case):
            for index, left in enumerate(dict.fromkeys((max(1, present // 3), 1)), 1):
                faces = set_number(case.code, file, value, str(left), case.arguments)
                title = f"patience {present} → {left}"
                yield from mutation(self, title, faces, grade=index / 2, parameter=str(left), value=left)

    def knobs(self, case: Case) -> Iterator[Knob]:
        """Epochs without improvement that are waited for, from the program's own number down to 1."""
        for file, value, present in _patience(case):
            yield from knob(
                self,
                "less patience",
                Scale(present, 1, 1, whole=True),
                lambda left: set_number(case.code, file, value, str(int(left)), case.arguments),  # noqa: B023 - there is one
                told=f"patience {present} → {{}}",
            )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("a literal", VALIDATED, old='float("inf"), 0, 4', new='float("inf"), 0, 1'),
        Example("no early stopping", STACK),
    )


def _patience(case: Case) -> list[tuple[File, ast.expr, int]]:
    """The number that a count of epochs without improvement is compared with; none where it is not the only one."""
    found: dict[tuple[str, int, int], tuple[File, ast.expr, int]] = {}
    for file in case.code.files(case.trace.run.script):
        for node in ast.walk(file.tree):
            sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
            counters = [side for side in sides if _counts_misses(file, side)]
            if len(sides) != 2 or len(counters) != 1:
                continue
            other = sides[1] if sides[0] is counters[0] else sides[0]
            known = number(case.code, file, other, case.arguments)
            if isinstance(known, int) and known > 1:
                found[file.file, other.lineno, other.col_offset] = (file, other, known)
    return list(found.values()) if len(found) == 1 else []


def _counts_misses(file: File, side: ast.expr) -> bool:
    """Whether a name is raised by one here and put back to nothing in another branch there."""
    name = file.source(side)
    if not last_name(side) or not isinstance(side, ast.Name | ast.Attribute):
        return False
    scope = file.function(side) or file.tree
    raised = cleared = False
    for node in ast.walk(scope):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            raised = raised or file.source(node.target) == name
        if isinstance(node, ast.Assign) and any(isinstance(above, ast.If) for above in file.parents(node)):
            written = [file.source(target) for target in targets_of(node)]
            zero = any(isinstance(part, ast.Constant) and part.value == 0 for part in ast.walk(node.value))
            cleared = cleared or (name in written and zero)
    return raised and cleared
