"""The 22 published faults: netmend beside published tools and constant answers, alarms on fixed programs, repairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bench.baselines import MEASURED, Row
from bench.outcomes import Result22, read
from bench.scores import Score
from bench.summary22 import Line, Summary, summarise
from benchmark_page.results import Results
from benchmark_page.words import marked, number, share

FILE = "bench-faults22.json"
WEAK = "D8"  # its known fix is hardly one: the buggy program's own seeds reach it


_BEFORE, _AFTER = Score(0.90, 0.70, 0.87), Score(0.95, 0.75, 0.92)


@dataclass(frozen=True)
class Aims:
    """Proposed together with the facts of the benchmark."""

    before: Score = _BEFORE
    after: Score = _AFTER
    atom_before: float = 0.65
    atom_after: float = 0.80
    alarms: int = 2
    verified: int = 18  # of 21: WEAK is left out
    seconds_share: float = 0.1  # of one training, …
    seconds: float = 10.0  # … and so many on top


def section(results: Results) -> dict[str, Any] | None:
    if not results.has(FILE):
        return None
    result = read(results.folder / FILE)
    summary = summarise(result)
    rows = {part: [_row(row) for row in found] for part, found in summary.rows.items()}
    return {
        "seeds": result.seeds,
        "stability": result.stability,
        "count": len(result.faults),
        "aims": Aims(),
        "rows": rows["all"],
        "parts": {part: found for part, found in rows.items() if part != "all"},
        "intervals": [
            (name, *(number(value) for value in found)) for name, found in summary.intervals["all"].items()
        ],
        "facts": _facts(result, summary),
        "lines": [_line(line) for line in summary.lines],
        "stand_ins": ", ".join(line.id for line in summary.lines if line.stand_in),
        "origin": results.origin(FILE),
    }


def _row(row: Row) -> list[str]:
    aims, own = Aims(), row.origin == MEASURED
    scores = [*_triple(row.before, aims.before, own), *_triple(row.after, aims.after, own)]
    atoms = [
        _aimed(row.atom_before, aims.atom_before, own),
        _aimed(row.atom_after, aims.atom_after, own),
    ]
    name = f"**{row.name}**" if own else row.name
    return [name, row.origin, *scores, *atoms, number(row.codes, 1), number(row.seconds, 1)]


def _triple(score: Score, aim: Score, own: bool) -> list[str]:
    return [_aimed(getattr(score, key), getattr(aim, key), own) for key in ("rc", "pr", "f3")]


def _aimed(value: float | None, aim: float, own: bool) -> str:
    return marked(number(value), not own or value is None or value >= aim - 0.005)


def _facts(result: Result22, summary: Summary) -> list[tuple[str, str, str]]:
    """What the scores do not say: (what, measured, aim)."""
    aims, alarms = Aims(), summary.alarms
    slow = [
        line.id
        for line in summary.lines
        if line.diagnosis_seconds > aims.seconds_share * line.seconds + aims.seconds
    ]
    facts = [
        (
            "alarms on the fixed programs (most frequent answer)",
            marked(f"{alarms.programs} of {alarms.of_programs}", alarms.programs <= aims.alarms),
            f"at most {aims.alarms}",
        ),
        ("alarms over all trainings of fixed programs", share(alarms.runs, alarms.of_runs), "–"),
        ("share of trainings with the most frequent answer", f"{summary.stable:.0%}", "–"),
        (
            "seconds of the diagnosis after a training (mean)",
            marked(number(summary.diagnosis_seconds), not slow),
            f"{aims.seconds_share:.0%} of a training + {aims.seconds:.0f} s",
        ),
        ("seconds of one training, watched (mean)", number(summary.seconds, 1), "–"),
    ]
    repairs = {own.id: own.repair for own in result.faults if own.repair is not None and own.id != WEAK}
    if repairs:
        good = sum(bool(one["verified"]) for one in repairs.values())
        small = sum(
            bool(one["verified"] and one["changes"] <= one["known_changes"]) for one in repairs.values()
        )
        facts += [
            (
                f"verified repairs (proven, within noise of the known fix; {WEAK} left out)",
                marked(f"{good} of {len(repairs)}", good >= aims.verified),
                f"at least {aims.verified} of 21",
            ),
            ("of these with no more changes than the known fix", f"{small} of {good}", "–"),
        ]
    return facts


def _line(line: Line) -> list[str]:
    repair = line.repair or {}
    verdict = "verified" if repair.get("verified") else repair.get("verdict", "–")
    return [
        f"{line.id}{'*' if line.stand_in else ''}",
        _atoms(line.truth),
        _atoms(line.answer),
        number(line.before.f3),
        number(line.after.f3),
        f"{line.stable:.0%}",
        _atoms(line.on_fixed),
        verdict,
        number(repair.get("improvement_rate")),
    ]


def _atoms(atoms: Any) -> str:
    return " ".join(map(str, atoms)) or "–"
