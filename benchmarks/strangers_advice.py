"""Advice followed to the letter in programs of other people: the edit told first about a fault put into a public script is made, nothing else, and the script runs again.

    python benchmarks/strangers_advice.py FOLDER --table strangers/faults_third.csv --list strangers/third.txt
    python benchmarks/strangers_advice.py FOLDER … --match mnist --again

The script as its authors wrote it is run for the same time: it is what the mended one should be like.

*restored*: the edit gives back the very program that the authors wrote (compared as syntax).
*helps*: at the last step that all three runs reached, at least a tenth of the distance between the faulty and the authors' loss is gone; or the script crashed and
runs now; or, where the fault moves no loss, the cause is told no more and the loss is where the authors' is.
*no edit*: told without a concrete change. Anything else is *no change*, *harms* (the loss is further off by a tenth or more) or *crashes*.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from strangers import Ran, Script, run, scripts
from strangers_faults import TABLE, Fault, broken, faults, told_right

from netmend import load

HERE = Path(__file__).parent
RESTORED, HELPS, NOTHING, NO_EDIT, HARMS, CRASHES = (
    "restored",
    "helps",
    "no change",
    "no edit",
    "harms",
    "crashes",
)
CLEAR = 0.1
SAME = 0.05  # of the authors' loss: as good as it


@dataclass(frozen=True)
class Followed:
    name: str
    told: str
    right: bool
    edit: str
    verdict: str
    losses: tuple[float | None, float | None, float | None] = (None, None, None)  # faulty, mended, authors'


def loss_curve(answer: Path) -> tuple[np.ndarray, np.ndarray]:
    """The objective of the run that wrote this answer."""
    data = json.loads(answer.read_text(encoding="utf-8"))
    steps, loss = load(answer.parent / "runs" / "runs" / data["run"]["id"]).loss
    return np.asarray(steps), np.asarray(loss, float)


def end_losses(curves: list[tuple[np.ndarray, np.ndarray]]) -> tuple[float | None, ...]:
    """The mean of the last quarter before the last step that all runs reached."""
    last = min((steps[-1] for steps, _ in curves if len(steps)), default=0)
    ends: list[float | None] = []
    for steps, loss in curves:
        window = loss[(steps <= last) & (steps >= 0.75 * last)]
        ends.append(float(window.mean()) if len(window) else None)
    return tuple(ends)


def apply(edit: dict, start: Path, root: Path) -> bool:
    """The edit's texts put into the copy, whose files are named from where the script started; last places first, so that the others stay where they are."""
    by_file: dict[str, list[dict]] = {}
    for part in edit["edits"]:
        by_file.setdefault(part["file"], []).append(part)
    for name, parts in by_file.items():
        file = (start / name).resolve()
        if not file.is_relative_to(root):
            return False
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line))
        text = "".join(lines)
        for part in sorted(parts, key=lambda part: (part["line"], part["column"]), reverse=True):
            begin = starts[part["line"] - 1] + part["column"]
            end = starts[part["end_line"] - 1] + part["end_column"]
            text = text[:begin] + part["text"] + text[end:]
        file.write_text(text, encoding="utf-8")
    return True


def same_program(one: Path, other: Path) -> bool:
    try:
        return ast.dump(ast.parse(one.read_text("utf-8"))) == ast.dump(ast.parse(other.read_text("utf-8")))
    except SyntaxError:
        return False


def judged(faulty: Ran, mended: Ran, cause: str, losses: tuple[float | None, ...]) -> str:
    if mended.end == "failed" and faulty.end != "failed":
        return CRASHES
    if faulty.end == "failed":
        return HELPS if mended.end != "failed" and mended.steps else NOTHING
    before, after, goal = losses
    if before is None or after is None or goal is None or not math.isfinite(goal):
        return NOTHING
    if not math.isfinite(after):
        return HARMS if math.isfinite(before) else NOTHING
    distance = abs(before - goal) if math.isfinite(before) else math.inf
    if distance > SAME * abs(goal):
        gained = 1.0 if distance == math.inf else 1 - abs(after - goal) / distance
        return HELPS if gained >= CLEAR else HARMS if gained <= -CLEAR else NOTHING
    cured = all(told.cause != cause for told in mended.told)
    near = abs(after - goal) <= max(2 * distance, 2 * SAME * abs(goal))
    return HELPS if cured and near else NOTHING if near else HARMS


