"""From every answer of every training to the figures that are shown: per fault, and over the artificial, the real and all faults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench.baselines import MEASURED, PARTS, Row, part_of, rivals, score_of, scored
from bench.codes import merged
from bench.faults22.facts import Atom, BenchFault, fault
from bench.outcomes import BUGGY, FIXED, Fault22, Result22, Run22, atoms
from bench.scores import Score, mean
from bench.statistics import interval, most_frequent
from netmend.trials.trial import FINISHED

RUN, MEAN, REPAIR = "netmend run", "run, seed mean", "netmend repair"


@dataclass(frozen=True)
class Line:
    """What is shown of one fault. The answer is the one given most often; scores are its scores."""

    id: str
    truth: tuple[Atom, ...]
    answer: tuple[Atom, ...]
    stable: float  # share of all trainings of the buggy side with their most frequent answer
    before: Score
    after: Score
    atom_before: float
    atom_after: float
    on_fixed: tuple[Atom, ...]  # the answer given most often on the fixed side: anything is a false alarm
    seconds: float  # of one training
    diagnosis_seconds: float
    failed: int = 0  # trainings that did not come to their end
    stand_in: str = ""
    repair: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Alarms:
    """False alarms on the fixed side."""

    programs: int  # by the most frequent answer
    of_programs: int
    runs: int
    of_runs: int


@dataclass(frozen=True)
class Summary:
    lines: tuple[Line, ...]
    rows: Mapping[str, tuple[Row, ...]]  # by part
    intervals: Mapping[
        str, Mapping[str, tuple[float, float, float]]
    ]  # by part: measure → mean over seeds, 95 %
    alarms: Alarms
    stable: float  # mean share of the most frequent answer
    seconds: float
    diagnosis_seconds: float
    verified: int | None  # None: no repair was asked for
    verified_small: int | None  # of these, with no more changes than the known fix


def summarise(result: Result22) -> Summary:
    """Everything from the answers alone: nothing is run."""
    lines = tuple(_line(own, result.seeds) for own in result.faults)
    known = {own.id: own for own in result.faults}
    chosen = [fault(own.id) for own in result.faults]
    shown = {line.id: line for line in lines}
    repairs = [own.repair for own in result.faults if own.repair is not None]
    parts = [part for part in PARTS if part == "all" or 0 < len(part_of(part, chosen)) < len(chosen)]
    return Summary(
        lines=lines,
        rows={
            part: (*rivals(chosen, part), *_measured(part_of(part, chosen), shown, known, result.seeds))
            for part in parts
        },
        intervals={part: _intervals(part_of(part, chosen), known, result.seeds) for part in parts},
        alarms=_alarms(lines, result),
        stable=_mean([line.stable for line in lines]),
        seconds=_mean([line.seconds for line in lines]),
        diagnosis_seconds=_mean([line.diagnosis_seconds for line in lines]),
        verified=sum(bool(one["verified"]) for one in repairs) if repairs else None,
        verified_small=sum(bool(one["verified"] and one["is_small"]) for one in repairs) if repairs else None,
    )


def as_data(summary: Summary) -> dict[str, Any]:
    """For the result file."""
    data = asdict(summary)
    for line in data["lines"]:
        for name in ("truth", "answer", "on_fixed"):
            line[name] = [str(Atom(**atom)) for atom in line[name]]
        line.pop("repair")  # stands with the runs
    return data


def repair_answer(own: Fault22) -> tuple[Atom, ...]:
    return merged(atoms(own.repair["atoms"])) if own.repair is not None else ()


def _line(own: Fault22, seeds: int) -> Line:
    known, buggy, fixed = fault(own.id), own.of(BUGGY), own.of(FIXED)
    answer = _usual(own.of(BUGGY, seeds))
    before, after = score_of(known, answer)
    atom_before, atom_after = score_of(known, answer, "atom")
    return Line(
        own.id,
        known.truth,
        answer,
        most_frequent([_as_set(run) for run in buggy])[1] if buggy else 0.0,
        before,
        after,
        atom_before.f3,
        atom_after.f3,
        _usual(fixed),
        _mean([run.seconds for run in buggy]),
        _mean([run.diagnosis_seconds for run in buggy]),
        sum(run.status != FINISHED for run in own.runs),
        own.stand_in,
        own.repair,
    )


def _measured(
    chosen: Sequence[BenchFault], lines: Mapping[str, Line], known: Mapping[str, Fault22], seeds: int
) -> Iterator[Row]:
    seconds = _mean([lines[one.id].seconds + lines[one.id].diagnosis_seconds for one in chosen])
    yield scored(RUN, MEASURED, chosen, {one.id: lines[one.id].answer for one in chosen}, seconds)
    values = {one.id: [run.answer for run in known[one.id].of(BUGGY, seeds)] for one in chosen}
    yield _seed_mean(chosen, values, seconds)
    if any(known[one.id].repair is not None for one in chosen):
        cost = [float(own.repair["seconds"]) for one in chosen if (own := known[one.id]).repair is not None]
        yield scored(
            REPAIR, MEASURED, chosen, {one.id: repair_answer(known[one.id]) for one in chosen}, _mean(cost)
        )


def _seed_mean(
    chosen: Sequence[BenchFault], answers: Mapping[str, Sequence[tuple[Atom, ...]]], seconds: float
) -> Row:
    """Every seed's own answer scored, instead of the most frequent one."""

    def over(mode: str, after: int) -> Score:
        return mean(
            [mean([score_of(one, given, mode)[after] for given in answers[one.id]]) for one in chosen]
        )

    codes = _mean([_mean([len(given) for given in answers[one.id]]) for one in chosen])
    atom_before, atom_after = over("atom", 0).f3, over("atom", 1).f3
    return Row(MEAN, MEASURED, over("type", 0), over("type", 1), atom_before, atom_after, codes, seconds)


def _intervals(
    chosen: Sequence[BenchFault], known: Mapping[str, Fault22], seeds: int
) -> dict[str, tuple[float, float, float]]:
    measures: dict[str, Callable[[BenchFault, tuple[Atom, ...]], float]] = {
        "RC before": lambda one, given: score_of(one, given)[0].rc,
        "PR before": lambda one, given: score_of(one, given)[0].pr,
        "F3 before": lambda one, given: score_of(one, given)[0].f3,
        "RC after": lambda one, given: score_of(one, given)[1].rc,
        "PR after": lambda one, given: score_of(one, given)[1].pr,
        "F3 after": lambda one, given: score_of(one, given)[1].f3,
        "atom F3 before": lambda one, given: score_of(one, given, "atom")[0].f3,
        "atom F3 after": lambda one, given: score_of(one, given, "atom")[1].f3,
    }
    found = {}
    for name, measure in measures.items():
        groups = [[measure(one, run.answer) for run in known[one.id].of(BUGGY, seeds)] for one in chosen]
        found[name] = (_mean([_mean(group) for group in groups if group]), *interval(groups))
    return found


def _alarms(lines: Sequence[Line], result: Result22) -> Alarms:
    runs = [run for own in result.faults for run in own.of(FIXED)]
    told = sum(bool(run.answer) for run in runs)
    return Alarms(sum(bool(line.on_fixed) for line in lines), len(lines), told, len(runs))


def _usual(runs: Sequence[Run22]) -> tuple[Atom, ...]:
    """The answer given most often; the order in which codes are told does not make another answer."""
    if not runs:
        return ()
    usual = most_frequent([_as_set(run) for run in runs])[0]
    return next(run.answer for run in runs if _as_set(run) == usual)


def _as_set(run: Run22) -> frozenset[Atom]:
    return frozenset(run.answer)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
