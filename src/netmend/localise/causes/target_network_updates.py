"""RL-NET-FREQ."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from netmend.diagnose.detectors.target_networks import TargetFollowsAtOnce, TargetNeverMoves
from netmend.diagnose.measures.acting import training_world
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, STRONG, fault, for_symptom, register
from netmend.localise.lines.agent_lines import made_line, setting_line, target_updates
from netmend.localise.lines.copied_weights import copied_again
from netmend.localise.lines.follow import value_origin
from netmend.program.text.queries import site_of
from netmend.unit import Run
from netmend.vocabulary import AgentFact, Fault, Site, Symptom

_EXPLAINS = ("D720", "D721", "D723", "D722", "D215", "D213", "D220", "D222")


@register
class TargetNetworkUpdates:
    """The target network is updated too seldom, or so often that it is no target.

    It has to follow, but slowly: every few hundred to few thousand updates as a whole, or by a share of 0.005 or so at each.
    """

    code: ClassVar[str] = "RL-NET-FREQ"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D720", "D721"):
            agent = case.trace.get(AgentFact, symptom.component)
            if agent is not None:
                soft = agent.kind != "DQN"
                name = "tau" if soft else "target_update_interval"
                site = setting_line(case.sources, agent, name)
                value = agent.settings.get(name)
                change = "0.005" if soft else "a few times for every hundred updates"
                remedy = (
                    f"`{name}={value}` leads to this; set it to {change}."
                    if soft
                    else f"`{name}={value}` leads to this; let the target follow {change}."
                )
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
        return fault(
            code,
            [for_symptom(symptom, PROVEN if symptom.code == "D720" else STRONG + 1.0)],
            component=symptom.component,
            site=site,
            summary=symptom.message,
            reason="The target remains that of an untrained network."
            if symptom.code == "D720"
            else "A target that moves with every update amplifies its own errors.",
            remedy=remedy,
            refutation="The second network is not a target network.",
            related=[other],
            explains=_EXPLAINS,
        )

    FAULTY: ClassVar[tuple[Run, ...]] = (
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
    for node in case.sources.nodes(site.file):
        if isinstance(node, ast.If) and node.lineno <= site.line <= (node.end_lineno or node.lineno):
            for test in ast.walk(node.test):
                if isinstance(test, ast.BinOp) and isinstance(test.op, ast.Mod):
                    return value_origin(case.sources, site.file, test.right)
            return site_of(site.file, node.test)
    return None
