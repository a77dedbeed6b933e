"""Programs whose data are prepared wrongly: what `netmend run` and `netmend check` say of each, of its mended twin and of look-alikes.

python benchmarks/preparation.py --part calibration --jobs 2          # while working on it
python benchmarks/preparation.py --part heldout --json FILE           # the figures that count: totals only
python benchmarks/preparation.py --match bike --verbose               # one program, with what was said

Each program runs in a copy of its folder, with the data that its make_data.py writes there. The libraries that they use:
pip install -r benchmarks/preparation/requirements.txt -c constraints.txt
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).parent / "preparation"
FAMILIES = json.loads((PROGRAMS / "families.json").read_text(encoding="utf-8"))
PARTS = ("calibration", "heldout")
_MAGIC = re.compile(r"\s*(?:%%?[a-zA-Z]|!)")  # a continued line may begin with `% (`
SECONDS = 240.0  # for one program; they take about five
FAULTY, MENDED, ALIKE = "faulty", "mended", "look-alike"


@dataclass(frozen=True)
class Program:
    """One version of a program."""

    part: str
    name: str
    kind: str
    folder: Path
    label: dict[str, Any]

    @property
    def family(self) -> str:
        return str(self.label.get("family") or self.label.get("looks_like"))


@dataclass(frozen=True)
class Score:
    """What was said of one version."""

    part: str
    name: str
    kind: str
    family: str
    by_source: bool  # source alone could prove it
    told: tuple[str, ...]  # leaves of the faults, the surest first
    first: bool  # the first one is of the family
    line: bool  # one of the first three is at a right line (±1)
    found: tuple[str, ...]  # codes of the checker's findings
    found_line: bool  # one of them is at a right line (±1)
    problem: str = ""


def programs(part: str, match: str = "") -> Iterator[Program]:
    for file in sorted((PROGRAMS / part).glob("*/label.json")):
        name, label = file.parent.name, json.loads(file.read_text(encoding="utf-8"))
        if match not in name:
            continue
        if "places" in label:
            yield Program(part, name, FAULTY, file.parent, label)
            yield Program(part, name, MENDED, file.parent, label)
        else:
            yield Program(part, name, ALIKE, file.parent, label)


def judge(program: Program) -> Score:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / program.name
        shutil.copytree(program.folder, folder, ignore=shutil.ignore_patterns("__pycache__", "label.json"))
        patch = folder / "mended.patch"
        problem = ""
        if program.kind == MENDED:
            problem = _run(["patch", "-p1", "-s", "-i", str(patch)], folder)
        patch.unlink(missing_ok=True)
        problem = problem or _run([sys.executable, "make_data.py"], folder)
        (folder / "make_data.py").unlink()
        lines = _lines(program, folder)
        script = as_script(folder)
        problem = problem or _run(
            [sys.executable, "-m", "netmend", "run", "--quiet", "--json", "diagnosis.json", script], folder
        )
        faults = _faults(folder / "diagnosis.json")
        findings = _findings(folder)
    leaves = FAMILIES[program.family]["leaves"]
    return Score(
        program.part,
        program.name,
        program.kind,
        program.family,
        bool(program.label.get("proven_by_source")),
        tuple(leaf for leaf, _, _ in faults),
        bool(faults) and faults[0][0] in leaves,
        any(_near(file, line, lines) for _, file, line in faults[:3]),
        tuple(code for code, _, _ in findings),
        any(_near(file, line, lines) for _, file, line in findings),
        problem,
    )


def _run(command: list[str], folder: Path) -> str:
    """Why it failed; "" where it did not."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "NETMEND_LIVE": "0"}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"{command[1]}: longer than {SECONDS:g} s"
    return f"{' '.join(command[1:4])}: {done.stderr.strip()[-300:]}" if done.returncode else ""


def _lines(program: Program, folder: Path) -> set[tuple[str, int]]:
    """The right lines. Those of a notebook are lines of its file, found again in the script that it becomes."""
    right = set()
    for place in program.label.get("places", ()):
        file, line = place["file"], int(place["line"])
        if file.endswith(".ipynb"):
            text = (program.folder / file).read_text(encoding="utf-8").splitlines()[line - 1]
            wanted = (
                json.loads(text.strip().removesuffix(",")).strip() if text.strip().startswith('"') else ""
            )
            code = cells(folder / file).splitlines()
            right |= {
                ("train.py", number) for number, own in enumerate(code, 1) if wanted and own.strip() == wanted
            }
        else:
            right.add((Path(file).name, line))
    return right


