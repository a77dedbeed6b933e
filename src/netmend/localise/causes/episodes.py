"""How the episodes of an agent begin, go on and end."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.diagnose.detectors.episodes import SameStart, SteppedAfterEnd, TruncationMerged
from netmend.diagnose.examples.agents import stepped_at
from netmend.diagnose.measures.acting import agents, improved, returns, training_world
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, Accusation, Cause, accuses, fault, for_symptom
from netmend.localise.lines.acting_source import Standstill, StepCall, kept, standstill, step_call
from netmend.localise.lines.agent_lines import method_of, returned_line
from netmend.localise.lines.bootstrap_source import bootstraps
from netmend.program.text.queries import inside, last_name, names_in, site_of
from netmend.unit import Run, convention
from netmend.vocabulary import Evidence, Fault, ModelFact, Site, Symptom, WorldFact


@accuses("RL-FA-START-STATE", SameStart)
def same_start_state(case: Case, symptom: Symptom) -> Accusation | None:
    """Every episode starts in the same state.

    What is learned holds for one episode. Give a seed to the first reset only, so that later episodes draw their own start.
    """
    world = case.trace.get(WorldFact, symptom.component)
    if world is not None:
        return Accusation(
            PROVEN,
            component=world.name,
            site=world.reset or world.stepped,
            reason="The agent memorises one episode and fails from other starting states.",
            remedy="Pass `seed=` only to the first `reset`, before the loop.",
            refutation="The environment has only one starting state.",
            related=[world.stepped],
            explains=("D718", "D711"),
        )
    return None


@accuses("RL-EXP-RESET", SteppedAfterEnd)
def environment_not_reset(case: Case, symptom: Symptom) -> Accusation | None:
    """The environment is not reset when an episode has ended.

    States and rewards after the end belong to no episode. Call reset() whenever terminated or truncated is true, and take the observation it
    returns as the next state.
    """
    world = case.trace.get(WorldFact, symptom.component)
    if world is None:
        return None
    cut = symptom.detail["truncated"] > symptom.detail["terminated"]
    which = "truncated as well as for terminated" if cut else "terminated and truncated"
    return Accusation(
        PROVEN,
        component=world.name,
        site=world.stepped,
        reason="After an episode ends, the environment continues from states no episode reaches, with meaningless rewards.",
        remedy=f"After this step, check {which} and call `reset()` when one is true.",
        refutation="The environment resets itself.",
        related=[world.reset, world.created],
        explains=("D715", "D711", "D722", "D723", "D717"),
    )


class EndOfEpisodeIgnored(Cause, code="RL-ENV-DONES"):
    """The targets ignore that an episode has ended.

    The value of the state after an end is that of the next episode's start, or of nothing at all; it must not count. Multiply what
    follows by `1 - terminated`.
    """

    least_ends = convention(3, "episodes that really ended; without any the mask would change nothing")

    def accuse(self, case: Case) -> Iterator[Fault]:
        world = training_world(case.trace)
        step = step_call(case.sources, world)
        if world is None or step is None or agents(case.trace) or world.terminated < self.least_ends:
            return
        if not case.trace.run.steps:
            return
        found = bootstraps(case.sources, case.trace, step)
        if not found or any(target.masked for target in found):
            return
        text = f"The target adds the value of the next state at every step, including the {world.terminated} that ended an episode."
        evidence = [Evidence(text, PROVEN - FAIR)]
        evidence += [for_symptom(symptom, FAIR) for symptom in case.of("D723")[:1]]
        yield fault(
            self.code,
            evidence,
            component=world.name,
            site=found[0].site,
            summary=text,
            reason="Values leak from one episode into the next, and failing costs the agent nothing.",
            remedy="Multiply the value of the next state by `1 - terminated`.",
            refutation="The program excludes ended episodes from its targets in another way.",
            related=[step.site],
            explains=("D723", "D717"),
        )

    FAULTY = {"a target without a mask": lambda: stepped_at(14, "no_mask.txt")}


class TruncationAsTermination(Cause, code="RL-ENV-FLAGS"):
    """An episode that was cut off by a time limit is treated as one that has ended.

    Nothing follows an end, so its target is the last reward alone; a state that was merely cut off would have had a future, and its value is learned too low. Keep
    `terminated` for targets and `terminated or truncated` for the loop.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D716"):
            world = case.trace.get(WorldFact, symptom.component)
            method = None if world is None else method_of(world, "step")
            site = returned_line(case.sources, method, 2) or symptom.site
            yield self._fault(
                [for_symptom(symptom, PROVEN)], symptom, site, "Return the two flags unchanged.", [method]
            )
        for symptom in case.of("D717"):
            step = step_call(case.sources, training_world(case.trace))
            if step is not None:
                yield from self._by_hand(case, symptom, step)

    def _by_hand(self, case: Case, symptom: Symptom, step: StepCall) -> Iterator[Fault]:
        """Both flags go into one name, that name is kept, and the targets are masked with something."""
        combined = step.combined
        if not combined or kept(step, {step.terminated}) or not kept(step, set(combined)):
            return
        targets = [target for target in bootstraps(case.sources, case.trace, step) if target.masked]
        if not targets:
            return
        name, statement = next(iter(combined.items()))
        text = f"`{name}` joins both flags, and only it is kept for the targets."
        evidence = [Evidence(text, STRONG + FAIR), for_symptom(symptom, FAIR)]
        remedy = f"Keep `{step.terminated}` for the targets; `{name}` is right for ending the loop."
        yield self._fault(
            evidence, symptom, site_of(step.file, statement), remedy, [step.site, targets[0].site], text
        )

    def _fault(
        self,
        evidence: list[Evidence],
        symptom: Symptom,
        site: Site | None,
        remedy: str,
        related: list[Site | None],
        text: str = "",
    ) -> Fault:
        return fault(
            self.code,
            evidence,
            component=symptom.component,
            site=site,
            summary=f"{text} {symptom.message}".strip(),
            reason="Values of late states are learned too low, although nothing really ends there.",
            remedy=remedy,
            refutation="Time is part of the task, and the observation includes the time left.",
            related=related,
            explains=("D716", "D717"),
        )

    FAULTY = (
        *TruncationMerged.FAULTY,
        Run(
            "a hand-written replay buffer that keeps `done`",
            lambda: stepped_at(
                16, "flags_joined.txt", ModelFact("target", "Linear"), truncated=60, terminated=90
            ),
        ),
    )


