"""Settings of agents, when they learn, and how they explore."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from netmend.diagnose.detectors.agents import ActionsCollapse, AgentSettingUnusual, LearningNeverStarts
from netmend.diagnose.detectors.episodes import FewRollouts
from netmend.diagnose.examples.agents import stepped_at
from netmend.diagnose.measures.acting import agents, training_world
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, Accusation, Cause, accuses, fault, for_symptom
from netmend.localise.lines.acting_source import StepCall, resolved, step_call
from netmend.localise.lines.agent_lines import learning_guard, planned_line, setting_line
from netmend.program.text.queries import Function, last_name, site_of
from netmend.unit import convention
from netmend.vocabulary import AgentFact, Evidence, Fault, Site, Symptom

_EXPLAINS = {
    "HYP-LR-HIGH": ("D101", "D103", "D104", "D105", "D110", "D121", "D722", "D723"),
    "RL-FA-CLIP": ("D101", "D103", "D211"),
    "OPT-CLIP": ("D211",),
    "RL-REG-ENTROPY": ("D722",),
    "RL-EXP-EPS": ("D722",),
    "RL-EXP-DECAY": ("D722",),
    "RL-NET-TAU": ("D720", "D721", "D723"),
    "RL-GAMMA": ("D723",),
}


class AgentSettings(Cause, code="RL-GAMMA"):
    """A setting of the agent is far outside what its algorithm is used with: discount, entropy, exploration, buffer, rate.

    The settings of these algorithms hang together, and each has a range within which it works on most tasks. Go back to the
    library's default unless there is a reason for the value.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D724"):
            agent = next(
                (
                    a
                    for a in case.trace.all(AgentFact)
                    if symptom.component == f"{a.name}.{symptom.detail['setting']}"
                ),
                None,
            )
            if agent is not None:
                yield self._fault(case, symptom, agent)

    def _fault(self, case: Case, symptom: Symptom, agent: AgentFact) -> Fault:
        name, leaf = symptom.detail["setting"], symptom.detail["leaf"]
        explains = _EXPLAINS.get(leaf, ())
        evidence = [for_symptom(symptom, STRONG + FAIR)]
        seen = case.first(*explains)
        if seen is not None:
            evidence.append(for_symptom(seen, FAIR))
        if name in ("vf_coef", "max_grad_norm", "clip_range"):
            evidence.append(Evidence("A single run hardly shows the effect of this setting.", -0.5))
        return self.fault(
            symptom,
            evidence,
            code=leaf,
            site=setting_line(case.sources, agent, name),
            reason=f"{agent.kind} is rarely used with such a value: {symptom.message.partition(': ')[2].rstrip('.')}.",
            remedy=f"Set `{name}` to {symptom.detail['better']}.",
            refutation=f"The usual value of `{name}` trains no better.",
            related=[agent.created],
            explains=explains,
        )

    FAULTY = tuple(
        replace(run, code=code)
        for run, code in zip(
            AgentSettingUnusual.FAULTY,
            ("RL-GAMMA", "RL-EXP-MIN", "RL-BUF-SIZE", "RL-REG-ENTROPY"),
            strict=True,
        )
    )


@accuses("RL-BUDGET-STEPS", FewRollouts)
def agent_trained_briefly(case: Case, symptom: Symptom) -> Accusation | None:
    """The agent is trained for too few steps.

    Each training moves the policy a little. Ask for at least ten to a hundred times as many steps as one rollout has.
    """
    agent = case.trace.get(AgentFact, symptom.component)
    if agent is None:
        return None
    return Accusation(
        STRONG + 1.0,
        component=agent.name,
        site=planned_line(case.sources, agent),
        reason="A policy that is updated this rarely is still close to its random start.",
        remedy=f"Ask for at least {20 * symptom.detail['rollout']} steps, or gather fewer per rollout.",
        refutation="The return cannot get any better.",
        related=[agent.created, agent.learned],
        explains=("D725", "D722", "D711"),
    )


