"""A study: originals, the search over ladders of mutants, the choice of those that are compared (see comparison.py).

Trainings of all ladders that can go on are handed to the runner together, so that every core has work; each ladder is a coroutine
that yields the trials it needs next and is sent their agents.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from typing import Any

from netmend.errors import UsageError
from netmend.mutate.agents.environments import space_of
from netmend.mutate.agents.episodes import Criterion, parse_criterion, spread_criterion
from netmend.mutate.agents.examining import Orders
from netmend.mutate.agents.generators import StartList, parse_own, same_for_all, weak_and_edge
from netmend.mutate.agents.judging import Judged, Known, Shown
from netmend.mutate.agents.ladders import Ladder
from netmend.mutate.agents.options import RlOptions
from netmend.mutate.agents.pair_verdicts import LEAST_RUNS, chunks, decided, mildest
from netmend.mutate.agents.result import EDGE, REPLAY
from netmend.mutate.agents.trained import Agent, run, training
from netmend.mutate.mutation import texts_of
from netmend.trials.runner import Runner
from netmend.trials.trial import Trial

Climb = Generator[list[Trial], list[Agent], Judged | None]
_LINE = re.compile(r'File "[^"]*/program/([^"]+)", line (\d+)')


class Study:
    """One study in progress; what is known so far can be read at any time."""

    def __init__(self, runner: Runner, options: RlOptions, say: Callable[[str], None]) -> None:
        self.runner, self.options, self.plan, self.say = runner, options, options.plan, say
        self.target = runner.target
        self.owns = [parse_own(text) for text in options.generators]
        self.problems: list[str] = []
        self.seeds: list[int] = []
        self.originals: list[Agent] = []
        self.judged: dict[int, list[Judged]] = {}  # by the ladder's place in the list
        self.found: dict[int, Judged] = {}
        self.chosen: dict[str, Judged] = {}  # operator → its mutant
        self.cpu: dict[str, float] = {}  # seconds of processor time, by trial
        self.shown: dict[str, dict[str, Shown]] = {}  # operator → generator → …

    def run(self, trials: list[Trial]) -> list[Agent]:
        agents = run(self.runner, trials)
        for agent in agents:
            if not agent.problem:
                self.cpu[agent.folder.name] = float(agent.facts.get("cpu_seconds", agent.outcome.seconds))
        return agents

    # -- originals ----------------------------------------------------------------------------------------------------

    def train_originals(self) -> None:
        plan = self.plan
        self.say("training the original program")
        trials = [
            training(
                self.target,
                (),
                Orders(
                    seed=seed,
                    replay=plan.replay,
                    random=plan.random,
                    wide=plan.random,
                    candidates=2 * plan.candidates,
                ),
            )
            for seed in range(plan.runs)
        ]
        agents = self.run(trials)
        for seed, agent in enumerate(agents):
            if agent.problem:
                self.problems.append(f"the program as it is, seed {seed}: {agent.problem}")
            else:
                self.seeds.append(seed)
                self.originals.append(agent)
        if len(self.originals) < LEAST_RUNS:
            raise UsageError(_why_nothing(agents))
        self.space = space_of(self.facts["environment"] if self.facts["known"] else "")
        self.criterion = self._criterion()
        near, wide = ([each.episodes[name] for each in self.originals] for name in ("random", "wide"))
        self.common, self.common_failed = weak_and_edge(near, wide, self.criterion, plan)
        edge = self.common[EDGE]
        self.known = Known(
            self.criterion,
            [self.criterion.failed(each.episodes[REPLAY]) for each in self.originals],
            [each[edge.own[pair]] for pair, each in enumerate(self.common_failed[EDGE])],
        )
        self._check_originals()

    @property
    def sets(self) -> dict[str, StartList]:
        """Starts that are the same for all mutants."""
        rows = {each.name: each.starts(self.plan.strong, 0, self.space) for each in self.owns}
        return self.common | {name: same_for_all(each, len(self.seeds)) for name, each in rows.items()}

    @property
    def facts(self) -> dict[str, Any]:
        return self.originals[0].facts

    def _criterion(self) -> Criterion:
        if self.options.fails:
            return parse_criterion(self.options.fails)
        if self.space.default is not None:
            return self.space.default
        threshold = self.facts["threshold"]
        random = [each.episodes["random"] for each in self.originals]
        return spread_criterion(random, float(threshold) if isinstance(threshold, int | float) else None)

    def _check_originals(self) -> None:
        if not all(bool(each.facts.get("repeats", True)) for each in self.originals):
            self.problems.append(
                "the same start does not always lead to the same episode: the environment draws random numbers of its own; "
                "verdicts count them as noise"
            )
        failing = [
            seed for seed, share in zip(self.seeds, self.original_failures, strict=True) if share > 0.5
        ]
        if len(failing) == len(self.seeds):
            self.problems.append(
                f"the program as it is fails at most starts in all of its {len(failing)} trainings ({self.criterion.words}): no mutant can "
                "look worse. Train it for longer, or say when an episode has failed with --fails"
            )
        elif failing:
            self.problems.append(
                f"the program as it is fails at most starts in {len(failing)} of {len(self.seeds)} trainings; pairs with these cannot be killed"
            )

    @property
    def original_failures(self) -> list[float]:
        return [float(self.criterion.failed(each.episodes["random"]).mean()) for each in self.originals]

    # -- the search ---------------------------------------------------------------------------------------------------

    def search(self, ladders: Sequence[Ladder]) -> None:
        self.say("searching for the mildest mutants that are killed")
        self.ladders = list(ladders)
        climbs = {place: self._climb(place, ladder) for place, ladder in enumerate(ladders)}
        for place, judged in self._together(climbs).items():
            if judged is not None:
                self.found[place] = judged

    def _together(self, climbs: dict[int, Climb]) -> dict[int, Judged | None]:
        """Let all coroutines go on at once, until all have come to their end."""
        ended: dict[int, Judged | None] = {}
        wanted: dict[int, list[Trial]] = {}

        def advance(place: int, agents: list[Agent] | None) -> None:
            try:
                wanted[place] = next(climbs[place]) if agents is None else climbs[place].send(agents)
            except StopIteration as end:
                wanted.pop(place, None)
                ended[place] = end.value

        for place in climbs:
            advance(place, None)
        while wanted:
            places = list(wanted)
            agents = self.run([trial for place in places for trial in wanted[place]])
            for place in places:
                count = len(wanted[place])
                own, agents = agents[:count], agents[count:]
                advance(place, own)
        return ended

    def _climb(self, place: int, ladder: Ladder) -> Climb:
        search = mildest(len(ladder.steps), self.plan.looks)
        tried = self.judged.setdefault(place, [])
        by_index: dict[int, Judged] = {}
        index = next(search)
        while True:
            texts = texts_of(ladder.steps[index].edits, self.target.directory)
            judged = by_index[index] = Judged(ladder, index, tuple(sorted((texts or {}).items())))
            tried.append(judged)
            yield from self._judge(judged)
            try:
                index = search.send(judged.is_dead)
            except StopIteration as end:
                return None if end.value is None else by_index[end.value]

    def _judge(self, judged: Judged) -> Generator[list[Trial], list[Agent], None]:
        """At starts of the training and at the edge: a fault that shows only there is the mildest that can be shown."""
        runs = len(self.seeds)
        for stop in chunks(runs):
            agents = yield self._trainings(judged, stop)
            crashed = [agent.problem for agent in agents if agent.problem]
            if crashed:
                judged.crash = crashed[0]
                return
            judged.agents += agents
            judged.verdict = decided(judged.pairs(self.known), runs)
            if judged.verdict is not None:
                return

    def _trainings(self, judged: Judged, stop: int) -> list[Trial]:
        found = []
        for at in range(len(judged.agents), stop):
            sets = {
                REPLAY: self.originals[at].episodes[REPLAY].starts,
                EDGE: self.common[EDGE].rows_of(at),
            }
            rows = {name: each.tolist() for name, each in sets.items() if len(each)}
            found.append(training(self.target, judged.texts, Orders(seed=self.seeds[at], sets=rows)))
        return found

    # -- the choice -----------------------------------------------------------------------------------------------

    def choose(self, keep_trivial: bool = False) -> None:
        """Per operator the mutant that is killable, not trivial and closest to the program as it is. For a known bug, where the question
        is what reveals it, one that shows everywhere is as good.

        All pairs are needed for that: whether it is trivial is a mean over them, and its kill rate is compared, not only whether it
        reaches one half.
        """
        self.say("training the mildest killed mutants with all seeds")
        found = [judged for judged in self.found.values() if not judged.crash]
        trials = [self._trainings(judged, len(self.seeds)) for judged in found]
        agents = self.run([trial for own in trials for trial in own])
        for judged, own in zip(found, trials, strict=True):
            mine, agents = agents[: len(own)], agents[len(own) :]
            crashed = [agent.problem for agent in mine if agent.problem]
            if crashed:
                judged.crash = crashed[0]
                continue
            judged.agents += mine
            code = judged.ladder.operator
            if judged.tried(self.known).is_trivial and not keep_trivial:
                continue
            if code not in self.chosen or judged.grade < self.chosen[code].grade:
                self.chosen[code] = judged


def _why_nothing(agents: Sequence[Agent]) -> str:
    """The first problem, with the line of the program that it came from."""
    first = next(agent for agent in agents if agent.problem)
    places = _LINE.findall(first.outcome.output)
    where = f" ({places[-1][0]}:{places[-1][1]})" if places else ""
    return f"the program as it is cannot be studied: {first.problem}{where}; run it by itself first"
