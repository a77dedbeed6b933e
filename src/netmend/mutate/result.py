"""What mutation testing has found: mutants, what each test set made of them, scores, and what to add."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from netmend.mutate.additions import Addition
from netmend.mutate.choice import Estimate
from netmend.mutate.magnitude import Found, Scale
from netmend.mutate.scoring import Score
from netmend.mutate.verdicts import DETECTED, INCONCLUSIVE, MISSED, Verdict

SOURCE, WEIGHT_LEVEL = "source", "weights"


@dataclass(frozen=True)
class Mutant:
    """One fault of one strength, trained a few times and judged on every set."""

    name: str  # unique: operator and title
    operator: str
    cause: str
    title: str
    level: str  # source: an edit that is trained; weights: a change of trained models
    standing: str  # counted, equivalent, trivial, unstable, crashed
    runs: int
    verdicts: Mapping[str, Verdict]  # by set; the training data among them
    scores: Mapping[str, tuple[float, ...]]  # by set, in the order of the seeds
    triviality: float = 0.0
    value: float | None = None  # of a fault with a strength
    knob: str = ""  # what is turned
    place: str = ""  # file:line
    patch: str = ""
    note: str = ""  # why it failed, or that it had no effect

    def is_killed(self, test: str) -> bool:
        found = self.verdicts.get(test)
        return found is not None and found.killed

    def judged_by(self, test: str) -> str:
        """What a test set makes of a mutant that counts."""
        if self.is_killed(test):
            return DETECTED
        return MISSED if self.is_clear(test) else INCONCLUSIVE

    def is_clear(self, test: str) -> bool:
        """Whether its verdict would hardly be another one with other seeds."""
        found = self.verdicts.get(test)
        return found is not None and found.is_clear


@dataclass(frozen=True)
class Turned:
    """A fault with a strength at one place: the mildest value that each set notices."""

    operator: str
    title: str
    scale: Scale
    found: Mapping[str, Found]  # by set


@dataclass(frozen=True)
class SetScore:
    """What one test set achieves."""

    name: str
    words: str  # where it comes from
    inputs: int
    originals: tuple[float, ...]  # scores of the original over the seeds
    source: Score
    weights: Score | None = None
    part_of: str = ""  # of a subset: the whole
    sensitivity: float | None = None  # of a subset: how much of the whole's score it misses
    weights_sensitivity: float | None = None
    additions: tuple[Addition, ...] = ()
    pool: str = ""  # where additions come from


@dataclass(frozen=True)
class MutationResult:
    script: str
    directory: str
    arguments: tuple[str, ...]
    profile: str
    task: str = ""
    higher_is_better: bool = True
    paired: bool = True
    seeds: tuple[int, ...] = ()
    training: tuple[float, ...] = ()  # scores of the originals on the training data
    sets: tuple[SetScore, ...] = ()
    mutants: tuple[Mutant, ...] = ()
    turned: tuple[Turned, ...] = ()
    estimate: Estimate | None = None
    trainings: int = 0
    cached: int = 0
    seconds: float = 0.0  # of training, all processes together
    data: str = ""  # the file with the inputs and labels that the first original was examined on
    stopped: str = ""  # why not everything was tried
    problems: tuple[str, ...] = field(default=())

    @property
    def operators(self) -> tuple[str, ...]:
        """Codes in the order of the mutants, each once."""
        return tuple(dict.fromkeys(mutant.operator for mutant in self.mutants))
