"""Judging one fault: trainings in pairs until every set of data has a verdict; strengths by halving."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from netmend.mutate.interim_analyses import MORE, Looks
from netmend.mutate.laboratory import Laboratory, Run
from netmend.mutate.magnitude import Found, Knob, mildest_killed
from netmend.mutate.mutation import Mutation
from netmend.mutate.scoring import triviality, triviality_of_errors
from netmend.mutate.test_sets import TRAINING
from netmend.mutate.verdicts import Verdict, crash_verdict

NO_EFFECT = "trains exactly as the original"
_CRASHES = 2  # trainings that have to fail before a mutant counts as crashing
_LOSSES = "training:loss"


@dataclass
class Trained:
    """A mutant and its trainings so far."""

    mutation: Mutation
    runs: list[Run] = field(default_factory=list)
    verdicts: dict[str, Verdict] = field(default_factory=dict)  # that are settled
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def crash(self) -> str:
        """Why it crashes, where every training does."""
        failures = [run.failure for run in self.runs]
        slow = failures[:1] == ["timed out"]
        settled = len(failures) >= _CRASHES or slow
        return failures[0] if settled and all(failures) else ""

    @property
    def has_effect(self) -> bool:
        return all(verdict.reason != NO_EFFECT for verdict in self.verdicts.values())


class Judge:
    """Asks for trainings as they are needed; `originals` are complete."""

    def __init__(
        self,
        laboratory: Laboratory,
        originals: list[Run],
        seeds: tuple[int, ...],
        looks: Looks,
        sets: tuple[str, ...],
    ) -> None:
        self.laboratory, self.originals, self.seeds = laboratory, originals, seeds
        self.looks, self.sets = looks, sets
        first = originals[0].examined
        assert first is not None
        self.higher_is_better = first.higher_is_better
        self._scores = {test: [laboratory.score(run, test) for run in originals] for test in sets}

    def original_scores(self, test: str) -> tuple[float, ...]:
        return tuple(self._scores[test])

    def single(self, mutation: Mutation) -> Trained:
        """A mutant without a strength: a verdict for every set."""
        trained = Trained(mutation)
        for test in self.sets:
            self.verdict(trained, test)
        return trained

    def turned(self, knob: Knob, made: Callable[[Trained], None]) -> Mapping[str, Found]:
        """A fault with a strength: the mildest value that each set notices. Values that one set was judged on, all are."""
        by_value: dict[float, Trained] = {}

        def verdict_at(value: float, test: str) -> Verdict:
            value = knob.scale.fitted(value)
            if value not in by_value:
                mutation = knob.at(value)
                if mutation is None:
                    return Verdict(False, 1.0, 0.0, 0.0, False, 0, NO_EFFECT)
                by_value[value] = Trained(mutation)
            return self.verdict(by_value[value], test)

        found: dict[str, Found] = {}
        for test in self.sets:
            known = [value for value in by_value if value != knob.scale.extreme]
            found[test] = mildest_killed(knob.scale, lambda value, test=test: verdict_at(value, test), known)  # type: ignore[misc]
            if test == TRAINING and found[test].killed is None:  # equivalent: no test set is asked for it
                found |= {
                    other: Found(None, knob.scale.extreme, ()) for other in self.sets if other != TRAINING
                }
                break
        for trained in by_value.values():
            self._fill(trained)
            made(trained)
        return found

    def _fill(self, trained: Trained) -> None:
        """What the trainings that are there say to sets that did not have to be asked."""
        for test in self.sets:
            if test not in trained.verdicts:
                known = len(trained.runs)
                crashed = crash_verdict(known) if trained.crash else None
                trained.verdicts[test] = crashed or self._compared(trained, test, known)

    def verdict(self, trained: Trained, test: str) -> Verdict:
        """Trains pairs until this set is decided; a verdict that was reached stays."""
        with trained.lock:
            for pairs in self.looks.pairs:
                if test in trained.verdicts:
                    break
                self._train(trained, pairs)
                if not trained.has_effect:
                    break
                if trained.crash:
                    trained.verdicts[test] = crash_verdict(len(trained.runs))
                    break
                found = self._compared(trained, test, pairs)
                if self.looks.decision(found) != MORE:
                    trained.verdicts[test] = found
            return trained.verdicts[test]

    def _compared(self, trained: Trained, test: str, pairs: int) -> Verdict:
        scores = [self.laboratory.score(run, test) for run in trained.runs[:pairs]]
        return self.looks.verdict(self._scores[test][:pairs], scores, higher_is_better=self.higher_is_better)

    def _train(self, trained: Trained, pairs: int) -> None:
        while len(trained.runs) < pairs and not trained.crash and trained.has_effect:
            seed = self.seeds[len(trained.runs)]
            trained.runs.append(self.laboratory.mutant(trained.mutation, seed))
            if len(trained.runs) == 1 and self._is_same(trained.runs[0], self.originals[0]):
                none = Verdict(False, 1.0, 0.0, 0.0, False, 1, NO_EFFECT)
                trained.verdicts.update(dict.fromkeys(self.sets, none))

    def _is_same(self, run: Run, original: Run) -> bool:
        """The same losses at the same steps, and the same answers."""
        if run.failure or run.examined is None or original.examined is None:
            return False
        losses = [each.outcome.series.get(_LOSSES) for each in (run, original)]
        if not losses[0] or losses[0] != losses[1]:
            return False
        names = original.examined.sets
        return all(
            np.array_equal(run.examined.values(name), original.examined.values(name)) for name in names
        )

    def scores(self, trained: Trained) -> dict[str, tuple[float, ...]]:
        return {test: tuple(self.laboratory.score(run, test) for run in trained.runs) for test in self.sets}

    def triviality(self, trained: Trained) -> float:
        """Of the training inputs that the originals handle, the share that the mutant does not."""
        pairs = [
            (original.examined, run.examined)
            for original, run in zip(self.originals, trained.runs, strict=False)
            if not run.failure and original.examined is not None and run.examined is not None
        ]
        both = [(old.values(TRAINING), new.values(TRAINING)) for old, new in pairs]
        both = [(old, new) for old, new in both if old.shape == new.shape]
        if not both:
            return 0.0
        compare = triviality if self.higher_is_better else triviality_of_errors
        return compare([old for old, _ in both], [new for _, new in both])
