"""RL-EXP-MISSING."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.measures.acting import agents, training_world
from netmend.diagnose.measures.acting_examples import a_world, acted
from netmend.localise.acting_source import StepCall, own_functions, resolved, step_call
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, fault, for_symptom, register
from netmend.localise.source import last_name, site_of
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, Site

_RANDOM = {
    "random", "rand", "randn", "rand_like", "randn_like", "randint", "randrange", "uniform", "uniform_", "choice", "choices", "sample",
    "rsample", "multinomial", "normal", "normal_", "integers", "bernoulli", "bernoulli_", "gumbel", "gumbel_softmax", "exponential_",
    "Categorical", "Normal",
}  # fmt: skip
_GREEDY = {"argmax", "max", "topk"}


@register
class ExplorationMissing:
    """The agent does not explore: it always takes the action that it thinks best.

    It never sees what the other actions lead to, and its first guess is all it has. Take a random action now and then (epsilon-greedy), or draw
    actions from the policy's distribution.
    """

    code: ClassVar[str] = "RL-EXP-MISSING"

    least_steps: int = threshold(200, "convention", "environment steps; shorter programs try something out")

    def accuse(self, case: Case) -> Iterator[Fault]:
        world = training_world(case.trace)
        step = step_call(case.sources, world)
        if world is None or step is None or agents(case.trace) or world.steps < self.least_steps:
            return
        if (
            world.actions < 2
            or not case.trace.run.steps
            or not step.call.args
            or not _only_greedy(case, step)
        ):
            return
        text = "Every step takes the action with the highest estimate; no choice is ever random."
        evidence = [Evidence(text, STRONG + FAIR)]
        evidence += [for_symptom(symptom, FAIR) for symptom in case.of("D722")[:1]]
        yield fault(
            self.code,
            evidence,
            component=world.name,
            site=_place(step),
            summary=text,
            reason="What is never tried is never learned.",
            remedy="Take a random action with a probability that falls from 1 to 0.05 over the first tenth to half of the run.",
            refutation="The environment is random enough to reveal every action's outcome.",
            related=[step.site],
            explains=("D722",),
        )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "always the best guess",
            lambda: acted(a_world(stepped=Site("always_greedy.txt", 14)), script="always_greedy.txt"),
        ),
    )


def _only_greedy(case: Case, step: StepCall) -> bool:
    """Whether the action comes from a maximum and nothing random is in sight, also in the program's functions that are called for it."""
    waiting: list[ast.AST] = list(resolved(step.scope, step.call.args[0]))
    greedy, seen = False, set()
    while waiting:
        node = waiting.pop()
        for part in ast.walk(node):
            name = last_name(part.func) if isinstance(part, ast.Call) else last_name(part)
            if name in _RANDOM:
                return False
            greedy |= name in _GREEDY
            if isinstance(part, ast.Call) and name not in seen:
                seen.add(name)
                waiting.extend(own_functions(case.sources, step.file, name))
    return greedy


def _place(step: StepCall) -> Site:
    """The statement that chooses the action; the step itself where the choice stands within it."""
    action = step.call.args[0]
    for node in ast.walk(step.scope):
        if isinstance(node, ast.Assign) and any(
            last_name(t) == last_name(action) != "" for t in node.targets
        ):
            return site_of(step.file, node)
    return step.site
