"""RL-STEP-MISSING."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.measures.acting import agents, training_world
from netmend.diagnose.measures.acting_examples import a_world, acted
from netmend.localise.acting_source import StepCall, names_in, step_call
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, register
from netmend.localise.source import last_name
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, Site


@register
class StateNotAdvanced:
    """The agent does not move on to the next state: the observation it acts on is never replaced within an episode.

    It chooses every action of an episode from the first observation, and every transition it learns from starts there. Take the observation
    that step() returns as the next state.
    """

    code: ClassVar[str] = "RL-STEP-MISSING"

    least_steps: int = threshold(200, "convention", "environment steps; shorter programs try something out")

    def accuse(self, case: Case) -> Iterator[Fault]:
        world = training_world(case.trace)
        step = step_call(case.sources, world)
        if world is None or step is None or agents(case.trace) or world.steps < self.least_steps:
            return
        name = _stale(case, step)
        if not name:
            return
        text = f"`{name}` is what reset() returned; the loop never updates it with the step's `{step.observation}`."
        yield fault(
            self.code,
            [Evidence(text, PROVEN)],
            component=world.name,
            site=step.site,
            summary=text,
            reason="Every action of an episode is chosen for its first state.",
            remedy=f"Add `{name} = {step.observation}` at the end of the loop.",
            refutation="The action does not depend on the observation on purpose.",
            related=[world.reset],
            explains=("D711", "D722", "D602"),
        )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "the state stays that of the reset",
            lambda: acted(a_world(stepped=Site("stale_state.txt", 14)), script="stale_state.txt"),
        ),
    )


def _stale(case: Case, step: StepCall) -> str:
    """The name that reset() fills, that the loop reads, and that nothing in the loop renews; "" if there is none."""
    loop = case.sources.loop_around(step.site)
    if loop is None or not step.observation:
        return ""
    starts = {
        last_name(target.elts[0] if isinstance(target, ast.Tuple) else target)
        for node in ast.walk(step.scope)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and last_name(node.value.func) == "reset"
        for target in node.targets
    } - {"", "_", step.observation}
    for name in sorted(starts):
        renewed = any(name in _targets(node) and not _resets(node) for node in ast.walk(step.scope))
        read = any(
            isinstance(node, ast.Name | ast.Attribute)
            and last_name(node) == name
            and isinstance(node.ctx, ast.Load)
            for node in ast.walk(loop)
        )
        if read and not renewed:
            return name
    return ""


def _targets(node: ast.AST) -> set[str]:
    """Names that a statement gives a value to, those behind an index among them."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.NamedExpr | ast.For):
        targets = [node.target]
    return {name for target in targets for name in names_in(target)}


def _resets(node: ast.AST) -> bool:
    value = getattr(node, "value", None)
    return isinstance(value, ast.Call) and last_name(value.func) == "reset"
