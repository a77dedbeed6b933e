"""RL-GAMMA."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from netmend.diagnose.detectors.agents import AgentSettingUnusual
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, fault, for_symptom, register
from netmend.localise.lines.agent_lines import setting_line
from netmend.unit import Run
from netmend.vocabulary import AgentFact, Evidence, Fault, Symptom

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


@register
class AgentSettings:
    """A setting of the agent is far outside what its algorithm is used with: discount, entropy, exploration, buffer, rate.

    The settings of these algorithms hang together, and each has a range within which it works on most tasks. Go back to the
    library's default unless there is a reason for the value.
    """

    code: ClassVar[str] = "RL-GAMMA"

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
        return fault(
            leaf,
            evidence,
            component=symptom.component,
            site=setting_line(case.sources, agent, name),
            summary=symptom.message,
            reason=f"{agent.kind} is rarely used with such a value: {symptom.message.partition(': ')[2].rstrip('.')}.",
            remedy=f"Set `{name}` to {symptom.detail['better']}.",
            refutation=f"The usual value of `{name}` trains no better.",
            related=[agent.created],
            explains=explains,
        )

    FAULTY: ClassVar[tuple[Run, ...]] = tuple(
        replace(run, code=code)
        for run, code in zip(
            AgentSettingUnusual.FAULTY,
            ("RL-GAMMA", "RL-EXP-MIN", "RL-BUF-SIZE", "RL-REG-ENTROPY"),
            strict=True,
        )
    )
