"""Which mistakes `netmend check` finds, and what other static tools find on the same programs.

    python benchmarks/check_recall.py                      # all parts
    python benchmarks/check_recall.py --part heldout       # totals only: nobody looks into that part
    python benchmarks/check_recall.py --rivals-python rivals/bin/python --json FILE

    python -m venv rivals && rivals/bin/pip install torch torchfix flake8 mldoct torch-audit

Programs: the corpus of `benchmarks/corpus` where a careful reader can be sure from the text alone (`check_corpus/decidable.json`), and examples of what other
tools, studies and documentation warn of, written for this purpose (`check_corpus/documented`), each with a corrected twin that must stay silent.

A finding is *on the line* when it has the labelled cause (or one that is equally right) and stands on a labelled line or beside one; it *names* the mistake
when the cause is right at any line. Other tools have no causes: on the line is any finding there, naming is decided by the meaning of their rules,
always in their favour; what is plainly a matter of style or speed is no false alarm.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diagnose_corpus import Program, programs

HERE = Path(__file__).parent
CASES = HERE / "check_corpus"
NEAR = 1  # lines beside a labelled one that still count
STYLE = ("TOR203", "TOR401", "cpu_bottleneck", "missing_clip", "TA20", "TA40")  # beginnings of names
MEANS = {
    "TOR001": ("API-DEPRECATED",),
    "TOR002": ("API-USAGE", "LOOP-FREEZE"),
    "TOR003": ("API-USAGE",),
    "TOR004": ("API-DEPRECATED",),
    "TOR101": ("API-DEPRECATED",),
    "TOR102": ("API-USAGE",),
    "TOR103": ("API-DEPRECATED",),
    "TOR104": ("API-USAGE", "API-DEPRECATED"),
    "TOR105": ("API-USAGE", "API-DEPRECATED"),
    "TOR106": ("LOS-CALC",),
    "TOR107": ("LOS-CALC",),
    "TOR201": ("API-DEPRECATED",),
    "TOR202": ("API-DEPRECATED",),
    "missing_zero_grad": ("LOOP-ZERO-GRAD",),
    "missing_eval": ("LOOP-MODE-EVAL", "LYR-DROPOUT-MODE"),
    "oom_leak": ("TRN-MEM",),
    "double_softmax": ("LYR-SOFTMAX-EXTRA",),
    "missing_clip": ("OPT-CLIP",),
    "TA100": ("ARC-INIT-WEIGHT",),
    "TA304": ("HYP-BATCH-SMALL",),
    "TA400": ("LYR-BIAS-EXTRA",),
    "TA401": ("LOS-REG-KIND",),
    "TA402": ("LOS-REG-KIND",),
    "TA403": ("LOS-REG-KIND",),
    "TA404": ("LYR-FILTER",),
    "TA405": ("ARC-INIT-WEIGHT",),
}


@dataclass(frozen=True)
class Case:
    """A program with one labelled mistake, or (no cause) a program that must stay silent."""

    group: str  # "corpus calibration", "documented heldout", "twins calibration", …
    name: str
    files: tuple[Path, ...]
    cause: str = ""
    right: frozenset[str] = frozenset()
    places: frozenset[tuple[Path, int]] = frozenset()
    advisory: bool = False


@dataclass(frozen=True)
class Said:
    """One finding of a tool."""

    file: Path
    line: int | None
    name: str
    causes: frozenset[str]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=("calibration", "heldout", "corpus"))
    parser.add_argument(
        "--advisory", action="store_true", help="advisory rules too, and the mistakes they look for"
    )
    parser.add_argument("--rivals-python", type=Path, help="an interpreter with the other tools")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    cases = [case for case in everything() if wanted(case, args.part)]
    cases = [case for case in cases if args.advisory or not case.advisory]
    files = sorted({file for case in cases for file in case.files})
    tools: dict[str, Callable[[list[Path]], list[Said]]] = {
        "netmend": lambda some: by_netmend(some, args.advisory)
    }
    if args.rivals_python:
        python = args.rivals_python.absolute()
        tools["TorchFix"] = lambda some: by_torchfix(some, python)
        tools["mldoct"] = lambda some: by_script("mldoct", some, python)
        tools["torch-audit"] = lambda some: by_script("torch-audit", some, python)
    scores = {tool: score(cases, run(files), exact=tool == "netmend") for tool, run in tools.items()}
    print_tables(cases, scores)
    if args.json:
        args.json.write_text(json.dumps(scores, indent=1) + "\n", encoding="utf-8")


def wanted(case: Case, part: str | None) -> bool:
    if part == "corpus":
        return case.group.startswith(("corpus", "healthy"))
    return part is None or case.group.endswith(part)


def everything() -> Iterator[Case]:
    yield from corpus_cases()
    yield from documented_cases(CASES, "calibration")
    yield from documented_cases(CASES / "heldout", "heldout")
    for program in programs(kind="healthy"):
        yield Case(f"healthy {program.part}", program.name, files_of(program))


def corpus_cases() -> Iterator[Case]:
    decided = json.loads((CASES / "decidable.json").read_text(encoding="utf-8"))
    known = {f"{program.part}/{program.name}": program for program in programs(kind="faulty")}
    for key, entry in decided.items():
        if entry["decidable"]:
            program = known[key.split("#")[0]]
            part = "heldout" if program.part == "heldout" else "calibration"
            places = frozenset(place(program.entry.parent, text) for text in entry["lines"])
            yield case(f"corpus {part}", key, files_of(program), entry, places)


def place(folder: Path, text: str) -> tuple[Path, int]:
    file, line = text.rsplit(":", 1)
    return (folder / file).resolve(), int(line)


def files_of(program: Program) -> tuple[Path, ...]:
    folder = program.entry.parent
    if folder.name != program.name:
        return (program.entry.resolve(),)
    return tuple(sorted(file.resolve() for file in folder.rglob("*.py")))


def documented_cases(folder: Path, part: str) -> Iterator[Case]:
    labels = folder / ("documented/labels.json" if part == "calibration" else "labels.json")
    for name, entry in json.loads(labels.read_text(encoding="utf-8")).items():
        file = (folder / "documented" / f"{name}.py").resolve()
        places = frozenset((file, line) for line in entry["lines"])
        yield case(f"documented {part}", name, (file,), entry, places)
        yield Case(f"twins {part}", name, ((folder / "corrected" / f"{name}.py").resolve(),))


def case(
    group: str, name: str, files: tuple[Path, ...], entry: dict[str, Any], places: frozenset[tuple[Path, int]]
) -> Case:
    right = frozenset({entry["cause"], *entry.get("accept", ())})
    return Case(group, name, files, entry["cause"], right, places, entry.get("advisory", False))


def by_netmend(files: list[Path], advisory: bool) -> list[Said]:
    from netmend.check.rule import RULES
    from netmend.check.run import check_text
    from netmend.program.engine.project import Project

    rules = tuple(rule for rule in RULES.all() if advisory or rule.is_on(preview=False))
    said = set()
    for file in files:
        checked = check_text(file.read_text(encoding="utf-8"), str(file), rules, Project())
        for finding in checked.findings:
            causes = frozenset({finding.cause})
            said.add(Said(Path(finding.file).resolve(), finding.line, finding.code, causes))
    return list(said)


def by_torchfix(files: list[Path], python: Path) -> list[Said]:
    command = [python, "-m", "flake8", "--isolated", "--select=TOR", "--format=%(path)s\t%(row)d\t%(code)s"]
    done = subprocess.run([*map(str, command), *map(str, files)], capture_output=True, text=True)
    rows = [line.split("\t") for line in done.stdout.splitlines() if line.count("\t") == 2]
    return [said_by_rival(Path(path), int(line), code) for path, line, code in rows]


def by_script(tool: str, files: list[Path], python: Path) -> list[Said]:
    command = [str(python), str(HERE / "rivals" / "static.py"), tool]
    done = subprocess.run(
        command, input=json.dumps([str(file) for file in files]), capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{tool} did not run: {done.stderr[-500:]}")
    rows = json.loads(done.stdout.splitlines()[-1])
    return [said_by_rival(Path(row["file"]), row["line"], row["name"]) for row in rows]


def said_by_rival(file: Path, line: int | None, name: str) -> Said:
    return Said(file, line, name, frozenset(MEANS.get(name, ())))


def score(cases: list[Case], said: list[Said], exact: bool) -> dict[str, Any]:
    """Hits and false alarms of one tool, by group; `exact`: a hit must have the right cause."""
    by_file: dict[Path, list[Said]] = {}
    for one in said:
        by_file.setdefault(one.file, []).append(one)
    result: dict[str, Any] = {}
    for one_case in cases:
        spoken = [one for file in one_case.files for one in by_file.get(file, [])]
        row = result.setdefault(one_case.group, Counter())
        row["programs"] += 1
        if not one_case.cause:
            alarms = [one for one in spoken if not one.name.startswith(STYLE)]
            row["alarmed"] += bool(alarms)
            note(result, "alarms", one_case, sorted({one.name for one in alarms}))
            continue
        there = [one for one in spoken if near(one, one_case)]
        naming = [one for one in spoken if one.causes & one_case.right]
        on_line = [one for one in there if one in naming] if exact else there
        row["line"] += bool(on_line)
        row["names"] += bool(naming)
        row["any"] += bool(spoken)
        if not on_line:
            note(result, "misses", one_case, [one_case.cause])
    return result


def near(said: Said, one_case: Case) -> bool:
    return said.line is not None and any(
        file == said.file and abs(line - said.line) <= NEAR for file, line in one_case.places
    )


def note(result: dict[str, Any], kind: str, one_case: Case, codes: list[str]) -> None:
    """What to look at later. Of held-out programs only codes are told, neither names nor lines."""
    for code in codes:
        name = "" if one_case.group.endswith("heldout") else one_case.name
        result.setdefault(kind, []).append([one_case.group, code, name])


def print_tables(cases: list[Case], scores: dict[str, dict[str, Any]]) -> None:
    groups = sorted({one_case.group for one_case in cases})
    print("| programs | tool | number | on the line | named | any finding |\n|---|---|---|---|---|---|")
    for group in (group for group in groups if group.startswith(("corpus", "documented"))):
        for tool, result in scores.items():
            row = result[group]
            cells = (f"{row[key]} ({row[key] / row['programs']:.0%})" for key in ("line", "names", "any"))
            print(f"| {group} | {tool} | {row['programs']} | {' | '.join(cells)} |")
    print("\n| programs without a mistake | tool | number | with a false alarm |\n|---|---|---|---|")
    for group in (group for group in groups if group.startswith(("twins", "healthy"))):
        for tool, result in scores.items():
            print(f"| {group} | {tool} | {result[group]['programs']} | {result[group]['alarmed']} |")
    for kind in ("misses", "alarms"):
        print(f"\nnetmend, {kind}:")
        for group, code, name in sorted(scores["netmend"].get(kind, [])):
            print(f"  {group}: {code} {name}".rstrip())


if __name__ == "__main__":
    main()
