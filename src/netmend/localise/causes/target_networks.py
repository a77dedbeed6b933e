"""Target networks: shared with the trained one, or updated at the wrong pace."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from netmend.diagnose.detectors.agents import TargetFollowsAtOnce, TargetNeverMoves
from netmend.diagnose.examples.agents import stepped_at
from netmend.diagnose.measures.acting import agents, training_world
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, Cause, fault, for_symptom
from netmend.localise.lines.acting_source import model_words, step_call
from netmend.localise.lines.agent_lines import copied_again, made_line, setting_line, target_updates
from netmend.localise.lines.bootstrap_source import bootstraps
from netmend.program.settings import value_origin
from netmend.program.text.queries import inside, last_name, site_of
from netmend.vocabulary import AgentFact, Evidence, Fault, Site, Symptom, WorldFact


class TargetNetworkShared(Cause, code="RL-NET-BIASED"):
    """The target network is the trained network itself under a second name, or is never asked.

    It moves with every update, so errors feed on themselves. Make a copy: `copy.deepcopy(network)`, or a second network that loads the
    first one's weights.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        world = training_world(case.trace)
        if world is None or world.stepped is None or agents(case.trace) or not case.trace.run.steps:
            return
        yield from self._unused(case, world)
        words = model_words(case.trace)
        for file in case.sources.files(world.stepped.file):
            called = {last_name(node.func) for node in case.sources.nodes(file, ast.Call)}
            for node in case.sources.nodes(file):
                pair = _alias(node, words)
                if pair is None or not set(pair) <= called:
                    continue
                text = f"`{pair[0]}` is `{pair[1]}` itself, not a copy of it, and both are called."
                yield fault(
                    self.code,
                    [Evidence(text, PROVEN)],
                    component=pair[0],
                    site=site_of(file, node),  # type: ignore[arg-type]
                    summary=text,
                    reason="A target that moves with every update amplifies its own errors.",
                    remedy=f"Write `{pair[0]} = copy.deepcopy({pair[1]})`, and copy the weights over every so often.",
                    refutation="The second name is not a target network.",
                    related=[world.stepped],
                    explains=("D723", "D721"),
                )
                return

    def _unused(self, case: Case, world: WorldFact) -> Iterator[Fault]:
        """A second network gets the weights of the first now and then, but the run never asked it."""
        step = step_call(case.sources, world)
        if step is None:
            return
        targets = bootstraps(case.sources, case.trace, step)
        pair = next(filter(None, map(_copied, case.sources.nodes(step.file))), None)
        if not targets or pair is None or any(case.sources.calls_named(step.file, pair[0])):
            return
        # Under whatever name: no second network of that class was ever called.
        kinds = [model.kind for model in case.trace.models]
        asked = [model.kind for model in case.trace.models if model.name.rpartition(".")[2] == pair[1]]
        if len(asked) != 1 or kinds.count(asked[0]) != 1:
            return
        text = f"`{pair[0]}` gets the weights of `{pair[1]}`, but the targets are computed by `{pair[1]}` itself."
        yield fault(
            self.code,
            [Evidence(text, PROVEN - FAIR)],
            component=pair[0],
            site=targets[0].answer,
            summary=text,
            reason="A target that moves with every update amplifies its own errors.",
            remedy=f"Ask `{pair[0]}` for the value of the next state, under `torch.no_grad()`.",
            refutation="The second network has another purpose, such as keeping the best weights.",
            related=[world.stepped],
            explains=("D723", "D721"),
        )

    FAULTY = {
        "a target network that is never asked": lambda: stepped_at(17, "target_unused.txt"),
        "one network, two names": lambda: stepped_at(14, "one_network.txt"),
    }