def cells(notebook: Path) -> str:
    """The code of a notebook, cell after cell, without magics."""
    found = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = ("".join(cell["source"]) for cell in found if cell["cell_type"] == "code")
    lines = "\n".join(code).splitlines()
    return "\n".join("" if _MAGIC.match(line) else line for line in lines) + "\n"


def as_script(folder: Path) -> str:
    """The script to run; a notebook becomes one."""
    notebook = next(folder.glob("*.ipynb"), None)
    if notebook is not None and not (folder / "train.py").exists():
        (folder / "train.py").write_text(cells(notebook), encoding="utf-8")
        notebook.unlink()
    return "train.py"


def _faults(file: Path) -> list[tuple[str, str, int]]:
    if not file.exists():
        return []
    told = json.loads(file.read_text(encoding="utf-8")).get("faults", ())
    return [
        (
            fault["code"],
            Path((fault.get("site") or {}).get("file", "")).name,
            (fault.get("site") or {}).get("line", 0),
        )
        for fault in told
    ]


def _findings(folder: Path) -> list[tuple[str, str, int]]:
    command = [sys.executable, "-m", "netmend", "check", "--no-cache", "--format", "json", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    found = json.loads(done.stdout).get("findings", ()) if done.stdout.strip() else ()
    return [(finding["code"], Path(finding["file"]).name, finding["line"]) for finding in found]


def _near(file: str, line: int, right: set[tuple[str, int]]) -> bool:
    return any(file == own and abs(line - number) <= 1 for own, number in right)


def tell(scores: list[Score]) -> None:
    faulty = [score for score in scores if score.kind == FAULTY]
    provable = [score for score in faulty if score.by_source]

    def share(title: str, count: int, of: int) -> None:
        print(f"{title:<44} {count:>4} of {of:<4} {100 * count / of if of else 0:5.1f} %")

    print("netmend run")
    share("  detected", sum(bool(score.told) for score in faulty), len(faulty))
    share("  right cause first", sum(score.first for score in faulty), len(faulty))
    share("  right line (±1)", sum(score.line for score in faulty), len(faulty))
    for kind in (MENDED, ALIKE):
        sound = [score for score in scores if score.kind == kind]
        share(f"  false alarms, {kind}", sum(bool(score.told) for score in sound), len(sound))
    print("netmend check")
    share(
        "  found where source proves it (line ±1)", sum(score.found_line for score in provable), len(provable)
    )
    sound = [score for score in scores if score.kind != FAULTY]
    share("  healthy programs with a finding", sum(bool(score.found) for score in sound), len(sound))
    print("by family: right line of faulty")
    for family in FAMILIES:
        own = [score for score in faulty if score.family == family]
        share(f"  {family}", sum(score.line for score in own), len(own))
    failed = [score for score in scores if score.problem]
    if failed:
        print(f"{len(failed)} did not run: " + ", ".join(sorted({score.name for score in failed})[:8]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=PARTS, default="calibration")
    parser.add_argument("--match", default="", help="only names that hold this")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, help="write the scores")
    parser.add_argument("--verbose", action="store_true", help="what was said of each program")
    args = parser.parse_args()
    work = list(programs(args.part, args.match))
    scores = []
    with ThreadPoolExecutor(args.jobs) as pool:
        for number, score in enumerate(pool.map(judge, work), 1):
            scores.append(score)
            if args.verbose:
                print(json.dumps(asdict(score)))
            elif sys.stderr.isatty():
                sys.stderr.write(f"\r{number} of {len(work)} ")
    tell(scores)
    if args.json:
        # Of the held-out part only totals are kept: nobody is to see single programs by accident.
        kept = [asdict(score) for score in scores if args.part != "heldout"]
        counted = Counter(
            (s.kind, bool(s.told), s.first, s.line, s.found_line, bool(s.found)) for s in scores
        )
        totals = [{"kind": k, "told": t, "first": f, "line": li, "found_line": fl, "found": fo, "programs": n}
                  for (k, t, f, li, fl, fo), n in sorted(counted.items())]  # fmt: skip
        args.json.write_text(
            json.dumps({"totals": totals, "programs": kept}, indent=1) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
