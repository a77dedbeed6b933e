"""The search: cheapest and likeliest first, one accepted change upon another, then everything unneeded out again."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from netmend.changes.case import Case
from netmend.repair.candidates import Candidates, candidates, findings_of
from netmend.repair.joint import Joint
from netmend.repair.objective import PERCENT, Objective, for_rare_classes
from netmend.repair.problem import Problem
from netmend.repair.propose import for_fault
from netmend.repair.repair import REPAIRS
from netmend.repair.version import Version, merged
from netmend.trials.measures import end_of
from netmend.trials.trial import STOPPED, Outcome
from netmend.trials.workspace import moved
from netmend.vocabulary import Diagnosis, Trace
from netmend.vocabulary.change import BY_FACTS, SHORT_SEARCH, Change

CLEAR_GAIN = 0.4  # of the error gone: no seed alone does that
LEAST_GAIN = 0.1  # less is noise of one seed more often than not; between the two, a second seed decides
CURED = 0.03  # of what can be wrong (accuracy) or of the constant prediction's loss: nothing more to gain
_POOR = 0.3  # of what can be wrong: a program that ends so has not learned much
# Changes after which a clear gain is taken without looking at the rest: soon when a provable mistake was mended and nothing more is told,
# later when a value was chosen, of which others may be better.
_LOOKED, _LOOKED_AT_MOST = 2, 6
_ENOUGH = 0.9  # of the error gone, and nothing told any more: further trials are not worth their cost
_ROUNDS = 6
_POLISHES = 4  # changes that are tried once the program learns
_SECOND_SEED = 101
_HARM = 0.3  # of the error: what makes it grow by more is no mending
_OVERDRAFT = 2.0  # trainings beyond the budget, so that a patch is not left larger than it need be
_NO_WORSE = 0.05  # a part whose loss costs no more than this of the error is not needed


@dataclass(frozen=True)
class Attempt:
    """One change that was tried, and what came of it."""

    change: Change
    status: str
    value: float | None
    gain: float  # against the version it was made on
    cost: float
    accepted: bool = False


Step = tuple[Version, Outcome, Change]  # a version that is better than the one before, and what made it so


@dataclass
class Search:
    """From the program as it is to the smallest set of changes that makes it learn."""

    problem: Problem
    attempts: list[Attempt] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    diagnosis: Diagnosis | None = None  # of the program as it is
    seen: set[tuple[tuple[str, str], ...]] = field(default_factory=set)
    taken: dict[str, Change] = field(default_factory=dict)  # by knob, the change that was accepted last
    stopped: str = ""  # why the search ended

    def run(self) -> tuple[Version, Outcome]:
        """The best version found (the original, if nothing helped) and its outcome."""
        problem = self.problem
        best = problem.baseline or problem.start()
        version = problem.original
        self.seen.add(())
        for _ in range(_ROUNDS):
            trace = problem.trace(best)
            if trace is None:
                self.stopped = "nothing was recorded of the program, so there is nothing to change"
                break
            found, diagnosis = self._candidates(trace, version, best)
            if self.diagnosis is None:
                self.diagnosis = diagnosis
                if "DAT-IMBALANCE" in best.faults and not problem.measure.is_given:
                    problem.objective = for_rare_classes(problem.objective, best)
            if version.parts and self._is_cured(best, diagnosis):
                polished = self._polished(version, best, trace, found)
                if polished is None:
                    self.stopped = "metric recovered, no faults left"
                    break
                version, best = self._refined(*polished)
                continue
            if not version.parts and not diagnosis.faults and self._error(best) <= CURED:
                self.stopped = "the program learns well, and no faults are left"
                break
            step = self._round(version, best, found)
            if step is None and not self._is_cured(best, diagnosis):
                step = self._together(version, best, found)
            if step is None:
                self.stopped = self.stopped or (
                    "the budget is spent" if problem.affordable < 1 else "no other change helped"
                )
                break
            version, best = self._refined(*step)
        version, best = self._shrunk(version, best)
        self._mark_kept(version)
        return version, best

    # -- one round -----------------------------------------------------------------------------------------------

    def _candidates(self, trace: Trace, version: Version, best: Outcome) -> tuple[Candidates, Diagnosis]:
        problem = self.problem
        diagnosis = problem.diagnosis(trace)
        sources = problem.sources(trace)
        findings = findings_of(sources, sources.files(trace.run.script))
        poor = not best.ran or _POOR < self._error(best) < math.inf
        found = candidates(trace, diagnosis, sources, findings, version.current_arguments, poor)
        self.problems.extend(text for text in found.problems if text not in self.problems)
        return found, diagnosis

    def _round(self, version: Version, best: Outcome, found: Candidates) -> Step | None:
        """The best change of this round, or None. What something calls for is looked at before anything else is.

        Mistakes that are certain stay mended while the rest is tried, even if that alone did not help: programs have several
        faults at once, and one hides the gain of mending another. What turns out not to be needed is dropped in the end.
        """
        chosen = self._tried(version, best, found.called_for)
        if chosen is not None:
            return chosen
        certain = self._harmless(found.certain)
        for group in (found.suspected, found.exploratory, found.blind):
            chosen = self._tried(version, best, group, certain)
            if chosen is not None:
                return chosen
        return None

    def _polished(self, version: Version, best: Outcome, trace: Trace, found: Candidates) -> Step | None:
        """Once the program learns: what was told of it in the beginning and is not mended, and what is still suspected, if it helps a lot."""
        if self._error(best) <= CURED or self.problem.baseline is None or self.diagnosis is None:
            return None
        mended = {part.change.cause for part in version.parts}
        sources = self.problem.sources(trace)
        group: list[Change] = []
        for fault in self.diagnosis.faults:
            if fault.cause not in mended:
                here = moved(fault, self.problem.baseline.root, best.root)
                group += for_fault(trace, sources, here, version.current_arguments)[:2]
        group += [*found.called_for, *found.suspected]
        cheap = [change for change in group if change.cost <= 1 and change.knob not in version.knobs]
        return self._tried(version, best, cheap[:_POLISHES], least=CLEAR_GAIN)

    def _harmless(self, changes: Sequence[Change]) -> tuple[Change, ...]:
        """Those that did not make things worse when they were tried alone."""
        known = {attempt.change: attempt for attempt in self.attempts}
        return tuple(
            change
            for change in changes
            if change in known and (known[change].status == STOPPED or known[change].gain > -_HARM)
        )

    def _together(self, version: Version, best: Outcome, found: Candidates) -> Step | None:
        """No change helped alone: several at once, chosen by what was learned from those before."""
        every = (*found.called_for, *found.suspected, *found.exploratory, *found.blind)
        joint = Joint(list(dict.fromkeys(every)), self.attempts, self.problem.affordable)
        while joint.is_possible and self.problem.affordable >= 1:
            asked = [joint.ask() for _ in range(self.problem.runner.executor.jobs)]
            batch = []
            for changes in filter(None, asked):
                made = self._made(version, best, changes)
                if made is None:
                    joint.tell(changes, -math.inf)
                else:
                    batch.append((made, changes))
            if not batch and not any(asked):
                break
            outcomes = self.problem.run([made for made, _ in batch], against=best)
            for (made, changes), outcome in zip(batch, outcomes, strict=True):
                gain = self.problem.gain(best, outcome)
                together = _as_one(changes)
                self._note(together, outcome, gain)
                joint.tell(changes, gain)
                if gain >= CLEAR_GAIN:
                    self.taken |= {change.knob: together for change in changes}
                    return made, outcome, changes[-1]
        return None

    def _tried(
        self,
        version: Version,
        best: Outcome,
        group: Sequence[Change],
        before: tuple[Change, ...] = (),
        least: float = LEAST_GAIN,
    ) -> Step | None:
        """The best change of a group, or None when none of them takes away so much of the error."""
        ready: list[tuple[Version, Outcome, Change, float]] = []
        looked = 0
        for batch in self._batches(version, best, group, before):
            outcomes = self.problem.run_all(
                [(made, best if _races(change) else None) for made, change in batch]
            )
            for (made, change), outcome in zip(batch, outcomes, strict=True):
                gain = self.problem.gain(best, outcome)
                self._note(change, outcome, gain)
                if gain >= least:
                    ready.append((made, outcome, change, gain))
            looked += len(batch)
            if any(self._is_enough(change, outcome, gain, looked) for _, outcome, change, gain in ready):
                break
        for made, outcome, change, gain in sorted(ready, key=lambda item: (-item[3], self._rank_of(item[1]))):
            if gain >= CLEAR_GAIN or self._holds(version, made):
                self.taken |= {part.change.knob: part.change for part in made.parts[len(version.parts) :]}
                base = version if not before else made.without(len(made.parts) - 1) or version
                return *self._as_patch(base, best.root, made, outcome, change, len(version.parts)), change
        return None

    def _rank_of(self, outcome: Outcome) -> float:
        """The error, to choose among gains that are equally large."""
        objective = self.problem.objective
        return 0.0 if objective is None else objective.error(self.problem.value(outcome))

    def _batches(
        self, version: Version, best: Outcome, group: Sequence[Change], before: tuple[Change, ...]
    ) -> Iterable[list[tuple[Version, Change]]]:
        """As many at once as there are processes, within the budget."""
        waiting = list(group)
        while waiting:
            batch: list[tuple[Version, Change]] = []
            cost = 0.0
            while waiting and len(batch) < self.problem.runner.executor.jobs:
                change = waiting.pop(0)
                if cost + change.cost > self.problem.affordable:
                    continue
                others = tuple(other for other in before if other.knob != change.knob)
                made = self._made(version, best, (*others, change)) or self._made(version, best, (change,))
                if made is not None:
                    batch.append((made, change))
                    cost += change.cost
            if batch:
                yield batch

    def _made(self, version: Version, best: Outcome, changes: Sequence[Change]) -> Version | None:
        """The version with changes as interventions; None for what cannot be made or was tried before."""
        made: Version | None = version
        directory, since = self.problem.runner.target.directory, len(version.parts)
        for change in changes:
            if made is None:
                return None
            made = made.extended(change, best.root, directory, change.forced or None, since)
        if made is None:
            return None
        name = (*sorted(made.texts.items()), ("", " ".join(made.current_arguments)))
        if name in self.seen:
            return None
        self.seen.add(name)
        return made

    def _mark_kept(self, version: Version) -> None:
        """Say of each attempt whether its change is in the result."""
        kept = {id(self.taken[knob]) for knob in version.knobs if knob in self.taken}
        self.attempts = [replace(attempt, accepted=id(attempt.change) in kept) for attempt in self.attempts]

    def _note(self, change: Change, outcome: Outcome, gain: float) -> None:
        cost = self.problem.cost(outcome)
        self.attempts.append(Attempt(change, outcome.status, self.problem.value(outcome), gain, cost))

    # -- judging ---------------------------------------------------------------------------------------------------

    def _holds(self, before: Version, after: Version) -> bool:
        """Whether a small gain is there with another seed too."""
        if self.problem.affordable < 2:
            return False
        old, new = self.problem.run([before, after], _SECOND_SEED)
        return self.problem.gain(old, new) >= LEAST_GAIN / 2

    def _is_cured(self, outcome: Outcome, diagnosis: Diagnosis) -> bool:
        gain = self.problem.gain(self.problem.baseline, outcome)
        return self._error(outcome) <= CURED or (not diagnosis.faults and gain >= CLEAR_GAIN)

    def _is_enough(self, change: Change, outcome: Outcome, gain: float, looked: int) -> bool:
        """Whether the other changes of a group may wait for the next round."""
        if self._error(outcome) <= CURED:
            return True
        if self.problem.value(self.problem.baseline) is None:  # anything that ends is a gain then
            return looked >= _LOOKED_AT_MOST
        if gain >= _ENOUGH and not outcome.faults:
            return True
        healed = not outcome.faults and change.effort <= BY_FACTS
        return gain >= CLEAR_GAIN and looked >= (_LOOKED if healed else _LOOKED_AT_MOST)

    def _error(self, outcome: Outcome) -> float:
        """The error where its size means something by itself, else infinite."""
        objective, value = self.problem.objective, self.problem.value(outcome)
        if objective is None or value is None:
            return math.inf
        if objective.higher_is_better:
            # Beside 40 %, an accuracy of 0.9 is 0.9 %.
            known = [self.problem.value(self.problem.baseline), *(attempt.value for attempt in self.attempts)]
            error = objective.errors([value, *known])[0]
            in_percent = max(v for v in (value, *known) if v is not None) > PERCENT
            return math.inf if error < 0 else error / 100 if in_percent else error
        return _relative(objective, outcome)

    # -- after a change --------------------------------------------------------------------------------------------

    def _refined(self, version: Version, best: Outcome, change: Change) -> tuple[Version, Outcome]:
        """Neighbouring values of the one that helped, as long as they help more."""
        unit = REPAIRS.classes().get(change.repair)
        refine = None if unit is None else getattr(unit(), "refine", None)
        while refine is not None and self._error(best) > CURED and self.problem.affordable >= 1:
            trace = self.problem.trace(best)
            if trace is None:
                break
            case = Case(trace, self.problem.sources(trace), None, version.current_arguments)
            step = self._near(version, best, list(refine(case, change)))
            if step is None:
                break
            version, best, change = step
        return version, best

    def _near(self, version: Version, best: Outcome, near: Sequence[Change]) -> Step | None:
        made = [(v, c) for c in near if (v := self._made(version, best, (c,))) is not None]
        made = made[: max(0, int(self.problem.affordable))]
        outcomes = self.problem.run([v for v, _ in made], against=best)
        found = []
        for (v, c), outcome in zip(made, outcomes, strict=True):
            gain = self.problem.gain(best, outcome)
            self._note(c, outcome, gain)
            if gain >= LEAST_GAIN:
                found.append((gain, v, outcome, c))
        if not found:
            return None
        _, chosen, outcome, change = max(found, key=lambda item: item[0])
        self.taken[change.knob] = change
        chosen, outcome = self._as_patch(version, best.root, chosen, outcome, change, len(version.parts))
        return merged(chosen), outcome, change

    def _as_patch(
        self, before: Version, root: str, made: Version, outcome: Outcome, change: Change, since: int
    ) -> tuple[Version, Outcome]:
        """The intervention becomes the patch where these differ; a patch that does not do the same is not one."""
        if not change.forced:
            return made, outcome
        written = before.extended(change, root, self.problem.runner.target.directory, since=since)
        if written is None:
            return made, outcome
        same = self.problem.run([written])[0]
        return (written, same) if self.problem.gain(outcome, same) >= -_NO_WORSE else (made, outcome)

    def _shrunk(self, version: Version, best: Outcome) -> tuple[Version, Outcome]:
        """Leave out every part that is not needed, the last ones first."""
        index = len(version.parts) - 1
        while index >= 0 and len(version.parts) > 1:
            smaller = version.without(index)
            if (
                smaller is not None
                and smaller.parts
                and self.problem.affordable + _OVERDRAFT >= self.problem.cost(best)
            ):
                outcome = self.problem.run([smaller])[0]
                # A part that silences a fault is needed, even if the measure does without it.
                if self.problem.gain(best, outcome) >= -_NO_WORSE and set(outcome.faults) <= set(best.faults):
                    version, best = smaller, outcome
            index -= 1
        return version, best


def _relative(objective: Objective, outcome: Outcome) -> float:
    """A loss means something beside the best constant prediction's: as seen in evaluation, or in training where there is none."""
    for name in (objective.series, "evaluation:0:relative", "training:relative"):
        points = outcome.series.get(name)
        if name.endswith("relative") and points:
            return end_of(name, points)
    return math.inf


def _as_one(changes: Sequence[Change]) -> Change:
    """A combination, for the list of what was tried."""
    titles = ", ".join(change.title for change in changes)
    return replace(changes[-1], title=titles, knob=" + ".join(change.knob for change in changes))


def _races(change: Change) -> bool:
    """Whether a trial may be given up when it is no better at the same step: not where more steps are the point."""
    return change.cost <= 1 and change.effort <= SHORT_SEARCH
