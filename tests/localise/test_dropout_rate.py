"""Dropout that is high, or stands last: accused where it does harm, left alone where a run shows none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from netmend.diagnose.examples.curves import flat, run_with
from netmend.localise import diagnose
from netmend.localise.causes.regularisation import dropouts
from netmend.vocabulary import Call, ModuleFact, ParameterFact, Pattern, Site, Trace

STEADY = [1.0 - 0.4 * step / 200 for step in range(200)]


def with_dropout(trace: Trace, rate: float) -> Trace:
    layer = ModuleFact("net.1", "Dropout", settings={"p": rate}, order=1, created=Site("train.py", 9))
    return replace(trace, facts={**trace.facts, "module": {layer.name: layer}})


@pytest.mark.parametrize(
    ("trace", "rate", "told"),
    [
        (run_with(STEADY), 0.8, False),
        (run_with(flat(200, 0.9), evaluations=[0.6, 0.5, 0.35, 0.3]), 0.8, True),
        (run_with(STEADY), 0.95, True),
    ],
    ids=["high, and it learns", "high, and worse in training than in evaluation", "hopeless"],
)
def test_a_high_rate(trace: Trace, rate: float, told: bool) -> None:
    found = [fault.cause for fault in diagnose(with_dropout(trace, rate)).faults]
    assert ("LYR-DROPOUT-RATE" in found) is told


def test_dropout_before_another_network_is_not_the_last_thing() -> None:
    trunk = ModuleFact("trunk.0", "Linear", "trunk", order=0)
    drop = ModuleFact("trunk.1", "Dropout", "trunk", settings={"p": 0.1}, order=1)
    head = ModuleFact("head", "Linear", "head", order=0)
    weights = {f"{m.name}.weight": ParameterFact(f"{m.name}.weight", m.name, (4, 4)) for m in (trunk, head)}
    modules = {m.name: m for m in (trunk, drop, head)}
    alone = Trace(facts={"module": {m.name: m for m in (trunk, drop)}, "parameter": weights})
    assert [found.last for found in dropouts(alone)] == [True]
    calls = (
        Call("forward", "trunk", "train, grad"),
        Call("forward", "head", "train, grad"),
        Call("step", "opt"),
    )
    both = Trace(facts={"module": modules, "parameter": weights}, patterns=(Pattern(calls, ((0, 50),)),))
    assert [found.last for found in dropouts(both)] == [False]
