"""What it costs to watch how data are made, and whether anything is changed by it.

python benchmarks/preparation_cost.py                                  # 20 programs of preparation/calibration
python benchmarks/preparation_cost.py --match leads --repeats 5
python benchmarks/preparation_cost.py --json benchmarks/results/preparation-cost.json

Each program runs bare, under `netmend run` without its look at preparation, and under `netmend run`; interleaved, seeded. Every tensor that reaches a model or a loss (inputs and targets)
and the final weights have to be the same bit for bit. The cost is the CPU time until the first backward pass: `run` against `run` without the look, as a share of the bare
preparation (importing included), and the peak of memory likewise; medians. A program that differs from itself when run twice bare is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from preparation import PROGRAMS, SECONDS, as_script

OWN = Path(__file__).with_suffix("")
BARE, UNWATCHED, WATCHED = "bare", "run without preparation", "run"
SAME = ("batches", "tensors", "weights", "steps")
SHARE, FREE, MEMORY = 0.02, 0.2, 50.0  # what the look may cost: of the time, seconds, megabytes


@dataclass(frozen=True)
class Cost:
    name: str
    same: bool
    steps: int
    tensors: int
    prepared: float  # CPU seconds from the program's first line to the first backward pass, bare
    added: float  # CPU seconds that the look at preparation adds to it
    wall: float  # wall seconds that it adds
    memory: float  # megabytes that it adds to the peak
    different: tuple[str, ...] = ()

    @property
    def within(self) -> bool:
        return self.added <= max(FREE, SHARE * self.prepared) and self.memory <= MEMORY


def chosen(number: int, match: str) -> list[Path]:
    """Programs spread over the calibration part; faulty versions, which prepare as much as the mended ones."""
    folders = sorted(label.parent for label in (PROGRAMS / "calibration").glob("*/label.json"))
    if match:
        return [folder for folder in folders if match in folder.name]
    return folders[:: max(1, len(folders) // number)][:number]


def ready(folder: Path, place: Path) -> Path:
    """A copy with its data, whose script says when it begins."""
    home = place / folder.name
    shutil.copytree(folder, home, ignore=shutil.ignore_patterns("__pycache__", "label.json", "*.patch"))
    subprocess.run([sys.executable, "make_data.py"], cwd=home, check=True, capture_output=True)
    script = home / as_script(home)
    text = script.read_text(encoding="utf-8")
    line = "import sitecustomize; sitecustomize.begin()\n"
    at = text.index("\n", text.index("from __future__")) + 1 if "from __future__" in text else 0
    script.write_text(text[:at] + line + text[at:], encoding="utf-8")
    return script


def measured(script: Path, variant: str) -> dict[str, Any] | str:
    """What the program noted, or why it did not end."""
    with tempfile.TemporaryDirectory() as place:
        home = Path(place) / "program"
        shutil.copytree(script.parent, home)
        out = Path(place) / "noted.json"
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(filter(None, (str(OWN), os.environ.get("PYTHONPATH", "")))),
            "PREPARATION_COST_OUT": str(out),
            "PYTHONHASHSEED": "0",
            "OMP_NUM_THREADS": "1",
            "NETMEND_LIVE": "0",
            "MPLBACKEND": "Agg",
        }
        environment |= {"PREPARATION_COST_UNWATCHED": "1"} if variant == UNWATCHED else {}
        command = [sys.executable, script.name]
        if variant != BARE:
            command = [sys.executable, "-m", "netmend", "run", "--quiet", script.name]
        try:
            done = subprocess.run(
                command, cwd=home, env=environment, capture_output=True, text=True, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            return f"longer than {SECONDS:g} s"
        if not out.exists() or "first" not in (noted := json.loads(out.read_text(encoding="utf-8")))["marks"]:
            return f"{variant}: {done.stderr.strip()[-200:] or 'no training step'}"
        return dict(noted)


def cost(folder: Path, repeats: int) -> Cost | str:
    with tempfile.TemporaryDirectory() as place:
        script = ready(folder, Path(place))
        rounds: dict[str, list[dict[str, Any]]] = {BARE: [], UNWATCHED: [], WATCHED: []}
        for _ in range(repeats):
            for variant, noted in rounds.items():
                one = measured(script, variant)
                if isinstance(one, str):
                    return one
                noted.append(one)
    bare = rounds[BARE][0]
    if any(one[key] != bare[key] for one in rounds[BARE] for key in SAME):
        return "differs from itself when run twice"
    different = {key for one in rounds[WATCHED] + rounds[UNWATCHED] for key in SAME if one[key] != bare[key]}

    def middle(variant: str, what: str) -> float:
        return median(one["marks"]["first"][what] - one["marks"]["begin"][what] for one in rounds[variant])

    def peak(variant: str) -> float:
        return median(one["marks"]["first"]["memory"] for one in rounds[variant])

    return Cost(
        folder.name,
        not different,
        bare["steps"],
        bare["tensors"],
        middle(BARE, "cpu"),
        middle(WATCHED, "cpu") - middle(UNWATCHED, "cpu"),
        middle(WATCHED, "wall") - middle(UNWATCHED, "wall"),
        peak(WATCHED) - peak(UNWATCHED),
        tuple(sorted(different)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=20)
    parser.add_argument("--match", default="", help="only names that hold this, as many as there are")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures")
    args = parser.parse_args()
    costs = []
    for folder in chosen(args.programs, args.match):
        one = cost(folder, args.repeats)
        if isinstance(one, str):
            print(f"{folder.name}: left out, {one}", flush=True)
            continue
        costs.append(one)
        verdict = "same" if one.same else f"DIFFERENT: {', '.join(one.different)}"
        over = "" if one.within else "  OVER"
        print(
            f"{one.name:<34} {verdict:<9} {one.steps:>5} steps  prepared in {one.prepared:5.2f} s  "
            f"+{one.added:6.3f} s ({100 * one.added / one.prepared:4.1f} %)  {one.memory:+6.1f} MB{over}",
            flush=True,
        )
    if not costs:
        return
    prepared, added = sum(one.prepared for one in costs), sum(one.added for one in costs)
    print(
        f"{sum(one.same for one in costs)} of {len(costs)} bit for bit the same; within limits {sum(one.within for one in costs)}; "
        f"all together {prepared:.1f} s of preparation, {added:+.2f} s ({100 * added / prepared:.1f} %); "
        f"largest {max(one.added for one in costs):.2f} s, {max(one.memory for one in costs):.0f} MB"
    )
    if args.json:
        rows = [asdict(one) | {"within": one.within} for one in costs]
        args.json.write_text(
            json.dumps({"repeats": args.repeats, "programs": rows}, indent=1) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
