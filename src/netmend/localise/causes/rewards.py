"""Rewards and observations of an environment."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import replace

from netmend.diagnose.detectors.rewards import (
    ObservationBadlyScaled,
    RewardBadlyScaled,
    RewardConstant,
    RewardNotFinite,
)
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, STRONG, Accusation, Cause, accuses, for_symptom
from netmend.localise.lines.acting_source import step_call
from netmend.localise.lines.agent_lines import method_of, returned_line
from netmend.program.text.queries import last_name
from netmend.vocabulary import Fault, Symptom, WorldFact


@accuses("RL-REW-NORM-MISS", RewardBadlyScaled)
def rewards_not_scaled(case: Case, symptom: Symptom) -> Accusation | None:
    """Rewards are not scaled.

    The error of the value estimates grows with the square of the rewards; gradients of that size leave no room for the policy. Divide the reward so that
    returns are of the order of one to a hundred, or wrap the environments with VecNormalize(norm_reward=True).
    """
    world = case.trace.get(WorldFact, symptom.component)
    if world is None:
        return None
    method = method_of(world, "reward", "step")
    size = symptom.observed or 1.0
    return Accusation(
        STRONG + 1.0,
        component=world.name,
        site=returned_line(case.sources, method, 1) or world.created or world.stepped,
        reason="The value network cannot follow targets this large, and its error drowns out the policy's signal.",
        remedy=f"Divide the reward by about {10 ** round(math.log10(size)):g}, or use VecNormalize(norm_reward=True).",
        refutation="Scaling the rewards to about 1 does not speed up learning.",
        related=[world.created, world.stepped],
        explains=("D713", "D723", "D722", "D101", "D103", "D110", "D111", "D302"),
    )


_EXPLAINS = ("D711", "D712", "D722", "D501", "D110")


class RewardWithoutSignal(Cause, code="RL-REW-SPARSE"):
    """The reward does not tell good behaviour from bad: it never differs, or is undefined.

    An agent learns from differences between rewards alone. Reward progress towards the goal, start nearer to it, or mend the function that
    returns the same value (or none) on every branch.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D711", "D712"):
            world = case.trace.get(WorldFact, symptom.component)
            if world is not None and not _made_anew(case, world):
                yield self._fault(case, symptom, world)

    def _fault(self, case: Case, symptom: Symptom, world: WorldFact) -> Fault:
        lost_in = str(symptom.detail.get("flattened_by", ""))
        method = method_of(world, "reward", "step", kind=lost_in)
        own = method is not None and (bool(lost_in) or method.function.startswith(world.chain[-1:] or ("?",)))
        code = "RL-REW-RANGE" if symptom.code == "D712" else "RL-REW-SUBOPT" if own or lost_in else self.code
        site = returned_line(case.sources, method, 1) if own or symptom.code == "D712" else None
        place = f"`{method.function}`" if own and method is not None else "the environment"
        remedy = {
            "RL-REW-RANGE": f"Give every branch of {place} a finite reward.",
            "RL-REW-SUBOPT": f"Make {place} return a reward that differs between good and bad steps.",
            self.code: "Reward progress towards the goal (with a wrapper around the environment), or explore in a way that reaches it.",
        }[code]
        return self.fault(
            symptom,
            [for_symptom(symptom, PROVEN if symptom.code == "D712" or own else STRONG + 1.0)],
            code=code,
            component=world.name,
            site=site or world.created or world.stepped,
            reason="Without differences in reward, every policy is as good as any other.",
            remedy=remedy,
            refutation="Episodes of a random policy have different returns.",
            related=[world.stepped, method],
            explains=_EXPLAINS,
        )

    FAULTY = (
        *RewardConstant.FAULTY[:2],
        replace(RewardConstant.FAULTY[2], code="RL-REW-SUBOPT"),
        *(replace(run, code="RL-REW-RANGE") for run in RewardNotFinite.FAULTY),
    )


def _made_anew(case: Case, world: WorldFact) -> bool:
    """Whether the loop changes the reward after the step, so that what the environment returned is not what is learned from."""
    step = step_call(case.sources, world)
    if step is None or not step.reward:
        return False
    return any(
        (isinstance(node, ast.AugAssign) and last_name(node.target) == step.reward)
        or (
            isinstance(node, ast.Assign)
            and node is not step.statement
            and any(last_name(target) == step.reward for target in node.targets)
        )
        for node in ast.walk(step.scope)
    )


@accuses("RL-NORM-OBS", ObservationBadlyScaled)
def observations_not_normalised(case: Case, symptom: Symptom) -> Accusation | None:
    """Observations are not normalised.

    A network weighs its inputs alike at the start: a feature of thousands decides alone. Normalise with VecNormalize(norm_obs=True) or
    a wrapper that divides by known ranges, and keep the same statistics for testing.
    """
    world = case.trace.get(WorldFact, symptom.component)
    if world is None:
        return None
    method = method_of(world, "observation", "step")
    return Accusation(
        STRONG + 1.5,
        component=world.name,
        site=returned_line(case.sources, method, 0) or world.created or world.stepped,
        reason="The largest feature dominates the output; the others are noise next to it.",
        remedy=f"Divide feature {symptom.detail['feature']} by about {symptom.observed:.2g}, or wrap the environment with VecNormalize "
        "or gymnasium.wrappers.NormalizeObservation.",
        refutation="Scaling the observations to about 1 does not speed up learning.",
        related=[world.created, world.stepped],
        explains=("D714", "D302", "D101", "D103", "D104", "D105", "D722", "D723", "D112"),
    )
