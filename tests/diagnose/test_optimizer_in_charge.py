"""Which of several optimisers is named when a layer was replaced after the second was made."""

from __future__ import annotations

from dataclasses import replace

from netmend.diagnose.detectors.optimizer_parameters import ParametersWithoutOptimizer
from netmend.diagnose.examples.loops import Layer, network, optimizer, trained
from netmend.vocabulary import GroupFact, Site, Table, Trace

LEVEL = (0.5, 1.0, 0.0, 1.0, 2.0)
PRETRAINING, FINE_TUNING = Site("train.py", 5), Site("train.py", 9)


def run(first: range, second: range) -> Trace:
    """Both optimisers hold the old head; the new one gets gradients from step 8 on."""
    group = GroupFact({"lr": 0.1}, ("model.body.weight", "?"), 1)
    facts = network(
        Layer("body", optimizer="before"), Layer("head", optimizer=None, gradient=None, update=None)
    )
    return trained(
        replace(optimizer("before"), created=PRETRAINING, groups=(group,)),
        replace(optimizer("after"), created=FINE_TUNING, groups=(group,)),
        Table.of("step", "before", dict.fromkeys(first, LEVEL)),
        Table.of("step", "after", dict.fromkeys(second, LEVEL)),
        *facts,
        Table.of("gradient", "model.head.weight", dict.fromkeys(range(8, 16), (0.0, 0.01))),
        losses=[1.0] * 40,
    )


def test_the_one_that_steps_while_they_get_gradients() -> None:
    (told,) = ParametersWithoutOptimizer().examine(run(range(8), range(8, 16)))
    assert told.site == FINE_TUNING
    (told,) = ParametersWithoutOptimizer().examine(run(range(8, 16), range(8)))
    assert told.site == PRETRAINING
