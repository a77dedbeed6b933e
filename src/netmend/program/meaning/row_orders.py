"""Rows of tables, arrays and listings: which of what source, in which order, and what their labels stand for."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from dataclasses import dataclass, field, replace

from netmend.program.engine.values import Value

SOME, SORTED, MIXED, ANY = "some", "sorted", "mixed", "any"
DRAWN = "drawn"  # in the key of a step: the new order is a random one


@dataclass(frozen=True)
class Step:
    """One thing that was done to rows: some were taken, they were sorted, mixed, or came in any order. Two equal steps do the same."""

    kind: str
    key: Hashable
    node: ast.AST | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Rows:
    """Rows of one source, and what was done to them since."""

    source: Value
    steps: tuple[Step, ...] = ()

    def then(self, step: Step) -> Rows:
        if step.kind in (SORTED, ANY):  # whatever order there was before
            kept = tuple(one for one in self.steps if one.kind == SOME)
            return replace(self, steps=(*kept, step))
        return replace(self, steps=(*self.steps, step))

    @property
    def order(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.kind != SOME)


@dataclass(frozen=True)
class Table:
    """A table, column, array or list. `labels`: the rows that the labels counted when they were given; None: no labels, or unknown ones."""

    rows: Rows
    labels: Rows | None = None
    is_column: bool = False
    numbered: ast.AST | None = field(default=None, compare=False)  # where the labels were given

    def taken(self, step: Step) -> Table:
        return replace(self, rows=self.rows.then(step))

    def anew(self, node: ast.AST | None) -> Table:
        """With labels from 0 on."""
        return replace(self, labels=self.rows, numbered=node)

    def array(self) -> Table:
        return replace(self, labels=None, is_column=False)
