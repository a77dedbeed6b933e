"""Large targets are no fault where a network of the same program learns them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from netmend.diagnose.detectors.data_values import TargetBadlyScaled
from netmend.localise.case import Case
from netmend.localise.causes.targets import TargetsNotScaled
from netmend.vocabulary import OptimizerFact, Table, Trace


def accused(trace: Trace) -> float:
    symptoms = tuple(TargetBadlyScaled().examine(trace))
    (fault,) = TargetsNotScaled().accuse(Case(trace, symptoms))
    return fault.confidence


def side_by_side(*ends: float) -> Trace:
    """One loss, minimised for several networks in turn, which end at these shares of the best constant prediction's."""
    trace = TargetsNotScaled.FAULTY[0].trace
    names = [f"optimizer{index}" for index in range(len(ends))]
    steps = np.arange(200)
    tables = {
        ("step", name): Table.of(
            "step", name, {int(s): (float(end), 1.0) for s in steps if s % len(ends) == index}
        )
        for index, (name, end) in enumerate(zip(names, ends, strict=True))
    }
    optimizers = {name: OptimizerFact(name, "Adam") for name in names}
    facts = {**trace.facts, "optimizer": optimizers}
    return replace(trace, facts=facts, tables={**trace.tables, **tables})


def test_one_of_two_networks_learned_the_same_targets() -> None:
    assert accused(side_by_side(1.1, 1.1)) > 0.5
    assert accused(side_by_side(1.1, 0.05)) < 0.3
