"""D714 ObservationBadlyScaled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.acting import agents, largest_input, training_world
from netmend.diagnose.measures.acting_examples import a_world, acted, an_agent
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class ObservationBadlyScaled:
    """Observations reach the network in large units, unscaled.

    One large feature decides what the first layer sees; the others have to wait until its weights have shrunk. Usual causes: metres and
    radians mixed, raw sensor values, positions in pixels, no VecNormalize.
    """

    code: ClassVar[str] = "D714"

    size_limit: float = threshold(
        20.0, "calibrated", "root mean square of a feature; in healthy programs of all kinds below 10"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        world = training_world(trace)
        size = self.extremes(trace).get("size_limit", 0.0)
        if world is None or size <= self.size_limit:
            return
        largest = world.feature_rms.index(size)
        smallest = min(value for value in world.feature_rms)
        yield Symptom(
            self.code,
            f"Feature {largest} of the observation has a root mean square of {size:.3g} (the smallest has {smallest:.3g}), "
            f"and it reaches the network unscaled.",
            component=world.name,
            observed=size,
            limit=self.size_limit,
            site=world.stepped,
            detail={"feature": largest, "smallest": smallest},
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        world = training_world(trace)
        if (
            world is None
            or not world.feature_rms
            or not world.observation_shape
            or world.observation_type == "uint8"
        ):
            return {}
        if any(agent.observations_normalised for agent in agents(trace)):
            return {}
        given = largest_input(trace)
        if given is not None and given < max(world.feature_rms):
            return {}  # the program scales what it was given
        return {"size_limit": max(world.feature_rms)}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("features near one", lambda: acted(a_world(), an_agent())),
        Run(
            "large features that are normalised",
            lambda: acted(a_world(feature_rms=(900.0, 1.0)), an_agent(observations_normalised=True)),
        ),
        Run(
            "images", lambda: acted(a_world(feature_rms=(120.0, 130.0), observation_type="uint8"), an_agent())
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "millimetres and radians", lambda: acted(a_world(feature_rms=(900.0, 0.4, 1.0, 0.3)), an_agent())
        ),
    )
