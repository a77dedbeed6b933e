"""Trace: one recorded run, read-only, with the small queries that detectors and reports need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast

import numpy as np

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


@dataclass(frozen=True, eq=False)
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
        """Steps and measured values of one quantity of one component."""
        return self.table(kind, component).known(column)

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
