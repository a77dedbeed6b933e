"""Rewards and observations of an environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.agents import a_world, acted, an_agent
from netmend.diagnose.examples.curves import flat
from netmend.diagnose.measures.acting import agents, largest_input, returns, reward_size, training_world
from netmend.unit import calibrated, convention
from netmend.vocabulary import Symptom, Table, Trace, WorldFact


class RewardConstant(Detector, code="D711"):
    """The reward never varied, and neither did the return of whole episodes: nothing tells good actions from bad ones.

    A constant reward is fine where it makes long episodes better (or short ones). Where all episodes also have the same
    return, there is nothing to learn from. Usual causes: a goal that is never reached (sparse reward), a wrapper that throws the reward
    away, a reward function that ends on the same branch every time.
    """

    least_steps = convention(500, "a rare reward may not have been met before")
    least_episodes = convention(4, "episodes that must agree on their return")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        world = training_world(trace)
        if world is None or world.steps < self.least_steps or world.bad_rewards:
            return
        low, high = world.reward_low, world.reward_high
        if low is None or high is None or high - low > 1e-9 * max(1.0, abs(high)):
            return
        found = returns(trace, world)
        same = len(found) >= self.least_episodes and float(np.ptp(found)) <= 1e-6 * max(
            1.0, abs(float(found[0]))
        )
        never = world.episodes == 0
        if low != 0.0 and not same and not never:
            return
        lost_in = _flattened_by(world)
        text = "no episode told them apart"
        if same and len(found):
            text = f"all {len(found)} episodes returned {found[0]:g}"
        inside = f" Inside `{lost_in}` the reward did vary." if lost_in else ""
        message = f"Each of {world.steps} steps gave the reward {low:g}, and {text if low != 0.0 else 'so no episode is better than another'}.{inside}"
        detail = {"flattened_by": lost_in, "truncated": world.truncated}
        yield self.symptom(message, world, low, detail=detail)

    HEALTHY = {
        "a reward per step, episodes of different length": lambda: acted(),
        "a goal that was reached once": lambda: acted(
            a_world(reward_low=-1.0, reward_high=0.0), returns=[-200.0] * 30
        ),
        "too few steps": lambda: acted(a_world(steps=400), returns=[-200.0, -200.0]),
    }
    FAULTY = {
        "a goal that was never reached": lambda: acted(
            a_world(reward_low=-1.0, reward_high=-1.0, reward_mean=-1.0, terminated=0, truncated=150),
            returns=[-200.0] * 30,
        ),
        "no reward at all": lambda: acted(
            a_world(reward_low=0.0, reward_high=0.0, reward_mean=0.0), returns=[0.0] * 30
        ),
        "a wrapper that loses it": lambda: acted(
            a_world(
                reward_low=0.0, reward_high=0.0, reward_ranges=(("Clip", 0.0, 0.0), ("TimeLimit", -3.0, 1.0))
            ),
            returns=[0.0] * 30,
        ),
    }


def _flattened_by(world: WorldFact) -> str:
    """The wrapper that returns one value although what it wraps returns several."""
    for (kind, low, high), (_, inner_low, inner_high) in zip(
        world.reward_ranges, world.reward_ranges[1:], strict=False
    ):
        if low == high and inner_low != inner_high:
            return kind
    return ""


class RewardNotFinite(Detector, code="D712"):
    """An environment gave rewards that are not numbers, or infinite.

    One of them makes every value estimate that it reaches useless. Usual causes: a logarithm or quotient of a distance that becomes zero, a
    branch of the reward function that was forgotten.
    """

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for world in trace.all(WorldFact):  # a single one of them may end the run
            if world.bad_rewards:
                message = f"{world.bad_rewards} of {world.steps} rewards were infinite or NaN."
                yield self.symptom(message, world, float(world.bad_rewards), 0.0)

    HEALTHY = {"finite rewards, large ones among them": lambda: acted(a_world(reward_high=1e6))}
    FAULTY = {"a reward of NaN": lambda: acted(a_world(bad_rewards=3))}


class RewardBadlyScaled(Detector, code="D713"):
    """Rewards are so large that the error of the value estimates drowns everything else.

    The value network starts with answers near zero and has to reach sums of rewards; with rewards of thousands its error and gradients
    are huge from the first update on. Usual causes: a raw score or a cost in small units as reward, a factor too many.
    """

    size_limit = calibrated(
        60.0, "root mean square of the rewards; healthy programs stay below 10 (Pendulum: 8)"
    )
    loss_limit = calibrated(
        1000.0, "a hand-written loss that is smaller was computed from rewards that the program scales itself"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        world = training_world(trace)
        seen = self.extremes(trace)
        if world is None or seen.get("size_limit", 0.0) <= self.size_limit:
            return
        if seen.get("loss_limit", 0.0) <= self.loss_limit:
            return
        message = (
            f"Rewards have a root mean square of {seen['size_limit']:.3g} (from {world.reward_low:.3g} to {world.reward_high:.3g}) "
            f"and reach the value estimates unscaled."
        )
        yield self.symptom(message, world, seen["size_limit"], self.size_limit)

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        world = training_world(trace)
        if world is None or not world.steps:
            return {}
        known = agents(trace)
        if known:
            if known[0].rewards_normalised:
                return {}
            return {"size_limit": reward_size(world), "loss_limit": float("inf")}
        losses = np.abs(trace.loss[1])
        losses = losses[np.isfinite(losses)]
        return {
            "size_limit": reward_size(world),
            "loss_limit": float(np.median(losses)) if len(losses) else 0.0,
        }

    HEALTHY = {
        "rewards of a swinging pendulum": lambda: acted(
            a_world(reward_mean=-6.0, reward_std=3.0), an_agent()
        ),
        "large rewards that are normalised": lambda: acted(
            a_world(reward_mean=1000.0), an_agent(rewards_normalised=True)
        ),
        "large rewards that the program scales itself": lambda: acted(a_world(reward_mean=1000.0)),
    }
    FAULTY = {
        "a score as reward": lambda: acted(a_world(reward_mean=1000.0), an_agent()),
        "a hand-written loop": lambda: acted(
            a_world(reward_mean=-900.0),
            more=[Table.of("step", "optimizer", {n: (v, 1.0) for n, v in enumerate(flat(400, 1e6))})],
        ),
    }


class ObservationBadlyScaled(Detector, code="D714"):
    """Observations reach the network in large units, unscaled.

    One large feature decides what the first layer sees; the others have to wait until its weights have shrunk. Usual causes: metres and
    radians mixed, raw sensor values, positions in pixels, no VecNormalize.
    """

    size_limit = calibrated(20.0, "root mean square of a feature; in healthy programs of all kinds below 10")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        world = training_world(trace)
        size = self.extremes(trace).get("size_limit", 0.0)
        if world is None or size <= self.size_limit:
            return
        largest = world.feature_rms.index(size)
        smallest = min(value for value in world.feature_rms)
        message = (
            f"Feature {largest} of the observation has a root mean square of {size:.3g} (the smallest has {smallest:.3g}), "
            f"and it reaches the network unscaled."
        )
        yield self.symptom(message, world, size, self.size_limit, {"feature": largest})

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        world = training_world(trace)
        if world is None or not world.feature_rms or not world.observation_shape:
            return {}
        if world.observation_type == "uint8":
            return {}
        if any(agent.observations_normalised for agent in agents(trace)):
            return {}
        given = largest_input(trace)
        if given is not None and given < max(world.feature_rms):
            return {}  # the program scales what it was given
        return {"size_limit": max(world.feature_rms)}

    HEALTHY = {
        "features near one": lambda: acted(an_agent()),
        "large features that are normalised": lambda: acted(
            a_world(feature_rms=(900.0, 1.0)), an_agent(observations_normalised=True)
        ),
        "images": lambda: acted(a_world(feature_rms=(120.0, 130.0), observation_type="uint8"), an_agent()),
    }
    FAULTY = {
        "millimetres and radians": lambda: acted(a_world(feature_rms=(900.0, 0.4, 1.0, 0.3)), an_agent())
    }
