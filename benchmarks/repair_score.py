"""Scores of repairs: the reference fix, the patch and the faulty program trained again on fresh seeds."""

from __future__ import annotations

import difflib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from diagnose_corpus import Program

from netmend.repair.objective import Objective
from netmend.repair.result import Result
from netmend.trials.runner import Runner
from netmend.trials.trial import Outcome, Target, Trial

SEEDS = (5001, 5002, 5003)  # used by nothing else
ENOUGH = 0.95


@dataclass(frozen=True)
class Reference:
    texts: dict[str, str]  # of the files that the reference fix changes
    metric: Objective | None
    pattern: str
    lines: int


@dataclass(frozen=True)
class Judged:
    """One program after repair."""

    name: str
    part: str
    kind: str
    verdict: str
    titles: tuple[str, ...] = ()
    trainings: float = 0.0
    verification_trainings: int = 0
    improvement_rate: float | None = None
    repaired: bool = False
    confirmed: bool = False  # better than before on the fresh seeds
    faulty: float | None = None
    fixed: float | None = None
    patched: float | None = None
    lines: int = 0
    reference_lines: int = 0
    seconds: float = 0.0
    told: tuple[str, ...] = field(default=())

    def as_dict(self) -> dict:
        return asdict(self)


def reference_of(program: Program) -> Reference | None:
    file = program.entry.parent / "references.json"
    if program.entry.parent.name == program.name:
        file = program.entry.parent.parent / "references.json"
    if not file.exists():
        return None
    entry = json.loads(file.read_text(encoding="utf-8")).get(program.name)
    if entry is None:
        return None
    texts: dict[str, str] = {}
    lines = 0
    for edit in entry["edits"]:
        path = program.entry.parent / edit["file"]
        old = texts.get(edit["file"], path.read_text(encoding="utf-8"))
        texts[edit["file"]] = old.replace(edit["old"], edit["new"])
        lines += changed_lines(old, texts[edit["file"]])
    metric = entry.get("metric")
    objective = Objective("pattern", metric["higher_is_better"], True) if metric else None
    return Reference(texts, objective, metric["pattern"] if metric else "", lines)


def changed_lines(old: str, new: str) -> int:
    """Lines that differ: of a replaced piece, the larger side counts."""
    matcher = difflib.SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False)
    return sum(max(b - a, d - c) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal")


def judged(
    program: Program, reference: Reference | None, found: Result, folder: Path, executor, seconds: float
) -> Judged:
    runner = Runner(
        Target(program.entry.name, (), False, str(folder)), folder / ".netmend" / "trials", executor
    )
    objective = reference.metric if reference is not None else found.objective
    pattern = reference.pattern if reference is not None else ""
    sides: dict[str, dict[str, str]] = {"faulty": {}, "patched": found.version.texts}
    if reference is not None:
        sides["fixed"] = reference.texts
    trials = [
        Trial(runner.target, tuple(sorted(texts.items())), seed, pattern=pattern)
        for texts in sides.values()
        for seed in SEEDS
    ]
    outcomes = runner.run(trials)
    means = {
        side: mean(objective, outcomes[index * len(SEEDS) : (index + 1) * len(SEEDS)])
        for index, side in enumerate(sides)
    }
    rate = None
    if objective is not None and reference is not None:
        start = means["faulty"]
        if start is None:
            start = unlearned(objective, outcomes[2 * len(SEEDS)])
        rate = improvement_rate(objective, start, means["fixed"], means["patched"])
    lines = sum(changed_lines(found.version.originals[f], text) for f, text in found.version.texts.items())
    return Judged(
        program.name,
        program.part,
        program.kind,
        found.verdict,
        found.titles,
        round(found.trainings, 2),
        found.verification.trainings if found.verification else 0,
        rate,
        rate is not None and rate >= ENOUGH and bool(found.version.parts),
        objective is not None and better(objective, means["faulty"], means["patched"]),
        means["faulty"],
        means.get("fixed"),
        means["patched"],
        lines,
        reference.lines if reference else 0,
        round(seconds, 1),
        tuple(fault.cause for fault in found.diagnosis.faults) if found.diagnosis else (),
    )


def mean(objective: Objective | None, outcomes: list[Outcome]) -> float | None:
    """The mean over seeds; None when any of them did not end well."""
    values = [objective.value(outcome) if objective is not None else None for outcome in outcomes]
    return None if any(value is None for value in values) else round(sum(values) / len(values), 6)


def better(objective: Objective, before: float | None, after: float | None) -> bool:
    if after is None:
        return False
    return before is None or (after > before if objective.higher_is_better else after < before)


def unlearned(objective: Objective, fixed: Outcome) -> float | None:
    """For a program that fails as it is: an accuracy of 0, or the first loss that the fixed program prints."""
    points = fixed.series.get(objective.series)
    return 0.0 if objective.higher_is_better else points[0][1] if points else None


def improvement_rate(
    objective: Objective, faulty: float | None, fixed: float | None, patched: float | None
) -> float | None:
    """The share of the reference fix's gain."""
    if fixed is None:
        return None
    if patched is None:
        return 0.0
    if faulty is None:
        return None
    gap = fixed - faulty
    return None if gap == 0 else round((patched - faulty) / gap, 4)