class StateNotAdvanced(Cause, code="RL-STEP-MISSING"):
    """The agent does not move on to the next state: what it acts on, or what it keeps of a step, stands still.

    An observation that is never replaced within an episode makes every action one for the first state. A step that is kept with the same state
    before and after it says nothing about what the action leads to. Take the observation that step() returns as the next state, and replace the
    old one only once the step is kept.
    """

    least_steps = convention(200, "environment steps; shorter programs try something out")
    gain_limit = convention(
        0.5, "rise of the return in standard deviations from which on the agent has got better"
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

    FAULTY = {
        "the state stays that of the reset": lambda: stepped_at(14, "stale_state.txt"),
        "the state is kept twice": lambda: stepped_at(19, "state_kept_twice.txt"),
        "the state moves on before it is kept": lambda: stepped_at(16, "state_moved_early.txt"),
    }


def _stale(case: Case, step: StepCall) -> str:
    """The name that reset() fills, that the loop reads, and that nothing in the loop renews; "" if there is none."""
    loop = case.sources.loop_around(step.site)
    if loop is None or not step.observation:
        return ""
    starts = {
        last_name(target.elts[0] if isinstance(target, ast.Tuple) else target)
        for node in inside(step.scope, ast.Assign)
        if isinstance(node.value, ast.Call) and last_name(node.value.func) == "reset"
        for target in node.targets
    } - {"", "_", step.observation}
    for name in sorted(starts):
        renewed = any(_renews(node, name, loop) for node in _nodes(case, step, name))
        read = any(
            last_name(node) == name and isinstance(node.ctx, ast.Load)
            for node in inside(loop, ast.Name, ast.Attribute)
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
