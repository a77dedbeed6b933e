"""How the episodes of an agent begin, end and pay."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.agents import a_world, acted, an_agent
from netmend.diagnose.measures.acting import agents, returns, training_world, worlds
from netmend.unit import convention, exact
from netmend.vocabulary import Symptom, Trace


class SteppedAfterEnd(Detector, code="D715"):
    """Steps are taken after an episode has ended, without a reset.

    What an environment returns then is undefined: most go on from the last state, with rewards that mean nothing. Usual causes: reset
    forgotten, the end looked for in `terminated` alone although time limits end episodes too.
    """

    least_steps = convention(3, "one step too many at the very end of a program harms nobody")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for world in worlds(trace):
            if world.after_end >= self.least_steps:
                share = world.after_end / world.steps
                message = f"{world.after_end} of {world.steps}steps ({share:.0%}) were taken after an episode had ended, without a reset."
                detail = {"truncated": world.truncated, "terminated": world.terminated}
                yield self.symptom(message, world, float(world.after_end), float(self.least_steps), detail)

    HEALTHY = {
        "reset after every end": lambda: acted(),
        "one step at the end of the program": lambda: acted(a_world(after_end=1)),
    }
    FAULTY = {"never reset": lambda: acted(a_world(after_end=3200, resets=0))}


class TruncationMerged(Detector, code="D716"):
    """A wrapper turns the time limit's truncation into a termination.

    A terminated state has no future, so its value is taken to be its last reward. A state that was merely cut off does have one: the
    agent learns that states late in an episode are bad, whatever they are. Usual cause: a wrapper that returns `terminated or truncated, False`.
    """

    least_ends = exact(1, "the inner environment said truncated, the outer one terminated")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for world in worlds(trace):
            if world.merged >= self.least_ends:
                message = f"{world.merged} of {world.episodes} episodes were cut off by a time limit, but the agent was told that they had terminated."
                yield self.symptom(message, world, float(world.merged), float(self.least_ends))

    HEALTHY = {
        "flags passed on": lambda: acted(a_world(truncated=80, terminated=70)),
        "no time limit was reached": lambda: acted(),
    }
    FAULTY = {"flags merged": lambda: acted(a_world(merged=40))}


class TimeLimitsEndEpisodes(Detector, code="D717"):
    """Many episodes are cut off by a time limit rather than ending by themselves.

    That is normal. It matters where a program treats both ends alike: a state that was cut off still has a future, and a target that leaves it out is
    wrong. Diagnosis looks at the source to see whether the program keeps the two apart.
    """

    share_limit = convention(0.15, "of the episodes; below it the error in the targets is rare")
    least_ends = convention(3, "episodes that were cut off")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        world = training_world(trace)
        if world is None or world.truncated < self.least_ends:
            return
        share = world.truncated / max(1, world.episodes)
        if share >= self.share_limit:
            message = f"{world.truncated} of {world.episodes} episodes were cut off by a time limit."
            yield self.symptom(message, world, share, self.share_limit)

    HEALTHY = {
        "episodes end by themselves": lambda: acted(a_world(truncated=10)),
        "two long episodes": lambda: acted(a_world(truncated=2, episodes=2, terminated=0)),
    }
    FAULTY = {"all are cut off": lambda: acted(a_world(truncated=150, terminated=0))}


class SameStart(Detector, code="D718"):
    """Every episode is reset with the same seed and starts in the same state.

    The agent learns one episode by heart and fails from any other start. Usual cause: `reset(seed=…)` within the loop; a seed belongs
    to the first reset only.
    """

    least_resets = convention(5, "episodes that must have started alike")
    share_limit = convention(0.9, "of the resets; the first one has none to compare with")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        world = training_world(trace)
        if world is None or world.same_starts < self.least_resets:
            return
        if world.same_starts < self.share_limit * world.resets:
            return
        message = f"{world.same_starts} of {world.resets} episodes were reset with the previous episode's seed and started in the same state."
        yield self.symptom(
            message,
            (world.name, world.reset or world.stepped),
            observed=float(world.same_starts),
            limit=float(self.least_resets),
        )

    HEALTHY = {
        "a seed for the first episode only": lambda: acted(a_world(seeded_resets=1)),
        "a new seed for each episode": lambda: acted(a_world(seeded_resets=150)),
        "some episodes repeated": lambda: acted(a_world(seeded_resets=20, same_starts=19)),
    }
    FAULTY = {"one seed for all": lambda: acted(a_world(seeded_resets=150, same_starts=149))}


class FewRollouts(Detector, code="D725", needs_end=True):
    """An agent that learns from its own rollouts was trained on hardly any of them.

    Such an algorithm changes its policy a little after each rollout; two or three of them lead nowhere. Usual causes: fewer steps
    in all than a few times `n_steps` times the number of environments.
    """

    most = convention(3, "trainings in all; each may change the policy a little only")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for agent in agents(trace):
            gathers = agent.settings.get("n_steps")
            if agent.buffer_filled is not None or not isinstance(gathers, int):
                continue
            if agent.timesteps < agent.planned:
                continue
            if 0 < agent.trainings <= self.most:
                message = (
                    f"{agent.planned} steps were requested and {gathers * agent.copies} make one rollout: the agent was trained {agent.trainings} "
                    f"time{'s' if agent.trainings > 1 else ''} in all."
                )
                detail = {"rollout": gathers * agent.copies}
                yield self.symptom(
                    message, agent.name, float(agent.trainings), float(self.most), detail, site=agent.learned
                )

    HEALTHY = {
        "many rollouts": lambda: acted(an_agent(settings={"n_steps": 128})),
        "four rollouts": lambda: acted(an_agent(settings={"n_steps": 1024}, trainings=4)),
        "an algorithm with a replay buffer": lambda: acted(
            an_agent("DQN", {"n_steps": 1}, trainings=2, buffer_filled=500)
        ),
    }
    FAULTY = {
        "one rollout": lambda: acted(
            an_agent(settings={"n_steps": 2048}, trainings=1, planned=1000, timesteps=2048)
        )
    }


class ReturnsFall(Detector, code="D726"):
    """The agent got worse: its episodes return clearly less at the end than at the beginning.

    It began with actions that knew nothing, and training has made them worse. That says by itself that something is wrong only once the run is
    long; together with a sign in the source it settles the case. Usual causes: a policy loss or reward with the wrong sign, a policy
    that collapsed, no exploration any more.
    """

    least_episodes = convention(30, "episodes from which two thirds can be compared")
    fall_limit = convention(
        4.0, "difference of the means in standard errors; learning curves of healthy agents rise"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        world = training_world(trace)
        seen = self.extremes(trace)
        if world is None or not trace.run.steps or seen.get("fall_limit", 0.0) < self.fall_limit:
            return
        values = returns(trace, world)
        third = len(values) // 3
        first, last = float(values[:third].mean()), float(values[-third:].mean())
        message = f"Episodes returned {first:.3g} at the beginning and {last:.3g} at the end: training made the agent worse."
        yield self.symptom(message, world, seen["fall_limit"], self.fall_limit)

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        world = training_world(trace)
        if world is None:
            return {}
        values = returns(trace, world)
        third = len(values) // 3
        if 3 * third < self.least_episodes:
            return {}
        first, last = values[:third], values[-third:]
        error = math.sqrt((float(first.var()) + float(last.var())) / third) + 1e-6 * (
            1 + abs(float(first.mean()))
        )
        return {"fall_limit": (float(first.mean()) - float(last.mean())) / error}

    HEALTHY = {
        "rises": lambda: acted(returns=[float(20 + index) for index in range(60)]),
        "neither": lambda: acted(returns=[20.0, 30.0, 10.0] * 20),
        "few episodes": lambda: acted(returns=[30.0] * 6 + [10.0] * 6),
    }
    FAULTY = {"worse and worse": lambda: acted(returns=[22.0, 25.0, 18.0] * 10 + [9.0, 10.0, 9.5] * 20)}