def follow(fault: Fault, script: Script, folder: Path, out: Path, limits: tuple[float, float]) -> Followed:
    name = script.repository.replace("/", "+")
    authors = _answer(script, folder, out / "authors", limits)
    root = broken(fault, script, folder, out)
    faulty, faulty_answer = _ran(script, folder, out / f"{fault.name}.faulty", limits, root)
    first = next(iter(faulty.told), None)
    if first is None:
        return Followed(fault.name, "", False, "", "silent")
    right = told_right(fault, faulty)[1]
    edit = json.loads(faulty_answer.read_text(encoding="utf-8"))["faults"][0]["edit"]
    if edit is None:
        return Followed(fault.name, first.cause, right, "", NO_EDIT)
    if not apply(edit, root / script.folder, root):
        return Followed(fault.name, first.cause, right, edit["title"], NO_EDIT)
    if edit["arguments"] is None and all(
        same_program(root / file, folder / name / file) for file, *_ in fault.edits
    ):
        return Followed(fault.name, first.cause, right, edit["title"], RESTORED)
    mended, mended_answer = _ran(script, folder, out / f"{fault.name}.mended", limits, root)
    curves = [loss_curve(answer) for answer in (faulty_answer, mended_answer, authors) if answer.exists()]
    losses = end_losses(curves) if len(curves) == 3 else (None, None, None)
    return Followed(
        fault.name, first.cause, right, edit["title"], judged(faulty, mended, first.cause, losses), losses
    )  # type: ignore[arg-type]


def _ran(
    script: Script, folder: Path, out: Path, limits: tuple[float, float], root: Path | None
) -> tuple[Ran, Path]:
    (out / "runs").mkdir(parents=True, exist_ok=True)
    ran = run(script, folder, out, limits, root)
    return ran, next(out.glob("*.json"), out / "none.json")


def _answer(script: Script, folder: Path, out: Path, limits: tuple[float, float]) -> Path:
    """The answer of the authors' own program, run once for all faults put into it."""
    place = out / "".join(c if c.isalnum() else "_" for c in script.name)[:100]
    return next(place.glob("*.json"), None) or _ran(script, folder, place, limits, None)[1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--table", type=Path, default=TABLE)
    parser.add_argument("--list", type=Path, default=HERE / "strangers.txt")
    parser.add_argument("--match", default="")
    parser.add_argument("--out", type=Path, help="copies and outputs; default FOLDER/.advice")
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--wall", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    folder, out = options.folder.resolve(), (options.out or options.folder / ".advice").resolve()
    out.mkdir(parents=True, exist_ok=True)
    known = scripts(HERE / options.list, "")
    limits = (options.seconds, options.wall)

    def one(fault: Fault) -> Followed:
        kept = out / f"{fault.name}.followed.json"
        if kept.exists() and not options.again:
            return Followed(**json.loads(kept.read_text(encoding="utf-8")))
        script = next(script for script in known if script.name.startswith(fault.script))
        done = follow(fault, script, folder, out, limits)
        kept.write_text(json.dumps(asdict(done)), encoding="utf-8")
        shutil.rmtree(out / fault.name, ignore_errors=True)
        print(f"{done.verdict:10} {done.name:36} {done.told:20} {done.edit}", flush=True)
        return done

    with ThreadPoolExecutor(options.jobs) as pool:
        followed = list(pool.map(one, faults(options.match, "all", HERE / options.table)))
    advised = [item for item in followed if item.verdict != "silent"]
    counts = Counter(item.verdict for item in advised)
    print(f"\n{len(followed)} faults, {len(advised)} told")
    for verdict in (RESTORED, HELPS, NOTHING, NO_EDIT, HARMS, CRASHES):
        print(f"  {verdict:10} {counts[verdict]:4}  {counts[verdict] / max(1, len(advised)):6.1%}")
    if options.save is not None:
        options.save.write_text(
            json.dumps([asdict(item) for item in followed], indent=1) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
