"""Trace: one recorded run, read-only, with the small queries that detectors and reports need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import TypeVar, cast

import numpy as np

from netmend.errors import UsageError
from netmend.vocabulary.batch import BatchPrint
from netmend.vocabulary.event import Event
from netmend.vocabulary.facts import (
    KIND_OF_FACT,
    EnvironmentFact,
    Fact,
    LoaderFact,
    LossFact,
    ModelFact,
    ModuleFact,
    OptimizerFact,
    ParameterFact,
    ProbeFact,
    RunFact,
    TaskFact,
)
from netmend.vocabulary.protocol import Pattern
from netmend.vocabulary.table import COLUMNS, FloatArray, IntArray, Table

AnyFact = TypeVar("AnyFact", bound=Fact)
_MOST_NAMED = 6  # names listed where none is near


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """Facts, tables over time, loop protocol, events and batch fingerprints of one run."""

    facts: Mapping[str, Mapping[str, Fact]] = field(default_factory=dict)  # kind → name → fact
    tables: Mapping[tuple[str, str], Table] = field(default_factory=dict)  # (kind, component) → table
    patterns: tuple[Pattern, ...] = ()
    events: tuple[Event, ...] = ()
    batches: tuple[BatchPrint, ...] = ()

    @property
    def run(self) -> RunFact:
        return next(iter(self.all(RunFact)), RunFact(name="", script=""))

    @property
    def environment(self) -> EnvironmentFact:
        return next(iter(self.all(EnvironmentFact)), EnvironmentFact())

    def all(self, kind: type[AnyFact]) -> tuple[AnyFact, ...]:
        """All facts of one class, in the order in which they were learned."""
        return cast("tuple[AnyFact, ...]", tuple(self.facts.get(KIND_OF_FACT[kind], {}).values()))

    def get(self, kind: type[AnyFact], name: str) -> AnyFact | None:
        return cast("AnyFact | None", self.facts.get(KIND_OF_FACT[kind], {}).get(name))

    @property
    def models(self) -> tuple[ModelFact, ...]:
        return self.all(ModelFact)

    @property
    def optimizers(self) -> tuple[OptimizerFact, ...]:
        return self.all(OptimizerFact)

    @property
    def losses(self) -> tuple[LossFact, ...]:
        return self.all(LossFact)

    @property
    def loaders(self) -> tuple[LoaderFact, ...]:
        return self.all(LoaderFact)

    @property
    def tasks(self) -> tuple[TaskFact, ...]:
        return self.all(TaskFact)

    @property
    def parameters(self) -> tuple[ParameterFact, ...]:
        return self.all(ParameterFact)

    def probes(self, what: str) -> tuple[ProbeFact, ...]:
        """The outcomes of one kind of experiment."""
        return tuple(probe for probe in self.all(ProbeFact) if probe.what == what)

    def layers(self) -> tuple[ModuleFact, ...]:
        """Leaf modules in execution order; those never called come last."""
        leaves = [module for module in self.all(ModuleFact) if module.leaf]
        return tuple(sorted(leaves, key=lambda m: (m.order is None, m.order or 0)))

    def table(self, kind: str, component: str = "") -> Table:
        """The table, empty when nothing of that kind was recorded for the component."""
        found = self.tables.get((kind, component))
        if found is not None:
            return found
        columns = COLUMNS[kind]
        return Table(kind, component, columns, np.empty(0, dtype=np.int64), np.empty((0, len(columns))))

    def tables_of(self, kind: str) -> Iterator[Table]:
        return (table for (table_kind, _), table in self.tables.items() if table_kind == kind)

    def series(self, kind: str, component: str, column: str) -> tuple[IntArray, FloatArray]:
        """Steps and measured values of one quantity of one component; empty where nothing of it was measured.

        UsageError for names that this run does not have.
        """
        if kind not in COLUMNS:
            raise UsageError(f"there is no quantity {kind!r}; {_meant(kind, COLUMNS)}")
        if column not in self.table(kind, component).columns:
            raise UsageError(f"{kind!r} has no column {column!r}; {_meant(column, COLUMNS[kind])}")
        if (kind, component) not in self.tables and not self._knows(component):
            recorded = [name for of, name in self.tables if of == kind] or sorted(self._components)
            raise UsageError(f"this run has no component {component!r}; {_meant(component, recorded)}")
        return self.table(kind, component).known(column)

    @cached_property
    def _components(self) -> frozenset[str]:
        """Everything in this run that goes by a name: what is known, measured, or held by an optimiser."""
        held = (
            name for optimizer in self.optimizers for group in optimizer.groups for name in group.parameters
        )
        return frozenset(
            ("", *(name for _, name in self.tables), *held, *(n for of in self.facts.values() for n in of))
        )

    def _knows(self, component: str) -> bool:
        return component in self._components or component.partition("[")[0] in self._components

    def __repr__(self) -> str:
        run = self.run
        parts = [f"{run.steps} steps", run.status]
        if self.models:
            parts.insert(0, ", ".join(model.kind for model in self.models[:2]))
        return (
            f"<Trace {run.name or '(no run)'}: {' '.join((run.script, *run.arguments))}, {', '.join(parts)}>"
        )

    def _repr_html_(self) -> str:
        from html import escape

        return f"<code>{escape(repr(self))}</code>"

    @property
    def loss(self) -> tuple[IntArray, FloatArray]:
        """Training loss over all steps, of all optimisers together; steps without a backward pass have none."""
        tables = [table for table in self.tables_of("step") if len(table)]
        if not tables:
            return np.empty(0, dtype=np.int64), np.empty(0)
        there = [table.column("backwards") != 0 for table in tables]
        steps = np.concatenate([table.steps[rows] for table, rows in zip(tables, there, strict=True)])
        values = np.concatenate(
            [table.column("loss")[rows] for table, rows in zip(tables, there, strict=True)]
        )
        order = np.argsort(steps, kind="stable")
        return steps[order], values[order]


def _meant(name: str, known: Iterable[str]) -> str:
    names = list(known)
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    shown = ", ".join(names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")
    return f"did you mean {near[0]!r}?" if near else f"there are {shown}"
