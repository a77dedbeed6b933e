"""The same corpus under other tools from PyPI, each attached as it documents, and one table with netmend's figures.

    python -m venv rivals && rivals/bin/pip install torch==2.13.0 torchtest2 torch-audit mldoct training-doctor
    python benchmarks/diagnose_rivals.py --python rivals/bin/python --part heldout

Counted in their favour: what is plainly a matter of speed or style is no alarm; a finding names the right cause if it can be read that way at all; of each
tool's findings the best one counts; warnings and errors are scored apart.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from diagnose_corpus import PARTS, RUNS, Program, programs

ATTACH = Path(__file__).parent / "rivals" / "attach.py"
TOOLS = ("mldoct", "torch-audit", "torchtest2", "training-doctor")
STYLE = (
    "cpu_bottleneck",
    "missing_clip",
    "TA200",
    "TA201",
    "TA202",
    "TA203",
    "TA400",
    "TA401",
    "TA402",
    "TA403",
    "TA404",
)
ERRORS = ("FAIL", "ERROR", "FATAL", "CRITICAL")

# What a finding can be read as: leaves of the taxonomy, by the beginning of the finding's name.
MEANS = {
    "missing_zero_grad": {"LOOP-ZERO-GRAD"},
    "missing_eval": {"LOOP-MODE-EVAL"},
    "double_softmax": {"LYR-SOFTMAX-EXTRA"},
    "oom_leak": {"TRN-MEM"},
    "TA100": {"PRE-MISS-CLEAN", "LOS-CALC", "HYP-LR-HIGH", "ARC-INIT-WEIGHT"},
    "TA102": {
        "HYP-LR-HIGH",
        "OPT-CLIP",
        "PRE-MISS-NORM",
        "PRE-MISS-SCALE",
        "ARC-INIT-WEIGHT",
        "LOOP-ZERO-GRAD",
    },
    "TA103": {"ARC-INIT-BIAS", "HYP-LR-HIGH", "ACT-HID-WRONG", "ARC-INIT-WEIGHT"},
    "TA104": {"LOS-GRAPH-CUT", "ARC-NET-WRONG", "LOOP-BACKWARD", "LOOP-FREEZE"},
    "TA105": {"ARC-INIT-BIAS", "HYP-LR-HIGH", "ACT-HID-WRONG", "ARC-INIT-WEIGHT"},
    "TA301": {"PRE-MISS-NORM", "PRE-MISS-SCALE"},
    "TA302": {"PRE-WRONG-STEP", "DAT-FEAT-RANGE"},
    "TA303": {"INP-LAYER-SHAPE", "INP-FORMAT"},
    "TA304": {"HYP-BATCH-SMALL"},
    "TA305": {"PRE-MISS-CLEAN"},
    "TA405": {"ARC-INIT-WEIGHT"},
    "TA500": {"ARC-NET-WRONG", "ARC-INIT-MODEL"},
    "forward": {"LYR-DIM-MISMATCH", "LYR-IN-SAMPLE", "LYR-IN-SHAPE", "INP-LAYER-SHAPE", "INP-TYPE"},
    "output_varies": {"ARC-INIT-WEIGHT", "ACT-OUT-WRONG", "ARC-INIT-BIAS", "LYR-OUT-SHAPE"},
    "output_finite": {"PRE-MISS-CLEAN", "LOS-CALC", "ARC-INIT-WEIGHT"},
    "eval_determinism": {"LOOP-MODE-EVAL", "API-USAGE"},
    "loss": {"LOS-CALC", "LOS-GRAPH-CUT", "INP-TYPE", "INP-METHOD-SHAPE", "LYR-OUT-SHAPE", "PRE-MISS-CLEAN"},
    "initial_loss": {"ARC-INIT-WEIGHT", "ARC-INIT-BIAS", "LOS-CALC", "PRE-MISS-NORM"},
    "optimizer_coverage": {"OPT-PARAMS", "ARC-INIT-MODEL"},
    "gradient_flow": {"LOS-GRAPH-CUT", "ARC-NET-WRONG", "ARC-INIT-WEIGHT"},
    "gradient_magnitude": {"ARC-INIT-WEIGHT", "PRE-MISS-NORM", "PRE-MISS-SCALE", "LOS-CALC"},
    "params_change": {"LOS-GRAPH-CUT", "OPT-PARAMS", "ARC-NET-WRONG", "LOOP-FREEZE", "ARC-INIT-WEIGHT"},
    "frozen_params": {"LOOP-FREEZE"},
    "input_dependency": {"TSR-INDEX", "ARC-NET-WRONG", "PRE-WRONG-STEP"},
    "batch_independence": {"INP-FORMAT-RNN", "TSR-SHAPE", "ACT-DIM", "TSR-INDEX", "TSR-NORM-AXIS"},
    "overfit_batch": {
        "HYP-LR-LOW",
        "HYP-LR-HIGH",
        "ARC-STRUCT-SUBOPT",
        "LYR-UNITS",
        "LOS-SELECT",
        "ACT-OUT-WRONG",
    },
    "Learning rate likely too high": {"HYP-LR-HIGH"},
    "Learning rate may be too low": {"HYP-LR-LOW"},
    "Gradient instability": {"HYP-LR-HIGH", "OPT-CLIP", "LOOP-ZERO-GRAD"},
    "Overfitting": {"LOS-REG-MISSING", "DAT-LITTLE", "HYP-EPOCH-MANY", "LYR-DROPOUT-MISSING"},
    "Training plateau": {"HYP-LR-LOW", "HYP-LR-SCHED", "ARC-STRUCT-SUBOPT"},
    "Early training plateau": {"HYP-LR-LOW", "HYP-LR-SCHED", "ARC-INIT-WEIGHT"},
    "Possible mixed precision": {"LOOP-AMP"},
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", required=True, help="interpreter of the environment with the other tools")
    parser.add_argument("--part", choices=PARTS, default="heldout")
    parser.add_argument(
        "--scores", type=Path, help="netmend's own scores (diagnose.py --json), for the same table"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = list(programs(options.part))
    rows = []
    if options.scores:
        rows.append(_own(json.loads(options.scores.read_text(encoding="utf-8"))))
    for tool in TOOLS:
        with ThreadPoolExecutor(options.jobs) as pool:
            results = list(pool.map(lambda program, tool=tool: _run(options.python, tool, program), found))
        for level in ("error", "any") if tool != "training-doctor" else ("any",):
            rows.append(_row(tool, level, found, results))
        sys.stderr.write(f"{tool} done\n")
    print(table(rows))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


def _run(python: str, tool: str, program: Program) -> list[dict]:
    kept = RUNS / "rivals" / tool / program.part / program.kind / f"{program.name}-{program.fingerprint}.json"
    if kept.exists():
        return json.loads(kept.read_text(encoding="utf-8"))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "SEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [str(Path(python).absolute()), str(ATTACH.absolute()), tool, program.entry.name]
    try:
        ended = subprocess.run(
            command, cwd=program.entry.parent, env=environment, capture_output=True, text=True, timeout=180
        )
        found = json.loads(ended.stdout.strip().splitlines()[-1])
    except (subprocess.TimeoutExpired, IndexError, ValueError):
        found = []
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(found), encoding="utf-8")
    return found


def _row(tool: str, level: str, found: list[Program], results: list[list[dict]]) -> dict:
    counts = {
        "tool": f"{tool}, {'errors only' if level == 'error' else 'all findings'}",
        "faulty": 0,
        "healthy": 0,
    }
    counts |= {"detected": 0, "cause": 0, "line": 0, "alarms": 0}
    for program, findings in zip(found, results, strict=True):
        told = [
            item for item in findings if item["name"] not in STYLE and item["level"] not in ("INFO", "SKIP")
        ]
        told = [item for item in told if level == "any" or item["level"] in ERRORS]
        if program.kind == "healthy":
            counts["healthy"] += 1
            counts["alarms"] += bool(told)
            continue
        counts["faulty"] += 1
        counts["detected"] += bool(told)
        right = [
            item
            for item in told
            if _means(item) & {code for cause in program.causes for code in cause.accept}
        ]
        counts["cause"] += bool(right)
        places = [(place.file.name, place.line) for cause in program.causes for place in cause.places]
        counts["line"] += any(
            item.get("line")
            and any(item.get("file") == file and abs(item["line"] - line) <= 1 for file, line in places)
            for item in right
        )
    return counts


def _means(item: dict) -> set[str]:
    return next((codes for start, codes in MEANS.items() if item["name"].startswith(start)), set())


def _own(scores: list[dict]) -> dict:
    faulty = [made for made in scores if made["kind"] == "faulty"]
    healthy = [made for made in scores if made["kind"] == "healthy"]
    return {
        "tool": "netmend",
        "faulty": len(faulty),
        "healthy": len(healthy),
        "detected": sum(made["detected"] for made in faulty),
        "cause": sum(made["first"] for made in faulty),
        "line": sum(made["line"] for made in faulty),
        "alarms": sum(bool(made["told"]) for made in healthy),
    }


def table(rows: list[dict]) -> str:
    lines = [
        "| tool | faulty programs detected | true cause named | right line (±1) | healthy runs with a false alarm |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        shares = [
            f"{row[key]} of {row['faulty']} ({row[key] / max(1, row['faulty']):.0%})"
            for key in ("detected", "cause", "line")
        ]
        alarms = f"{row['alarms']} of {row['healthy']} ({row['alarms'] / max(1, row['healthy']):.0%})"
        lines.append(f"| {row['tool']} | {' | '.join(shares)} | {alarms} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
