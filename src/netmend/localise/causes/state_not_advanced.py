"""RL-STEP-MISSING."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.measures.acting import agents, improved, returns, training_world
from netmend.diagnose.measures.acting_examples import a_world, acted
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, STRONG, fault, register
from netmend.localise.lines.acting_source import StepCall, names_in, step_call
from netmend.localise.lines.stored_steps import Standstill, standstill
from netmend.program.text.queries import last_name
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, Site, WorldFact


@register
class StateNotAdvanced:
    """The agent does not move on to the next state: what it acts on, or what it keeps of a step, stands still.

    An observation that is never replaced within an episode makes every action one for the first state. A step that is kept with the same state
    before and after it says nothing about what the action leads to. Take the observation that step() returns as the next state, and replace the
    old one only once the step is kept.
    """

    code: ClassVar[str] = "RL-STEP-MISSING"

    least_steps: int = threshold(200, "convention", "environment steps; shorter programs try something out")
    gain_limit: float = threshold(
        0.5, "convention", "rise of the return in standard deviations from which on the agent has got better"
    )

    def accuse(self, case: Case) -> Iterator[Fault]:
        world = training_world(case.trace)
        step = step_call(case.sources, world)
        if world is None or step is None or agents(case.trace) or world.steps < self.least_steps:
            return
        kept = standstill(step)
        if kept is not None:
            yield self._kept(case, world, step, kept)
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

    def _kept(self, case: Case, world: WorldFact, step: StepCall, kept: Standstill) -> Fault:
        line = case.sources.line(kept.site)
        if kept.advanced is None:
            text = f"`{kept.state}` is kept twice, as the state before the step and as the one after it: `{line}`."
            remedy = f"Keep `{step.observation}` as the state that followed, in place of the second `{kept.state}`."
        else:
            text = f"`{kept.state}` is already `{step.observation}` when the step is kept: `{line}`."
            remedy = f"Move `{case.sources.line(kept.advanced)}` below `{line}`."
        evidence = [Evidence(text, PROVEN)]
        if improved(returns(case.trace, world)) > self.gain_limit:
            evidence.append(Evidence("The return rose anyway.", -STRONG))
        return fault(
            self.code,
            evidence,
            component=world.name,
            site=kept.advanced or kept.site,
            summary=text,
            reason="Both states of every kept step are the same, so nothing can be learned about what an action leads to.",
            remedy=remedy,
            refutation="The environment has one state only.",
            related=[step.site, kept.site],
            explains=("D711", "D722", "D723", "D726", "D602"),
        )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "the state stays that of the reset",
            lambda: acted(a_world(stepped=Site("stale_state.txt", 14)), script="stale_state.txt"),
        ),
        Run(
            "the state is kept twice",
            lambda: acted(a_world(stepped=Site("state_kept_twice.txt", 19)), script="state_kept_twice.txt"),
        ),
        Run(
            "the state moves on before it is kept",
            lambda: acted(a_world(stepped=Site("state_moved_early.txt", 16)), script="state_moved_early.txt"),
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
        renewed = any(_renews(node, name, loop) for node in _nodes(case, step, name))
        read = any(
            isinstance(node, ast.Name | ast.Attribute)
            and last_name(node) == name
            and isinstance(node.ctx, ast.Load)
            for node in ast.walk(loop)
        )
        if read and not renewed:
            return name
    return ""


def _nodes(case: Case, step: StepCall, name: str) -> Iterator[ast.AST]:
    """Where a name may be given a value: an attribute by any method, a variable where it is used."""
    parts = list(ast.walk(step.scope))
    is_attribute = any(isinstance(part, ast.Attribute) and part.attr == name for part in parts)
    return case.sources.nodes(step.file) if is_attribute else iter(parts)


def _renews(node: ast.AST, name: str, loop: ast.For | ast.While) -> bool:
    """Not what only turns the old value into another form: `state = torch.tensor([state])`."""
    if name not in _targets(node) or _resets(node):
        return False
    value = getattr(node, "value", None)
    if not isinstance(node, ast.Assign) or value is None:
        return True
    made = {other for inner in ast.walk(loop) for other in _targets(inner)} - {name}
    names = set(names_in(value))
    return name not in names or bool(names & made)


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
