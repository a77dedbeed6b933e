"""Classic faults put into public scripts (strangers/faults.csv): are they told, with the right cause first, at the right line?

    python benchmarks/strangers_faults.py FOLDER                  # every fault; see strangers.py for FOLDER
    python benchmarks/strangers_faults.py FOLDER --part unseen    # the third that nobody looks at while rules are changed
    python benchmarks/strangers_faults.py FOLDER --match vae --again
    python benchmarks/strangers_faults.py FOLDER --table strangers/faults_third.csv --list strangers/third.txt

Each fault is an edit of one or two lines: in line N, `old` becomes `new`. It is made in a copy of the repository. `causes` are the leaves that count as right (any of
them), `places` the lines that a person would point to.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from strangers import Ran, Script, Told, run, scripts

HERE = Path(__file__).parent
TABLE = HERE / "strangers/faults.csv"
NEAR = 1  # lines


@dataclass(frozen=True)
class Fault:
    name: str
    script: str  # the beginning of a script's name in the list
    edits: tuple[tuple[str, int, str, str], ...]  # file, line, old, new
    causes: frozenset[str]
    places: tuple[tuple[str, int, int], ...]  # file, from line, to line

    @property
    def part(self) -> str:
        """A third of the faults, drawn by name, is not looked at while rules are changed."""
        return "seen" if int(hashlib.md5(self.name.encode()).hexdigest(), 16) % 3 else "unseen"


def faults(match: str, part: str, table: Path = TABLE) -> list[Fault]:
    rows: dict[str, list[dict[str, str]]] = {}
    with table.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            rows.setdefault(row["id"], []).append(row)
    found = []
    for name, parts in rows.items():
        edits = tuple((row["file"], int(row["line"]), row["old"], row["new"]) for row in parts)
        causes = frozenset(parts[0]["causes"].split())
        fault = Fault(name, parts[0]["script"], edits, causes, tuple(map(_place, parts[0]["places"].split())))
        if match in name and part in ("all", fault.part):
            found.append(fault)
    return found


def _place(text: str) -> tuple[str, int, int]:
    file, _, lines = text.rpartition(":")
    first, _, last = lines.partition("-")
    return file, int(first), int(last or first)


def broken(fault: Fault, script: Script, folder: Path, out: Path) -> Path:
    """A copy of the repository with the fault in it."""
    name = script.repository.replace("/", "+")
    root = out / fault.name / name
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(folder / name, root)
    for file, number, old, new in fault.edits:
        path = root / file
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        if lines[number - 1].count(old) != 1:
            raise SystemExit(f"{fault.name}: {old!r} is not once in {file}:{number}")
        lines[number - 1] = lines[number - 1].replace(old, new)
        path.write_text("".join(lines), encoding="utf-8")
    return root


def told_right(fault: Fault, ran: Ran) -> tuple[bool, bool, bool]:
    """Detected; a right cause first; a right cause among the first three at a right line."""
    right = [told for told in ran.told[:3] if told.cause in fault.causes]
    line = any(
        told.file == file and first - NEAR <= told.line <= last + NEAR
        for told in right
        for file, first, last in fault.places
    )
    return bool(ran.told), bool(ran.told) and ran.told[0].cause in fault.causes, line


def summed(part: str, judged: list[tuple[Fault, Ran, tuple[bool, bool, bool]]]) -> dict[str, int]:
    """Every fault of one part on a line, and the shares."""
    for fault, ran, (detected, first, line) in judged:
        mark = "".join(
            letter if yes else "-" for letter, yes in zip("DCL", (detected, first, line), strict=True)
        )
        said = ", ".join(
            f"{told.cause} {told.confidence:.2f} {told.file}:{told.line}" for told in ran.told[:3]
        )
        print(
            f"{mark} {fault.name:36} {ran.end:11} {ran.steps:6} steps  {said or ran.verdict or 'no answer'}"
        )
    sums = [sum(right[k] for *_, right in judged) for k in range(3)]
    shares = ", ".join(
        f"{word} {found} of {len(judged)} ({found / len(judged):.0%})"
        for word, found in zip(("detected", "cause first", "line"), sums, strict=True)
    )
    print(f"{part}: {shares}\n")
    return dict(zip(("faults", "detected", "cause", "line"), (len(judged), *sums), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--table", type=Path, default=TABLE, help="which faults; default strangers/faults.csv"
    )
    parser.add_argument("--list", type=Path, default=HERE / "strangers.txt", help="the scripts of that table")
    parser.add_argument("--part", choices=("all", "seen", "unseen"), default="all")
    parser.add_argument("--match", default="")
    parser.add_argument("--out", type=Path, help="copies and outputs; default FOLDER/.faults")
    parser.add_argument("--seconds", type=float, default=15.0, help="CPU seconds before Ctrl-C")
    parser.add_argument("--wall", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--kept", action="store_true", help="run nothing, show what was run before")
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    folder, out = options.folder.resolve(), (options.out or options.folder / ".faults").resolve()
    out.mkdir(parents=True, exist_ok=True)
    table = HERE / options.table
    known = scripts(HERE / options.list, "")

    def one(fault: Fault) -> tuple[Fault, Ran] | None:
        kept = out / f"{fault.name}.ran.json"
        if kept.exists() and not options.again:
            values = json.loads(kept.read_text(encoding="utf-8"))
            return fault, Ran(**{**values, "told": tuple(Told(**told) for told in values["told"])})
        if options.kept:
            return None
        script = next(script for script in known if script.name.startswith(fault.script))
        root = broken(fault, script, folder, out)
        # Several faults of one script run at the same time: each has its own answer and its own recordings.
        own = root.parent
        (own / "runs").mkdir(exist_ok=True)
        ran = run(script, folder, own, (options.seconds, options.wall), root)
        kept.write_text(json.dumps(asdict(ran)), encoding="utf-8")
        shutil.rmtree(root.parent, ignore_errors=True)
        return fault, ran

    with ThreadPoolExecutor(options.jobs) as pool:
        done = [
            pair for pair in pool.map(one, faults(options.match, options.part, table)) if pair is not None
        ]
    saved = {}
    for part in ("seen", "unseen") if table == TABLE else ("all",):  # another table is held out as a whole
        chosen = [(fault, ran, told_right(fault, ran)) for fault, ran in done if part in ("all", fault.part)]
        if chosen:
            saved[part] = summed(part, chosen)
    if options.save is not None:
        saved["told"] = {fault.name: [told.figures for told in ran.told] for fault, ran in done}
        options.save.write_text(json.dumps(saved, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
