"""What the rules tell of recorded mutants, and which answers are right. Judged runs are kept on disk, by the code that judged them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import netmend
from netmend.check.of_run import findings_of_run
from netmend.localise.rank import diagnose
from netmend.store import read_trace

RUNS = Path(__file__).resolve().parents[1] / ".learned-runs"
HALVES = ("even", "odd")

# Leaves that a person would accept as well, because both name the same edit. Not in here: causes that merely look alike.
EQUAL: dict[str, frozenset[str]] = {
    cause: frozenset(others)
    for cause, others in {
        # softmax and sigmoid at the output are activations
        "ACT-OUT-MISSING": ("LYR-SOFTMAX-MISSING",),
        "LYR-SOFTMAX-MISSING": ("ACT-OUT-MISSING",),
        "LYR-SOFTMAX-EXTRA": ("ACT-EXTRA", "ACT-OUT-WRONG"),
        "ACT-OUT-WRONG": ("ACT-EXTRA", "LYR-SOFTMAX-EXTRA"),
        # the whole set as one batch is the largest batch
        "HYP-BATCH-NONE": ("HYP-BATCH-LARGE",),
        "HYP-BATCH-LARGE": ("HYP-BATCH-NONE",),
        # dropout and weight decay both keep from overfitting
        "LYR-DROPOUT-MISSING": ("LOS-REG-MISSING",),
        "LOS-REG-MISSING": ("LYR-DROPOUT-MISSING",),
        # a layer's parameters without gradient, or left out of the optimiser: it stays as it started
        "LOOP-FREEZE": ("OPT-PARAMS",),
        "OPT-PARAMS": ("LOOP-FREEZE",),
        # the loss of outputs that were cut off the graph, and gradients switched off around the training step
        "LOOP-NO-GRAD": ("LOS-GRAPH-CUT",),
        "LOS-GRAPH-CUT": ("LOOP-NO-GRAD",),
        # a layer with one unit, or a badly dimensioned network
        "LYR-UNITS": ("ARC-STRUCT-SUBOPT",),
        "ARC-STRUCT-SUBOPT": ("LYR-UNITS", "LYR-EXTRA"),
        # inputs a thousand times too large: not normalised and not scaled
        "PRE-MISS-NORM": ("PRE-MISS-SCALE",),
        "PRE-MISS-SCALE": ("PRE-MISS-NORM",),
        # the optimiser was exchanged and its rate kept: where that rate is none for the new one, to change the rate cures it as well
        "OPT-SELECT": ("HYP-LR-LOW", "HYP-LR-HIGH"),
        # a schedule that was meant for epochs and is stepped with every batch ruins the rate
        "LOOP-SCHED-ORDER": ("HYP-LR-SCHED",),
        "HYP-LR-SCHED": ("LOOP-SCHED-ORDER",),
        # told as a wrong argument of the norm layer (localise/causes/norm_statistics_lag.py)
        "LYR-NORM-STATS": ("API-USAGE",),
        # evaluation in training mode is told by what it does to dropout
        "LYR-DROPOUT-MODE": ("LOOP-MODE-EVAL",),
        "LOOP-MODE-EVAL": ("LYR-DROPOUT-MODE",),
    }.items()
}


@dataclass(frozen=True)
class Verdict:
    """What is told of one run, and what was done to its program."""

    program: str
    run: str
    half: str
    seeded: tuple[str, ...]
    operators: tuple[str, ...]
    title: str
    harmed: bool
    told: tuple[str, ...]
    confidences: tuple[float, ...]
    suspects: tuple[str, ...]
    symptoms: tuple[str, ...]
    line: bool  # of a right fault
    failures: tuple[str, ...] = ()

    def right(self, told: str) -> bool:
        return any(told == cause or told in EQUAL.get(cause, ()) for cause in self.seeded)

    @property
    def first(self) -> bool:
        return bool(self.told) and self.right(self.told[0])

    @property
    def among(self) -> bool:
        return any(self.right(told) for told in self.told)


def half_of(program: str) -> str:
    """Programs are split by their name, so that all mutants of one lie in one half."""
    return HALVES[hashlib.sha256(program.encode()).digest()[0] % 2]


def entries(part: str, pairs: bool) -> Iterator[dict]:
    for line in (RUNS / part / "index.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        known = not entry["mutations"] or entry["harmed"] is not None
        wanted = known and entry["run"] and (pairs or len(entry["mutations"]) < 2)
        if wanted and (RUNS / part / entry["run"]).exists():
            yield entry


def judge(part: str, entry: dict, run_only: bool) -> Verdict:
    trace = read_trace(RUNS / part / entry["run"])
    findings = () if run_only else findings_of_run(trace.run)
    judged = diagnose(trace, findings=findings)
    seeded = tuple(mutation["cause"] for mutation in entry["mutations"])
    lines = {(Path(file).name, line) for each in entry["mutations"] for file, line in each["lines"]}
    made = Verdict(
        entry["program"],
        entry["run"],
        half_of(entry["program"]),
        seeded,
        tuple(mutation["operator"] for mutation in entry["mutations"]),
        " + ".join(mutation["title"] for mutation in entry["mutations"]),
        bool(entry["harmed"]),
        tuple(fault.cause for fault in judged.faults),
        tuple(fault.confidence for fault in judged.faults),
        tuple(f"{fault.cause} {fault.confidence}" for fault in judged.suspects[:5]),
        tuple(dict.fromkeys(symptom.code for symptom in judged.symptoms)),
        False,
        judged.failures,
    )
    sites = [fault.site for fault in judged.faults if fault.site is not None and made.right(fault.cause)]
    near = any((Path(s.file).name, s.line + off) in lines for s in sites for off in (-1, 0, 1))
    return Verdict(**{**asdict(made), "line": near})


def _judged(work: tuple[str, dict, bool]) -> dict:
    return asdict(judge(*work))


def verdicts(part: str, pairs: bool, run_only: bool, jobs: int) -> list[Verdict]:
    """Every run judged; what the same code judged before is read from disk."""
    cache = RUNS / "rules" / f"{part}{'-run' if run_only else ''}-{_code()}.jsonl"
    cache.parent.mkdir(parents=True, exist_ok=True)
    known: dict[str, dict] = {}
    if cache.exists():
        for line in cache.read_text(encoding="utf-8").splitlines():
            made = json.loads(line)
            known[made["run"]] = made
    wanted = list(entries(part, pairs))
    missing = [(part, entry, run_only) for entry in wanted if entry["run"] not in known]
    if missing:
        with ProcessPoolExecutor(jobs) as pool, cache.open("a", encoding="utf-8") as file:
            for made in pool.map(_judged, missing, chunksize=8):
                known[made["run"]] = made
                file.write(json.dumps(made) + "\n")
    # An entry may be judged anew after its run (harm is measured against originals), so labels come from the index.
    return [
        Verdict(
            **{key: frozen(value) for key, value in {**known[e["run"]], "harmed": bool(e["harmed"])}.items()}
        )
        for e in wanted
    ]


def frozen(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _code() -> str:
    """Changes with whatever may change what is told."""
    root = Path(netmend.__file__).parent
    digest = hashlib.sha256(Path(__file__).read_bytes())  # labels and halves stand here
    for folder in ("diagnose", "localise", "lint", "vocabulary", "store"):
        for file in sorted((root / folder).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
