"""RL-EXP-MISSING."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.measures.acting import agents, training_world
from netmend.diagnose.measures.acting_examples import a_world, acted
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, fault, for_symptom, register
from netmend.localise.lines.acting_source import StepCall, resolved, step_call
from netmend.program.text.queries import Function, last_name, site_of
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, Site

_RANDOM = {
    "random", "rand", "randn", "rand_like", "randn_like", "randint", "randrange", "uniform", "uniform_", "choice", "choices", "sample",
    "rsample", "multinomial", "normal", "normal_", "integers", "bernoulli", "bernoulli_", "gumbel", "gumbel_softmax", "exponential_",
    "Categorical", "Normal",
}  # fmt: skip
_INITIAL = re.compile("init|reset_param|weights", re.IGNORECASE)
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

    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "always the best guess",
            lambda: acted(a_world(stepped=Site("always_greedy.txt", 14)), script="always_greedy.txt"),
        ),
    )


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
    for kind in case.sources.nodes(file):
        if not isinstance(kind, ast.ClassDef):
            continue
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
