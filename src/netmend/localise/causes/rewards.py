"""Rewards and observations of an environment, and the rule by which estimates follow them."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import replace

from netmend.diagnose.detectors.agents import ValuesExplode
from netmend.diagnose.detectors.rewards import (
    ObservationBadlyScaled,
    RewardBadlyScaled,
    RewardConstant,
    RewardNotFinite,
)
from netmend.diagnose.examples.agents import stepped_at
from netmend.diagnose.measures.acting import agents, improved, returns, training_world
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, Accusation, Cause, accuses, fault, for_symptom
from netmend.localise.lines.acting_source import assigned, step_call
from netmend.localise.lines.agent_lines import lowered_likelihood, method_of, returned_line
from netmend.localise.lines.bootstrap_source import Bootstrap, bootstraps
from netmend.localise.lines.head_lines import text_at
from netmend.program.text.queries import inside, last_name, names_in, site_of
from netmend.unit import Run, convention
from netmend.vocabulary import Evidence, Fault, ModelFact, Site, Symptom, WorldFact


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


class UpdateRuleWrong(Cause, code="RL-NET-RULE"):
    """The rule by which estimates are updated is wrong: returns summed from the wrong end, or values that feed on themselves.

    The return of a step is its reward plus the discounted return of the next one, so the sum runs backwards. Values beyond any
    possible return come from targets that contain them.
    """

    gain_limit = convention(
        0.5, "rise of the return in standard deviations from which on the agent has got better"
    )

    def accuse(self, case: Case) -> Iterator[Fault]:
        world = training_world(case.trace)
        if world is None or world.stepped is None or not case.trace.run.steps:
            return
        if not agents(case.trace):
            for file in case.sources.files(world.stepped.file):
                for loop in case.sources.nodes(file):
                    statement = (
                        _forward_sum(loop, case.sources.tree(file)) if isinstance(loop, ast.For) else None
                    )
                    if statement is not None:
                        yield self._forward(case, world.name, site_of(file, statement), world.stepped)
            worse = case.first("D726")
            files = case.sources.files(case.trace.run.script) if worse is not None else ()
            sites = (lowered_likelihood(case.sources, file) for file in files)
            site = next((found for found in sites if found is not None), None)
            read = any(finding.cause == "LOS-CALC" for finding in case.findings)
            if worse is not None and site is not None and not read:
                yield self._lowered(case, world, site, worse)
        step = step_call(case.sources, world)
        if step is not None:
            for target in bootstraps(case.sources, case.trace, step):
                if target.negated and (target.negated == step.reward or target.negated.startswith("reward")):
                    yield self._turned(case, world, target)
                    break
                if target.states:
                    yield self._same_states(case, world, target)
                    break
        for symptom in case.of("D723"):
            yield self.fault(
                symptom,
                [for_symptom(symptom, STRONG)],
                component=world.name,
                site=case.trace.losses[0].backward if case.trace.losses else world.stepped,
                reason="Estimates beyond any possible return come from targets computed with the estimates themselves.",
                remedy="Compute the targets without gradients, from a fixed target network, and stop them at the end of the episode.",
                refutation="The network does not output state values.",
                related=[world.stepped],
                explains=("D723", "D722"),
            )

    def _turned(self, case: Case, world: WorldFact, target: Bootstrap) -> Fault:
        text = f"The target subtracts the reward: `{case.sources.line(target.site)}`."
        evidence = [Evidence(text, STRONG + FAIR)]
        if improved(returns(case.trace, world)) > self.gain_limit:
            evidence.append(Evidence("The return rose anyway.", -2 * STRONG))
        return fault(
            self.code,
            evidence,
            component=world.name,
            site=target.site,
            summary=text,
            reason="The agent learns to avoid what is rewarded.",
            remedy="Add the reward without the minus.",
            refutation="What the program calls a reward is a cost.",
            related=[world.stepped],
            explains=("D722", "D726"),
        )

    def _lowered(self, case: Case, world: WorldFact, site: Site, worse: Symptom) -> Fault:
        text = f"The loss is the log-likelihood of the actions times what they brought, without a minus: `{case.sources.line(site)}`."
        return fault(
            self.code,
            [Evidence(text, STRONG), for_symptom(worse, STRONG)],
            component=world.name,
            site=site,
            summary=text,
            reason="The optimiser makes the loss small, and so the actions that were rewarded less likely.",
            remedy=f"Put a minus before the product at {text_at(case, site)}.",
            refutation="What is multiplied is a cost.",
            related=[world.stepped],
            explains=("D722", "D726"),
        )

    def _same_states(self, case: Case, world: WorldFact, target: Bootstrap) -> Fault:
        text = f"Prediction and target are both about `{target.states}`: the target asks for the value of the same states, not of those that followed."
        evidence = [Evidence(text, PROVEN)]
        if improved(returns(case.trace, world)) > self.gain_limit:
            evidence.append(Evidence("The return rose anyway.", -FAIR))
        return fault(
            self.code,
            evidence,
            component=world.name,
            site=target.answer,
            summary=text,
            reason="A value that is compared with itself grows by the reward until the discount stops it, whatever the action leads to.",
            remedy=f"Ask the model in {text_at(case, target.answer)} about the states that followed.",
            refutation="What is called by one name are other states by then.",
            related=[target.site],
            explains=("D722", "D723", "D726"),
        )

    def _forward(self, case: Case, component: str, site: Site, stepped: Site) -> Fault:
        text = "The loop adds up rewards from the first step to the last: what it uses as the return of a step consists of past rewards."
        return fault(
            self.code,
            [Evidence(text, PROVEN)],
            component=component,
            site=site,
            summary=text,
            reason="Actions are then blamed for rewards that came before them.",
            remedy="Go through the rewards backwards (`reversed(rewards)`) and restore the order of the steps afterwards.",
            refutation="The sum is not used as the return of a step.",
            related=[stepped],
            explains=("D722",),
        )

    FAULTY = (
        Run("returns from the wrong end", lambda: stepped_at(13, "forward_returns.txt")),
        Run(
            "the reward with a minus", lambda: stepped_at(14, "reward_turned.txt", returns=[10.0, 11.0] * 30)
        ),
        Run(
            "a target about the same states",
            lambda: stepped_at(
                28,
                "same_states.txt",
                ModelFact("q_net", "Linear", parameters=10, trainable=10),
                ModelFact("target", "Linear", parameters=10, trainable=10),
                returns=[10.0, 11.0] * 30,
            ),
        ),
        Run("returns from the wrong end, used at once", lambda: stepped_at(13, "forward_weights.txt")),
        Run(
            "likelihoods of rewarded actions lowered",
            lambda: stepped_at(
                23, "likelihood_lowered.txt", returns=[22.0, 25.0, 18.0] * 10 + [9.0, 10.0, 9.5] * 20
            ),
        ),
        *ValuesExplode.FAULTY,
    )


def _forward_sum(loop: ast.For, tree: ast.AST | None) -> ast.Assign | None:
    """`for r in rewards: R = r + gamma * R; returns.append(R)`, in the order of time."""
    over = set(names_in(loop.iter))
    texts = [
        loop.iter,
        *(value for name in over for value in (assigned(tree, name) if tree is not None else ())),
    ]
    if any(_backwards(text) for text in texts):
        return None
    counted = set(names_in(loop.target))
    for statement in loop.body:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.BinOp):
            continue
        name = last_name(statement.targets[0])
        sides = (statement.value.left, statement.value.right)
        grows = isinstance(statement.value.op, ast.Add) and any(
            isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mult) and name in names_in(side)
            for side in sides
        )
        added = any(counted & set(names_in(side)) and name not in names_in(side) for side in sides)
        stored = any(
            isinstance(node, ast.Call)
            and last_name(node.func) in ("append", "insert", "appendleft")
            and any(last_name(argument) == name for argument in node.args)
            for other in loop.body
            for node in ast.walk(other)
        )
        if name and grows and added and (stored or _weighs(loop, statement, name)):
            return statement
    return None


def _weighs(loop: ast.For, sum_: ast.Assign, name: str) -> bool:
    """`loss = -log_prob * R` in the same round, and a backward() or append() of it: the sum is the weight of an action."""
    made = {
        last_name(target)
        for other in loop.body
        if isinstance(other, ast.Assign) and other is not sum_
        for node in inside(other.value, ast.BinOp)
        if isinstance(node.op, ast.Mult) and name in names_in(node)
        for target in other.targets
    }
    return any(
        isinstance(node, ast.Call)
        and (
            (last_name(node.func) == "backward" and made.intersection(names_in(node.func)))
            or (last_name(node.func) == "append" and any(made.intersection(names_in(a)) for a in node.args))
        )
        for other in loop.body
        for node in ast.walk(other)
    )


def _backwards(node: ast.AST) -> bool:
    """`reversed(x)`, `x[::-1]`, `range(n - 1, -1, -1)`."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and last_name(part.func) in ("reversed", "flip", "flipud", "sorted"):
            return True
        if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub):
            return True
    return False
