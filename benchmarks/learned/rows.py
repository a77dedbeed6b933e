"""Recorded runs as rows for learning: features, what the rules say, and the true causes. Kept on disk, because reading takes minutes.

Two sources: mutants of healthy programs (benchmarks/.learned-runs/<set>/index.jsonl, made by generate.py) and the corpus of programs
(benchmarks/corpus, recorded by diagnose.py).
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(BENCHMARKS))

from diagnose_corpus import programs, run_of  # noqa: E402
from ranking.features import features  # noqa: E402
from ranking.weigh import log_odds  # noqa: E402

import netmend  # noqa: E402
from netmend.check.of_run import findings_of_run  # noqa: E402
from netmend.localise.rank import UNMISSABLE, diagnose  # noqa: E402
from netmend.store import read_trace  # noqa: E402
from netmend.vocabulary import Evidence, Fault  # noqa: E402

LEARNED_RUNS = BENCHMARKS / ".learned-runs"
SETS = ("calibration", "heldout")
FORMAT = 3  # of the rows that are kept on disk


@dataclass(frozen=True)
class Source:
    """One recorded run before it is read."""

    kind: str  # mutant | program
    part: str
    program: str
    seed: int
    run: str  # where the trace lies
    causes: tuple[
        tuple[str, ...], ...
    ]  # each true cause with the leaves that are equally right; empty: healthy
    harmless: tuple[str, ...] = ()  # seeded causes that did no harm: telling them is neither right nor wrong
    failed: bool = False


@dataclass(frozen=True)
class Row:
    source: Source
    values: dict[str, float]
    told: tuple[str, ...]  # by rules, best first
    accused: tuple[Fault, ...]  # by rules, without their words
    unmissable: bool  # the run has plainly failed
    failures: tuple[str, ...] = ()


def rows(part: str, kinds: Iterable[str] = ("mutant", "program")) -> list[Row]:
    """All rows of one part; those that were read before come from the cache."""
    sources = [source for source in _sources(part) if source.kind in kinds]
    cache = LEARNED_RUNS / "features" / f"{part}-{_code_fingerprint()}-{FORMAT}.jsonl"
    known = dict(_cached(cache)) if cache.exists() else {}
    cache.parent.mkdir(parents=True, exist_ok=True)
    missing = [source for source in sources if source.run not in known]
    begun = time.monotonic()
    with cache.open("a", encoding="utf-8") as file:
        for number, source in enumerate(missing, 1):
            known[source.run] = _read(source.run)
            file.write(json.dumps([source.run, known[source.run]]) + "\n")
            left = (time.monotonic() - begun) / number * (len(missing) - number)
            if number % 20 and number < len(missing):
                continue
            sys.stderr.write(f"\rread {number} of {len(missing)} runs of {part}, about {left:.0f} s left   ")
    if missing:
        sys.stderr.write("\n")
    return [_row(source, known[source.run]) for source in sources]


def _sources(part: str) -> Iterator[Source]:
    index = LEARNED_RUNS / part / "index.jsonl"
    if index.exists():
        for line in index.read_text(encoding="utf-8").splitlines():
            found = _mutant(part, json.loads(line))
            if found is not None:
                yield found
    for program in programs(part):
        for seed in range(program.seeds):
            run = run_of(program, seed)
            if run is not None:
                causes = tuple((each.code, *sorted(each.accept - {each.code})) for each in program.causes)
                yield Source("program", part, program.name, seed, str(run), causes)


def _mutant(part: str, entry: dict) -> Source | None:
    """None where nothing can be said: no run, or no telling whether the mutation did harm."""
    run = LEARNED_RUNS / part / entry["run"] if entry.get("run") else None
    seeded = tuple(dict.fromkeys(mutation["cause"] for mutation in entry["mutations"]))
    harmed = entry.get("harmed")
    failed = entry.get("status") == "failed"
    if run is None or not run.exists() or (seeded and harmed is None):
        return None
    present = bool(seeded) and bool(harmed)
    return Source(
        "mutant",
        part,
        entry["program"],
        entry["seed"],
        str(run),
        tuple((code,) for code in seeded) if present else (),
        () if present else seeded,
        failed,
    )


def _read(run: str) -> dict:
    trace = read_trace(Path(run))
    judged = diagnose(trace, findings=findings_of_run(trace.run))
    accused = (*judged.faults, *judged.suspects)
    values, failures = features(trace, judged.symptoms, log_odds(accused))
    return {
        "values": {name: value for name, value in values.items() if math.isfinite(value)},
        "told": [fault.cause for fault in judged.faults],
        "accused": [_kept(fault) for fault in accused],
        "unmissable": any(symptom.code in UNMISSABLE for symptom in judged.symptoms),
        "failures": [*judged.failures, *failures],
    }


def _kept(fault: Fault) -> list:
    """What ranking needs of an accusation."""
    place = str(fault.site or fault.component)
    evidence = [[item.weight, item.symptom] for item in fault.evidence]
    return [fault.cause, fault.confidence, place, evidence, sorted(fault.explains), fault.first_step]


def _fault(
    cause: str, confidence: float, place: str, evidence: list, explains: list, step: int | None
) -> Fault:
    return Fault(
        cause,
        confidence,
        place,
        None,
        summary="",
        reason="",
        remedy="",
        refutation="",
        evidence=tuple(Evidence("", weight, symptom) for weight, symptom in evidence),
        first_step=step,
        explains=frozenset(explains),
    )


def _row(source: Source, read: dict) -> Row:
    return Row(
        source,
        read["values"],
        tuple(read["told"]),
        tuple(_fault(*kept) for kept in read["accused"]),
        read["unmissable"],
        tuple(read["failures"]),
    )


def _cached(cache: Path) -> Iterator[tuple[str, dict]]:
    for line in cache.read_text(encoding="utf-8").splitlines():
        try:
            run, read = json.loads(line)
        except ValueError:
            continue  # the last line of an interrupted run
        yield run, read


def _code_fingerprint() -> str:
    """Changes when a detector, a cause or a feature does."""
    root = Path(netmend.__file__).parent
    parts = (root / name for name in ("diagnose", "check", "program", "library", "localise", "vocabulary"))
    digest = hashlib.sha256()
    for folder in (*parts, Path(__file__).parent / "ranking" / "features"):
        for file in sorted(folder.rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


if __name__ == "__main__":
    for part in sys.argv[1:] or SETS:
        found = rows(part)
        print(part, len(found), "rows,", sum(bool(row.failures) for row in found), "with failures")
        print(json.dumps(asdict(found[0].source)) if found and part == "calibration" else "")
