"""D723 ValuesExplode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.acting import agents, largest_reward, lengths, training_world
from netmend.diagnose.measures.acting_examples import a_world, acted, an_agent
from netmend.unit import Run, threshold
from netmend.vocabulary import ModuleFact, Symptom, Table, Trace

_HEAD = ModuleFact("q_net.2", "Linear", "q_net", order=2, output_shapes=((32, 2),))


@register
class ValuesExplode:
    """Value estimates are far above anything that the rewards allow.

    No sum of discounted rewards exceeds the largest reward divided by one minus the discount factor. Estimates beyond that feed on
    themselves. Usual causes: a learning rate that is too high, a target that moves with every update, targets that do not end with the episode.
    """

    code: ClassVar[str] = "D723"

    factor: float = threshold(
        5.0, "calibrated", "times the largest possible return; healthy estimates stay below 1"
    )
    most_discounting: float = threshold(
        200.0, "convention", "1/(1 − gamma) where the discount factor is not known: that of 0.995"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        world = training_world(trace)
        times = self.extremes(trace).get("factor", 0.0)
        if world is None or times <= self.factor:
            return
        yield Symptom(
            self.code,
            f"Value estimates reached {times:.3g} times the largest return that rewards of at most {largest_reward(world):.3g} allow.",
            component=world.name,
            observed=times,
            limit=self.factor,
            site=world.stepped,
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        world = training_world(trace)
        if world is None or not largest_reward(world) or not trace.run.steps:
            return {}
        horizon, values = self.most_discounting, _outputs(trace)
        for agent in agents(trace):
            if agent.rewards_normalised:
                return {}
            gamma = agent.settings.get("gamma")
            if isinstance(gamma, float | int) and gamma < 1:
                horizon = 1 / (1 - gamma)
            seen = trace.series("agent", agent.name, "value_highest")[1]
            values = [*values, *seen[-5:].tolist()] if len(seen) else values
        if not values:
            return {}
        longest = lengths(trace, world)
        horizon = max(horizon, float(longest.max()) if len(longest) and not agents(trace) else 0.0)
        return {"factor": max(values) / (largest_reward(world) * horizon)}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run(
            "values of a good policy",
            lambda: acted(a_world(), an_agent(), looks=[{"value_highest": 90.0}] * 10),
        ),
        Run("no values seen", lambda: acted(a_world(), an_agent())),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "values of an agent", lambda: acted(a_world(), an_agent(), looks=[{"value_highest": 9000.0}] * 10)
        ),
        Run(
            "answers of a hand-written network",
            lambda: acted(
                a_world(),
                _HEAD,
                more=[
                    Table.of("activation", "q_net.2", {n: (0.0, 1.0, 1.0, -1.0, 10.0**n) for n in range(8)})
                ],
            ),
        ),
    )


def _outputs(trace: Trace) -> list[float]:
    """The largest last answers of the last layer of every model."""
    last: dict[str, ModuleFact] = {}
    for module in trace.layers():
        if module.order is not None and module.leaf:
            last[module.model] = module
    found = []
    for module in last.values():
        table = trace.table("activation", module.name)
        sizes = np.maximum(np.abs(table.column("minimum")), np.abs(table.column("maximum")))
        sizes = sizes[np.isfinite(sizes)]
        if len(sizes):
            found.append(float(sizes[-3:].max()))
    return found
