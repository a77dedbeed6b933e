"""M104."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.rate_places import present_rate
from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.program.source.naming import qualified, spelled
from netmend.program.source.writing import replace
from netmend.repair.repair import Case, Example
from netmend.vocabulary import OptimizerFact
from netmend.vocabulary.change import FileEdits

_ADAPTIVE = ("Adam", "AdamW", "RMSprop", "NAdam", "RAdam")


@register
@dataclass(frozen=True)
class OptimizerExchanged:
    """Replace the optimiser with another, with the same or its own learning rate.

    A rate that suits Adam is nothing to Adadelta or Adagrad, and plain SGD crawls where the scale of gradients differs.
    """

    code: ClassVar[str] = "M104"
    causes: ClassVar[tuple[str, ...]] = ("OPT-SELECT",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("OCH",)

    def propose(self, case: Case) -> Iterator[Mutation]:
        optimizer = case.optimizer
        rate = None if optimizer is None else present_rate(case, optimizer)
        if optimizer is None or rate is None or optimizer.kind not in (*_ADAPTIVE, "SGD"):
            return
        wanted = ("SGD",) if optimizer.kind in _ADAPTIVE else ()
        for index, new in enumerate((*wanted, "Adagrad", "ASGD", "Adadelta"), 1):
            # Adadelta and Adagrad with a usual rate of Adam are what people write by mistake.
            own = min(rate, 1e-3) if new in ("Adagrad", "Adadelta") else None
            edits = with_optimizer(case, optimizer, new, own)
            title = f"{optimizer.kind} → {new}" + ("" if own is None else f" with rate {own:g}")
            yield from mutation(self, title, edits, grade=index / 4, component=optimizer.name, parameter=new)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "in the place of SGD",
            STACK,
            old="torch.optim.SGD(model.parameters(), lr=0.1)",
            new="torch.optim.Adagrad(model.parameters(), lr=0.001)",
        ),
        Example("in the place of Adam", FUNCTIONS, old="optim.Adam(", new="optim.SGD("),
    )


def with_optimizer(case: Case, optimizer: OptimizerFact, new: str, rate: float | None) -> FileEdits:
    found = case.code.call_at(optimizer.created)
    if found is None or not qualified(found[0], found[1].func).startswith("torch.optim."):
        return ()
    file, call = found
    given = case.code.sources.argument(call, "params", 0)
    own = case.code.sources.argument(call, "lr", 1)
    if given is None or isinstance(given, ast.Starred) or any(k.arg is None for k in call.keywords):
        return ()
    name, extra = spelled(file, f"torch.optim.{new}", like=call.func)
    text = f"{rate:g}" if rate is not None else "" if own is None else file.source(own)
    settings = f", lr={text}" if text else ", lr=0.001"
    return (*replace(file, call, f"{name}({file.source(given)}{settings})"), *extra)