def _alias(node: ast.AST, words: set[str]) -> tuple[str, str] | None:
    """`target = q_net`, `self.target = self.q_net`: the second name and the first."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Name | ast.Attribute):
        return None
    original = last_name(node.value)
    for target in node.targets:
        name = last_name(target)
        # The program's name for a model may be either of the two: both stand for one object.
        if name and name != original and {name, original} & words and type(target) is type(node.value):
            return name, original
    return None


def _copied(node: ast.AST) -> tuple[str, str] | None:
    """`target.load_state_dict(q_net.state_dict())`: the names of the two."""
    if not isinstance(node, ast.Call) or last_name(node.func) != "load_state_dict" or not node.args:
        return None
    given = node.args[0]
    if not isinstance(node.func, ast.Attribute) or not isinstance(given, ast.Call):
        return None
    if not isinstance(given.func, ast.Attribute) or given.func.attr != "state_dict":
        return None
    first, second = last_name(node.func.value), last_name(given.func.value)
    return (first, second) if first and second and first != second else None


_EXPLAINS = ("D720", "D721", "D723", "D722", "D215", "D213", "D220", "D222")


class TargetNetworkUpdates(Cause, code="RL-NET-FREQ"):
    """The target network is updated too seldom, or so often that it is no target.

    It has to follow, but slowly: every few hundred to few thousand updates as a whole, or by a share of 0.005 or so at each.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D720", "D721"):
            agent = case.trace.get(AgentFact, symptom.component)
            if agent is not None:
                soft = agent.kind != "DQN"
                name = "tau" if soft else "target_update_interval"
                site = setting_line(case.sources, agent, name)
                value = agent.settings.get(name)
                change = "let the target follow a few times for every hundred updates"
                remedy = f"`{name}={value}` leads to this; {'set it to 0.005' if soft else change}."
                yield self._fault(
                    case, "RL-NET-TAU" if soft else self.code, symptom, site, remedy, agent.created
                )
            elif self._may_still_come(case, symptom):
                continue
            else:
                yield self._by_hand(case, symptom)

    def _may_still_come(self, case: Case, symptom: Symptom) -> bool:
        """A run that was interrupted may not have come to a copy; none will come where no such line is met again."""
        if symptom.code != "D720" or symptom.detail.get("finished", True):
            return False
        near = _near(case)
        # What was never copied at all may be meant to stay as it was drawn, as for a curious agent.
        return copied_again(case.sources, near) or not any(
            target_updates(case.sources, near, symptom.component)
        )

    def _by_hand(self, case: Case, symptom: Symptom) -> Fault:
        near = _near(case)
        updates = list(target_updates(case.sources, near, symptom.component))
        # One copy is made where the target is; that in a loop or function that is called again is the one that matters.
        repeated = [
            site for site in updates if case.sources.loop_around(site) or case.sources.function_around(site)
        ]
        found = repeated or updates
        site = found[-1] if found else made_line(case.sources, near, symptom.component)
        guard = None if site is None else _guard(case, site)
        never = symptom.code == "D720"
        remedy = (
            f"Copy the trained weights into `{symptom.component}` every few hundred updates."
            if never
            else f"Keep `{symptom.component}` fixed for a few hundred updates at a time, or mix in 0.5 % of the trained weights at each."
        )
        return self._fault(
            case, self.code, symptom, guard if never and guard is not None else site, remedy, site
        )

    def _fault(
        self, case: Case, code: str, symptom: Symptom, site: Site | None, remedy: str, other: Site | None
    ) -> Fault:
        return self.fault(
            symptom,
            [for_symptom(symptom, PROVEN if symptom.code == "D720" else STRONG + 1.0)],
            code=code,
            site=site,
            reason="The target remains that of an untrained network."
            if symptom.code == "D720"
            else "A target that moves with every update amplifies its own errors.",
            remedy=remedy,
            refutation="The second network is not a target network.",
            related=[other],
            explains=_EXPLAINS,
        )

    FAULTY = (
        TargetNeverMoves.FAULTY[0],
        replace(TargetNeverMoves.FAULTY[1], code="RL-NET-TAU"),
        TargetNeverMoves.FAULTY[2],
        replace(TargetFollowsAtOnce.FAULTY[0], code="RL-NET-TAU"),
        TargetFollowsAtOnce.FAULTY[1],
    )


def _near(case: Case) -> str:
    world = training_world(case.trace)
    return world.stepped.file if world is not None and world.stepped is not None else ""


def _guard(case: Case, site: Site) -> Site | None:
    """`if step % INTERVAL == 0` around a line: where the interval is set."""
    for node in case.sources.nodes(site.file, ast.If):
        if node.lineno <= site.line <= (node.end_lineno or node.lineno):
            for test in inside(node.test, ast.BinOp):
                if isinstance(test.op, ast.Mod):
                    return value_origin(case.sources, site.file, test.right)
            return site_of(site.file, node.test)
    return None
