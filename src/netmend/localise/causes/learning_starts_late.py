"""RL-FA-LEARN-START."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.agents import LearningNeverStarts
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, STRONG, fault, for_symptom, register
from netmend.localise.lines.agent_lines import learning_guard, planned_line, setting_line
from netmend.unit import Run
from netmend.vocabulary import AgentFact, Fault, Symptom


@register
class LearningStartsLate:
    """Learning starts too late, or after the program has ended.

    Until then the agent acts with random weights. Start learning within the first tenth of the run, and see that the replay
    buffer can hold what is waited for.
    """

    code: ClassVar[str] = "RL-FA-LEARN-START"

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
        return fault(
            self.code,
            [for_symptom(symptom, PROVEN if symptom.detail["never"] else STRONG + 0.5)],
            component=agent.name,
            site=setting_line(case.sources, agent, name),
            summary=symptom.message,
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
        return fault(
            "RL-BUF-SIZE" if small else self.code,
            [for_symptom(symptom, PROVEN if symptom.detail["never"] else STRONG + 0.5)],
            component=symptom.component,
            site=place,
            summary=symptom.message,
            reason="The agent still acts with its initial weights.",
            remedy=remedy,
            refutation="The steps before learning are only meant to fill the buffer.",
            related=[site, None if guard is None else guard.number],
            explains=("D719", "D722", "D720", "D202", "D228"),
        )

    FAULTY: ClassVar[tuple[Run, ...]] = LearningNeverStarts.FAULTY


def _short(site: object) -> str:
    return str(getattr(site, "short", "") or "learn()")
