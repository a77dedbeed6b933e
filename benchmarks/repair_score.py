"""Scores of repairs: the reference fix, the patch and the faulty program trained again on fresh seeds."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from diagnose_corpus import Program

from bench.improvement import (
    ENOUGH,
    SEEDS,
    better,
    changed_lines,
    improvement_rate,
    side,
    unlearned,
)
from netmend.repair.objective import Objective
from netmend.repair.result import Result
from netmend.trials.runner import Runner
from netmend.trials.trial import Target, Trial


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
        name: side(objective, outcomes[index * len(SEEDS) : (index + 1) * len(SEEDS)]).mean
        for index, name in enumerate(sides)
    }
    rate = None
    if objective is not None and reference is not None:
        start = means["faulty"]
        if start is None:
            start = unlearned(objective, outcomes[2 * len(SEEDS)])
        rate = improvement_rate(start, means["fixed"], means["patched"])
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
