"""What the tables of `netmend bench faults22` do not say: false alarms, repairs, times, data, and what was made smaller."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from bench.outcomes import Fault22, Result22
from bench.summary22 import Summary
from netmend.report.content import Remark

_NOISY = (
    "D8"  # its known fix is hardly one: what counts as repaired lies within the buggy program's own range
)


def remarks(summary: Summary, result: Result22) -> Iterator[Remark]:
    alarms = summary.alarms
    yield Remark(
        "alarms on fixed",
        f"{alarms.programs} of {alarms.of_programs} programs by the most frequent answer, {alarms.runs} of {alarms.of_runs} trainings",
    )
    yield Remark("stable", f"{summary.stable:.0%} of trainings give the program's most frequent answer")
    if summary.verified is not None:
        repaired = [line for line in summary.lines if line.repair is not None]
        steady = [line for line in repaired if line.id != _NOISY]
        count = sum(bool(line.repair and line.repair["verified"]) for line in steady)
        without = f"; {count} of {len(steady)} without {_NOISY}" if len(steady) < len(repaired) else ""
        yield Remark(
            "verified repairs",
            f"{summary.verified} of {len(repaired)}{without}; {summary.verified_small} with no more changes than the known fix",
        )
    yield Remark(
        "seconds", f"{summary.seconds:.1f} for one training, {summary.diagnosis_seconds:.2f} until it is told"
    )
    for text, ids in _shared(result, lambda own: (own.stand_in,) if own.stand_in else ()):
        yield Remark("stand-in data", f"{ids}: {text}", tone="warn")
    for text, ids in _shared(result, lambda own: own.reductions):
        yield Remark("smaller", f"{ids}: {text}", tone="muted")
    machine = result.machine
    yield Remark(
        "measured",
        f"{result.date}, seeds: {result.seeds}, netmend {machine.get('netmend')}, torch {machine.get('torch')}, "
        f"{machine.get('cpus')} cores, {machine.get('jobs')} at once",
        tone="muted",
    )


def _shared(result: Result22, texts: Callable[[Fault22], Iterable[str]]) -> Iterator[tuple[str, str]]:
    """What is said of several faults is said once."""
    found: dict[str, list[str]] = {}
    for own in result.faults:
        for text in texts(own):
            found.setdefault(text, []).append(own.id)
    yield from ((text, ", ".join(ids)) for text, ids in found.items())
