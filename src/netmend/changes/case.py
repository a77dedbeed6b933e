"""The case that a change is asked for: a program that was seen running, and the fault."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from netmend.program.text.sources import Code, Sources
from netmend.vocabulary import Fault, LossFact, ModelFact, OptimizerFact, Site, TaskFact, Trace


@dataclass(frozen=True, eq=False)
class Case:
    """A program that was seen running, its source, and the fault to be mended (None: anything that may help)."""

    trace: Trace
    sources: Sources
    fault: Fault | None = None
    arguments: tuple[str, ...] = ()

    @cached_property
    def code(self) -> Code:
        return Code(self.sources)

    @property
    def cause(self) -> str:
        return "" if self.fault is None else self.fault.cause

    @property
    def component(self) -> str:
        """What the fault names: a layer, loss or optimiser of the trace, or another word of its cause."""
        return "" if self.fault is None else self.fault.component

    @property
    def site(self) -> Site | None:
        """Where the fault is said to be."""
        return None if self.fault is None else self.fault.site

    @property
    def optimizer(self) -> OptimizerFact | None:
        """The optimiser that the fault names, else the first."""
        named = self.trace.get(OptimizerFact, self.component)
        return named or next(iter(self.trace.optimizers), None)

    @property
    def loss(self) -> LossFact | None:
        """The loss that the fault names, else the one that backward() was called on."""
        named = self.trace.get(LossFact, self.component)
        objectives = [loss for loss in self.trace.losses if loss.backward is not None]
        return named or next(iter((*objectives, *self.trace.losses)), None)

    @property
    def model(self) -> ModelFact | None:
        return next(iter(self.trace.models), None)

    @property
    def task(self) -> TaskFact | None:
        return next(iter(self.trace.tasks), None)
