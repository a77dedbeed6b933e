"""What to compare with: the published tools, their outputs scored again, and answers that never look at the program.

The published score can be won by always answering the same codes, so no score of these faults is shown without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.codes import CODES
from bench.faults22.facts import Atom, BenchFault, faults, raw
from bench.scores import Score, mean, score, score_after

PUBLISHED, RECOMPUTED, MEASURED = "published", "recomputed", "measured"  # where a number comes from
PARTS = ("artificial", "real", "all")
TOOLS = {"DFD": "DeepFD", "DD": "DeepDiagnosis", "NL": "NeuraLint", "UM": "UMLAUT", "GPT4": "GPT-4"}
SCORED = ("DFD", "DD", "NL", "UM")  # tools whose outputs are known

_FIVE = ("ACH", "LCH", "OCH", "HLR", "HNE")  # the codes that DeepFD knows
CONSTANT = {
    "always 5": _FIVE,
    "always 7": (*_FIVE, "HBS", "WCI"),
    "always 14": tuple(CODES),
}

Answer = Sequence[Atom]


@dataclass(frozen=True)
class Row:
    """Mean scores of one answerer over some faults; None where a study does not say."""

    name: str
    origin: str
    before: Score
    after: Score
    atom_before: float | None = None  # F3 over pairs of code and layer
    atom_after: float | None = None
    codes: float | None = None  # per program
    seconds: float | None = None  # per fault


def part_of(part: str, chosen: Sequence[BenchFault]) -> tuple[BenchFault, ...]:
    return tuple(fault for fault in chosen if part in ("all", fault.kind))


def rivals(chosen: Sequence[BenchFault], part: str) -> Iterator[Row]:
    """All rows that netmend is shown beside, over the chosen faults of one part."""
    own = part_of(part, chosen)
    if not own:
        return
    for tool in TOOLS:
        yield _published(tool, own, part, whole=len(chosen) == len(faults()))
    for tool in SCORED:
        outputs = {fault.id: fault.published[tool].output or () for fault in own}
        yield scored(TOOLS[tool], RECOMPUTED, own, outputs)
    for name, codes in CONSTANT.items():
        yield scored(name, RECOMPUTED, own, {fault.id: tuple(map(Atom, codes)) for fault in own})


def scored(
    name: str,
    origin: str,
    chosen: Sequence[BenchFault],
    given: Mapping[str, Answer],
    seconds: float | None = None,
) -> Row:
    """A row from one answer per fault, by its id."""
    answers = [(fault, given[fault.id]) for fault in chosen]

    def over(mode: str, alternatives: bool) -> Score:
        return mean(
            [
                score_after(answer, fault.truth, fault.alternatives if alternatives else (), mode)
                for fault, answer in answers
            ]
        )

    return Row(
        name,
        origin,
        over("type", False),
        over("type", True),
        over("atom", False).f3,
        over("atom", True).f3,
        sum(len(answer) for _, answer in answers) / max(1, len(answers)),
        seconds,
    )


def _published(tool: str, chosen: Sequence[BenchFault], part: str, whole: bool) -> Row:
    """The printed averages; over some of the faults only, the means of the printed rows."""
    rows = [fault.published[tool] for fault in chosen]
    times = [row.seconds for row in rows if row.seconds is not None]
    seconds = sum(times) / len(times) if times else None
    if whole:
        averages = raw()["published_averages"]
        before, after = (Score(*averages[when][tool][part]) for when in ("before", "after"))
    else:
        before = mean([Score(*row.before) for row in rows])
        after = mean([Score(*row.after) for row in rows])
    return Row(TOOLS[tool], PUBLISHED, before, after, seconds=seconds)


def score_of(fault: BenchFault, answer: Answer, mode: str = "type") -> tuple[Score, Score]:
    """Before and after neutrality analysis."""
    return score(answer, fault.truth, mode), score_after(answer, fault.truth, fault.alternatives, mode)