class LearningStartsLate(Cause, code="RL-FA-LEARN-START"):
    """Learning starts too late, or after the program has ended.

    Until then the agent acts with random weights. Start learning within the first tenth of the run, and see that the replay
    buffer can hold what is waited for.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D719"):
            agent = case.trace.get(AgentFact, symptom.component)
            yield (
                self._of_library(case, symptom, agent) if agent is not None else self._by_hand(case, symptom)
            )

    def _of_library(self, case: Case, symptom: Symptom, agent: AgentFact) -> Fault:
        start = agent.settings.get("learning_starts") or 0
        every = agent.settings.get("train_freq") or 1
        name = "learning_starts" if start * 2 > agent.timesteps else "train_freq"
        if agent.settings.get("gradient_steps") == 0:
            name = "gradient_steps"
        value = {"learning_starts": start, "train_freq": every}.get(name, 0)
        return self.fault(
            symptom,
            [for_symptom(symptom, PROVEN if symptom.detail["never"] else STRONG + 0.5)],
            component=agent.name,
            site=setting_line(case.sources, agent, name),
            reason=f"With `{name}={value}` and {agent.timesteps} steps in total, the agent stays untrained.",
            remedy=f"Lower `{name}`, or ask for more steps in {_short(planned_line(case.sources, agent))}.",
            refutation="The steps before learning are only meant to fill the buffer.",
            related=[agent.created, agent.learned],
            explains=("D719", "D722", "D720"),
        )

    def _by_hand(self, case: Case, symptom: Symptom) -> Fault:
        site = symptom.site
        guard = None if site is None else learning_guard(case.sources, site.file)
        small = guard is not None and guard.value and guard.buffer_size and guard.buffer_size < guard.value
        place = site if guard is None else guard.buffer if small else guard.number
        remedy = "Begin learning within the first tenth of the steps."
        if guard is not None and guard.value is not None:
            remedy = f"The program waits for {guard.value}; lower that."
            if small:
                remedy = f"The buffer holds {guard.buffer_size}, but the program waits for {guard.value}; make it larger."
        return self.fault(
            symptom,
            [for_symptom(symptom, PROVEN if symptom.detail["never"] else STRONG + 0.5)],
            code="RL-BUF-SIZE" if small else self.code,
            site=place,
            reason="The agent still acts with its initial weights.",
            remedy=remedy,
            refutation="The steps before learning are only meant to fill the buffer.",
            related=[site, None if guard is None else guard.number],
            explains=("D719", "D722", "D720", "D202", "D228"),
        )

    FAULTY = LearningNeverStarts.FAULTY


def _short(site: object) -> str:
    return str(getattr(site, "short", "") or "learn()")


@accuses("RL-REG-ENTROPY", ActionsCollapse)
def policy_collapses(case: Case, symptom: Symptom) -> Accusation:
    """The policy collapses onto one action: nothing keeps it trying others.

    Once it is certain it sees no other outcome. Add an entropy bonus of about 0.01, lower the learning rate, and normalise advantages.
    """
    agent = next(iter(agents(case.trace)), None)
    site = None if agent is None else setting_line(case.sources, agent, "ent_coef")
    backward = next((loss.backward for loss in case.trace.losses if loss.backward is not None), None)
    return Accusation(
        STRONG,
        site=site or backward or symptom.site,
        reason="A policy that is certain no longer explores.",
        remedy="Add an entropy bonus of about 0.01 to the objective, and lower the learning rate.",
        refutation="One action is right in every state.",
        related=[symptom.site],
        explains=("D722",),
    )


_RANDOM = {
    "random", "rand", "randn", "rand_like", "randn_like", "randint", "randrange", "uniform", "uniform_", "choice", "choices", "sample",
    "rsample", "multinomial", "normal", "normal_", "integers", "bernoulli", "bernoulli_", "gumbel", "gumbel_softmax", "exponential_",
    "Categorical", "Normal",
}  # fmt: skip
_INITIAL = re.compile("init|reset_param|weights", re.IGNORECASE)
_GREEDY = {"argmax", "max", "topk"}


class ExplorationMissing(Cause, code="RL-EXP-MISSING"):
    """The agent does not explore: it always takes the action that it thinks best.

    It never sees what the other actions lead to, and its first guess is all it has. Take a random action now and then (epsilon-greedy), or draw
    actions from the policy's distribution.
    """

    least_steps = convention(200, "environment steps; shorter programs try something out")

    def accuse(self, case: Case) -> Iterator[Fault]:
        world = training_world(case.trace)
        step = step_call(case.sources, world)
        if world is None or step is None or agents(case.trace) or world.steps < self.least_steps:
            return
        if world.actions < 2 or not case.trace.run.steps or not step.call.args:
            return
        choice = _greedy_choice(case, step)
        if choice is None or any(_is_noisy(case, file) for file in case.sources.files(step.file)):
            return
        text = "Every step takes the action with the highest estimate; no choice is ever random."
        evidence = [Evidence(text, STRONG + FAIR)]
        evidence += [for_symptom(symptom, FAIR) for symptom in case.of("D722")[:1]]
        yield fault(
            self.code,
            evidence,
            component=world.name,
            site=choice,
            summary=text,
            reason="What is never tried is never learned.",
            remedy="Take a random action with a probability that falls from 1 to 0.05 over the first tenth to half of the run.",
            refutation="The environment is random enough to reveal every action's outcome.",
            related=[step.site],
            explains=("D722",),
        )

    FAULTY = {"always the best guess": lambda: stepped_at(14, "always_greedy.txt")}


def _greedy_choice(case: Case, step: StepCall) -> Site | None:
    """Where the action is taken from a maximum, if nothing random is in sight, also in the program's functions that are called for it."""
    waiting: list[tuple[str, ast.AST]] = [
        (step.file, node) for node in resolved(step.scope, step.call.args[0])
    ]
    greedy: Site | None = None
    seen: set[str] = set()
    while waiting:
        file, node = waiting.pop()
        for part in _reachable(node):
            name = last_name(part.func) if isinstance(part, ast.Call) else last_name(part)
            if name in _RANDOM:
                return None
            if name in _GREEDY and isinstance(part, ast.Call):
                greedy = site_of(file, part)
            if isinstance(part, ast.Call) and name not in seen:
                seen.add(name)
                waiting.extend(_functions(case, step, name))
    return greedy


def _functions(case: Case, step: StepCall, name: str) -> Iterator[tuple[str, ast.AST]]:
    for file in case.sources.files(step.file):
        for node in case.sources.nodes(file):
            if isinstance(node, Function) and node.name == name:
                yield file, node


def _reachable(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a piece of source that can run: not the other branch of `if True`."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.If | ast.IfExp) and isinstance(node.test, ast.Constant):
            kept = node.body if node.test.value else node.orelse
            if child is not kept and not (isinstance(kept, list) and child in kept):
                continue
        yield from _reachable(child)


def _is_noisy(case: Case, file: str) -> bool:
    """Whether a network of the program draws numbers itself, as layers with noise on their weights do."""
    for kind in case.sources.nodes(file, ast.ClassDef):
        methods = [
            node for node in kind.body if isinstance(node, Function) and not _INITIAL.search(node.name)
        ]
        if any(node.name == "forward" for node in methods) and any(
            isinstance(part, ast.Call) and last_name(part.func) in _RANDOM
            for method in methods
            for part in ast.walk(method)
        ):
            return True
    return False
