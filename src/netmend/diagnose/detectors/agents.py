"""Agents: their settings, their actions, their estimates and their target networks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from netmend.diagnose.detector import At, Detector
from netmend.diagnose.examples.agents import a_world, acted, an_agent, twins
from netmend.diagnose.measures.acting import (
    agents,
    improved,
    judged,
    largest_reward,
    lengths,
    returns,
    training_world,
)
from netmend.diagnose.measures.ending import finished
from netmend.diagnose.measures.loop import calls
from netmend.unit import calibrated, convention, exact, published
from netmend.vocabulary import AgentFact, ModuleFact, OptimizerFact, Site, Symptom, Table, Trace


class LearningNeverStarts(Detector, code="D719", needs_end=True):
    """The agent acts, but hardly learns or never does: the first update comes after most of the run, or not at all.

    What was gathered before is not lost, but the policy that gathered it was the untrained one. Usual causes: `learning_starts` beyond the number of steps,
    a replay buffer smaller than the batch that is waited for, a training frequency larger than the run.
    """

    late_limit = published(
        0.6, "share of the run before the first update; µPRL draws its mutants from 0.5 % to 50 %"
    )
    least_steps = convention(200, "environment steps without an update that say something")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        found = [agent for agent in agents(trace) if agent.timesteps >= self.least_steps]
        for agent in found:
            start, place = agent.settings.get("learning_starts") or 0, (agent.name, agent.learned)
            if agent.updates == 0:
                name = agent.name.partition("@")[0]
                message = f"{name} took {agent.timesteps} steps and never updated its networks."
                yield self._late(message, place, 1.0)
            elif start > self.late_limit * agent.timesteps:
                message = f"Learning starts after {start} of {agent.timesteps} steps."
                yield self._late(message, place, start / agent.timesteps)
        world = training_world(trace)
        if agents(trace) or world is None or world.steps < self.least_steps or not trace.optimizers:
            return
        before = world.steps_before_learning
        if trace.run.steps == 0 and not any(calls(trace, "backward")):
            message = f"{world.steps} steps were taken in the environment, but no optimiser took one."
            yield self._late(message, world, 1.0)
        elif trace.run.steps and before is not None and before > self.late_limit * world.steps:
            message = f"The first update came after {before} of {world.steps} environment steps."
            yield self._late(message, world, before / world.steps)

    def _late(self, message: str, place: At, share: float) -> Symptom:
        return self.symptom(message, place, share, self.late_limit, {"never": share == 1.0})

    HEALTHY = {
        "learns from the start": lambda: acted(an_agent()),
        "a warm-up of half the run": lambda: acted(an_agent("DQN", {"learning_starts": 2500})),
        "nothing to train: a random policy": lambda: acted(steps=0),
        "a hand-written loop": lambda: acted(a_world(steps_before_learning=500)),
    }
    FAULTY = {
        "starts after the end": lambda: acted(
            an_agent("DQN", {"learning_starts": 50_000}, updates=0), steps=0
        ),
        "starts late": lambda: acted(an_agent("DQN", {"learning_starts": 4500})),
        "a hand-written loop that never trains": lambda: acted(
            OptimizerFact("optimizer", "Adam", (), Site("train.py", 8)), steps=0
        ),
        "a hand-written loop that trains late": lambda: acted(a_world(steps_before_learning=4000)),
    }


class ActionsCollapse(Detector, code="D722"):
    """The policy has collapsed: it takes one action practically always, without having got better.

    An agent that no longer tries anything else cannot find out that it is wrong. Usual causes: a learning rate that is too high, an entropy
    coefficient below zero, no exploration, advantages with the wrong sign.
    """

    share_limit = calibrated(
        0.985, "of the commonest action in the last stretches; random actions of 5 % keep it below 0.975"
    )
    entropy_limit = calibrated(0.03, "last entropy over that of a uniform choice")
    stretches = convention(3, "of 256 steps each, at the end")
    gain_limit = convention(
        0.5, "rise of the return in standard deviations from which on the agent has got better"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        world = training_world(trace)
        seen = self.extremes(trace)
        if world is None or not seen or improved(returns(trace, world)) > self.gain_limit:
            return
        share, entropy = seen.get("share_limit", 0.0), seen.get("entropy_limit", math.inf)
        if share < self.share_limit and entropy > self.entropy_limit:
            return
        text = (
            f"In the last {256 * self.stretches} steps {share:.1%} of the actions were the same"
            if share >= self.share_limit
            else f"The entropy of the policy fell to {entropy:.1%} of that of a random choice"
        )
        yield self.symptom(f"{text}, and the return did not rise.", world, share, self.share_limit)

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        world = training_world(trace)
        if world is None or world.actions < 2 or not trace.run.steps:
            return {}
        found: dict[str, float] = {}
        shares = trace.table("behaviour", world.name).known("top_action_share")[1]
        if len(shares) >= self.stretches + 1:
            found["share_limit"] = float(np.min(shares[-self.stretches :]))
        for agent in agents(trace):
            entropies = trace.series("agent", agent.name, "entropy")[1]
            if len(entropies) >= self.stretches and agent.actions > 1:
                found["entropy_limit"] = float(np.mean(entropies[-self.stretches :])) / math.log(
                    agent.actions
                )
        return found

    HEALTHY = {
        "tries both": lambda: acted(an_agent(), looks=[{"entropy": 0.5}] * 10),
        "sure of itself and better": lambda: acted(an_agent(), looks=[{"entropy": 0.01}] * 10),
        "greedy but for 5 %": lambda: acted(behaviour=[0.975] * 12, returns=[10.0, 11.0] * 30),
    }
    FAULTY = {
        "one action only": lambda: acted(
            behaviour=[0.6, 0.8, *[0.999] * 10], returns=[20.0, 21.0] * 10 + [9.0, 10.0] * 20
        ),
        "no entropy left": lambda: acted(
            an_agent(), looks=[{"entropy": 0.69}, *[{"entropy": 0.001}] * 9], returns=[9.0, 10.0] * 30
        ),
    }


_HEAD = ModuleFact("q_net.2", "Linear", "q_net", order=2, output_shapes=((32, 2),))


class ValuesExplode(Detector, code="D723"):
    """Value estimates are far above anything that the rewards allow.

    No sum of discounted rewards exceeds the largest reward divided by one minus the discount factor. Estimates beyond that feed on
    themselves. Usual causes: a learning rate that is too high, a target that moves with every update, targets that do not end with the episode.
    """

    factor = calibrated(5.0, "times the largest possible return; healthy estimates stay below 1")
    most_discounting = convention(
        200.0, "1/(1 − gamma) where the discount factor is not known: that of 0.995"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        world = training_world(trace)
        times = self.extremes(trace).get("factor", 0.0)
        if world is None or times <= self.factor:
            return
        message = f"Value estimates reached {times:.3g} times the largest return that rewards of at most {largest_reward(world):.3g} allow."
        yield self.symptom(message, world, times, self.factor)

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

    HEALTHY = {
        "values of a good policy": lambda: acted(an_agent(), looks=[{"value_highest": 90.0}] * 10),
        "no values seen": lambda: acted(an_agent()),
    }
    FAULTY = {
        "values of an agent": lambda: acted(an_agent(), looks=[{"value_highest": 9000.0}] * 10),
        "answers of a hand-written network": lambda: acted(
            _HEAD,
            more=[Table.of("activation", "q_net.2", {n: (0.0, 1.0, 1.0, -1.0, 10.0**n) for n in range(8)})],
        ),
    }


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


class AgentSettingUnusual(Detector, code="D724"):
    """A setting of the agent is far outside what is used for its algorithm.

    Short runs of agents vary so much that one run shows the effect of a setting badly; the setting itself is known exactly. Limits are
    those of the search spaces that the RL Zoo and µPRL publish, widened by a factor, or relative to the length of the run.
    """

    least_timesteps = convention(100, "an agent that hardly acted was not meant to learn")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for agent in agents(trace):
            if agent.timesteps < self.least_timesteps:
                continue
            for found in judged(agent):
                yield self.symptom(
                    f"`{found.name}={found.value:g}`: {found.why}.",
                    (f"{agent.name}.{found.name}", agent.created),
                    observed=float(found.value),
                    limit=found.limit,
                    detail={"setting": found.name, "leaf": found.leaf, "better": found.better},
                )

    HEALTHY = {
        "defaults of PPO": lambda: acted(
            an_agent(settings={"n_steps": 64, "ent_coef": 0.0, "vf_coef": 0.5, "max_grad_norm": 0.5})
        ),
        "settings at the border": lambda: acted(
            an_agent(settings={"gamma": 0.9, "ent_coef": 0.1, "vf_coef": 1.0})
        ),
        "defaults of DQN": lambda: acted(
            an_agent(
                "DQN",
                {
                    "exploration_final_eps": 0.05,
                    "exploration_initial_eps": 1.0,
                    "exploration_fraction": 0.1,
                    "tau": 1.0,
                    "buffer_size": 50_000,
                },
                buffer_filled=5000,
            )
        ),
    }
    FAULTY = {
        "short-sighted": lambda: acted(an_agent(settings={"gamma": 0.3})),
        "random to the end": lambda: acted(
            an_agent("DQN", {"exploration_final_eps": 0.9}, buffer_filled=5000)
        ),
        "a tiny buffer": lambda: acted(
            an_agent("DQN", {"buffer_size": 64, "batch_size": 32}, buffer_filled=64)
        ),
        "entropy above all": lambda: acted(an_agent(settings={"ent_coef": 5.0})),
    }


WHAT = "weights while acting"


class TargetNeverMoves(Detector, code="D720"):
    """The target network never followed the network that is trained, or hardly did.

    The values that are learned towards stay those of a random network. Usual causes: an update interval larger than the run, a
    Polyak factor that is far too small, the copy forgotten.
    """

    least_looks = convention(10, "looks at both networks")
    least_changes = convention(8, "changes of the trained network meanwhile")
    moved_limit = exact(
        0.1, "1 − (1 − tau)ⁿ: the share of the trained weights that the target holds after n soft updates"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        found = agents(trace)
        for agent in found if finished(trace) else ():
            moved = self._moved(agent)
            if agent.target_looks >= self.least_looks and (
                agent.target_changes == 0 or moved < self.moved_limit
            ):
                text = "never changed"
                if agent.target_changes != 0:
                    text = f"took over {moved:.1%} of the trained weights"
                message = f"In {agent.updates} updates the target network {text}."
                yield self.symptom(
                    message, agent, 0.0 if agent.target_changes == 0 else moved, self.moved_limit
                )
        if found or training_world(trace) is None:
            return
        probes = {probe.component: probe.values for probe in trace.probes(WHAT)}
        for name, values in probes.items():
            trained = [
                other
                for other in values["twins"]
                if other in probes
                and probes[other]["changes"] >= self.least_changes
                and probes[other]["trained"]
            ]
            if values["trained"] or values["changes"] or values["looks"] < self.least_looks or not trained:
                continue
            message = f"`{name}` has the same structure as `{trained[0]}`, which is trained, but its weights never changed."
            detail = {"finished": finished(trace)}
            yield self.symptom(message, name, 0.0, float(self.least_changes), detail)

    def _moved(self, agent: AgentFact) -> float:
        """The share of the trained weights that soft updates have brought over, by arithmetic."""
        tau, interval = agent.settings.get("tau"), agent.settings.get("target_update_interval") or 1
        if not isinstance(tau, float) or agent.kind == "DQN":
            return 1.0
        return float(1 - (1 - min(1.0, tau)) ** (agent.updates / interval))

    HEALTHY = {
        "follows": lambda: acted(an_agent("DQN", target_looks=50, target_changes=4)),
        "soft updates": lambda: acted(an_agent("SAC", {"tau": 0.005}, target_looks=50, target_changes=50)),
        "a hand-written pair": lambda: acted(*twins(changes=3)),
        "a frozen copy that is trained itself": lambda: acted(*twins(changes=0, trained=True)),
    }
    FAULTY = {
        "an interval beyond the run": lambda: acted(
            an_agent("DQN", {"target_update_interval": 10_000}, target_looks=50, target_changes=0)
        ),
        "a tiny Polyak factor": lambda: acted(
            an_agent("SAC", {"tau": 1e-5}, target_looks=50, target_changes=50)
        ),
        "a hand-written pair": lambda: acted(*twins(changes=0)),
    }


class TargetFollowsAtOnce(Detector, code="D721"):
    """The target network is the same as the trained network whenever one looks.

    It is there to stand still for a while; a target that moves with every update lets errors feed on themselves. Usual causes: a copy at
    every step, a Polyak factor of one.
    """

    least_looks = convention(10, "looks at both networks")
    share_limit = exact(
        0.9, "of the looks; a target that stands still between updates is apart at most of them"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        found = agents(trace)
        for agent in found:
            share = agent.target_equal / max(1, agent.target_looks)
            if agent.target_looks >= self.least_looks and share >= self.share_limit:
                message = f"At {agent.target_equal} of {agent.target_looks} checks the target network was equal to the trained one."
                yield self.symptom(message, agent, share, self.share_limit)
        if found or training_world(trace) is None:
            return
        for probe in trace.probes(WHAT):
            values = probe.values
            share = values["equal"] / max(1, values["looks"])
            often = values["changes"] >= 0.5 * self.least_looks and share >= self.share_limit
            if not values["trained"] and values["twins"] and values["looks"] >= self.least_looks and often:
                message = f"At {values['equal']} of {values['looks']} checks `{probe.component}` was equal to `{values['twins'][0]}`, which is trained."
                yield self.symptom(message, probe.component, share, self.share_limit)

    HEALTHY = {
        "stands still between updates": lambda: acted(
            an_agent("DQN", target_looks=50, target_changes=10, target_equal=10)
        ),
        "a hand-written pair": lambda: acted(*twins(changes=30, equal=4)),
    }
    FAULTY = {
        "a Polyak factor of one": lambda: acted(
            an_agent("SAC", {"tau": 1.0}, target_looks=50, target_changes=50, target_equal=50)
        ),
        "a hand-written pair": lambda: acted(*twins(changes=40, equal=40)),
    }
