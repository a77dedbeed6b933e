"""How well does netmend diagnose programs that learn by acting? Runs their corpus and prints detection, cause, line and false alarms.

python benchmarks/diagnose_rl.py                               # calibration: limits are set on it
python benchmarks/diagnose_rl.py --part heldout                # written after the limits were set; nobody tunes on it
python benchmarks/diagnose_rl.py --match dqn --verbose         # some programs, with what was said
python benchmarks/diagnose_rl.py --part all --write            # both, into benchmarks/results/diagnose-rl.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from diagnose import Score, evaluate, summary
from diagnose_corpus import CORPUS, Program, _program, record_all

PARTS = {"calibration": CORPUS / "calibration" / "rl", "heldout": CORPUS / "heldout_rl"}
RESULTS = Path(__file__).parent / "results" / "diagnose-rl.json"


def programs(part: str, kind: str | None, match: str) -> Iterator[Program]:
    """Programs of one part; what is wrong with each stands in `expected.json` beside them."""
    for this_kind in ("healthy", "faulty"):
        file = PARTS[part] / this_kind / "expected.json"
        if kind not in (None, this_kind) or not file.is_file():
            continue
        for name, label in sorted(json.loads(file.read_text(encoding="utf-8")).items()):
            if match in name:
                yield _program(file.parent, f"rl-{part}", this_kind, name, label)


def figures(scores: list[Score]) -> dict[str, Any]:
    """What is told in one table row."""
    faulty = [made for made in scores if made.kind == "faulty"]
    healthy = [made for made in scores if made.kind == "healthy"]
    return {
        "faulty": len(faulty),
        "detected": sum(made.detected for made in faulty),
        "cause_first": sum(made.first for made in faulty),
        "cause_top3": sum(made.third for made in faulty),
        "line": sum(made.line for made in faulty),
        "told": sum(len(made.told) for made in faulty),
        "told_right": sum(made.right for made in faulty),
        "healthy": len(healthy),
        "false_alarms": sum(bool(made.told) for made in healthy),
        "failures": sum(bool(made.failures) for made in scores),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=(*PARTS, "all"), default="calibration")
    parser.add_argument("--kind", choices=("healthy", "faulty"))
    parser.add_argument("--match", default="", help="only programs whose name contains this")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds of every program")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="record again what was recorded before")
    parser.add_argument("--recorded", action="store_true", help="judge what is recorded, record nothing")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--write", action="store_true", help=f"write the figures to {RESULTS.name}")
    options = parser.parse_args()
    result: dict[str, Any] = {}
    for part in PARTS if options.part == "all" else (options.part,):
        found = list(programs(part, options.kind, options.match))
        if not options.recorded:
            record_all(found, options.seeds, options.again, options.jobs)
        scores = evaluate(found, options.seeds, options.verbose)
        print(f"\n{part}: {len(found)} programs, {options.seeds} seeds each")
        summary(scores)
        result[part] = {"seeds": options.seeds, **figures(scores), "runs": [asdict(made) for made in scores]}
    if options.write:
        kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
        RESULTS.write_text(json.dumps(kept | result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
