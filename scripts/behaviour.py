"""Everything netmend says of the programs in the repository, as files; and what differs between two such recordings.

    python scripts/behaviour.py record FOLDER [--kinds JPFT] [--match TEXT] [--jobs 2]
    python scripts/behaviour.py compare OLD NEW [--lines 12]

For changes that must not change what users see: record before, record after, compare. Kinds:
    J  the diagnosis of every recorded run of the calibration part and of bugs21, as JSON
    P  what can be proposed for each of these: repairs, mutants, moves, as diffs; nothing is trained
    F  findings and fixes over all programs of the corpora, and over packages in benchmarks/.check-packages
    T  text at 80 and 120 columns, HTML, JSON, SARIF, --help of all commands, explain of all codes
Runs are taken from benchmarks/.corpus-runs; record them first: python benchmarks/diagnose.py --part calibration --seeds 1
Held-out programs are left out. A difference ends with exit code 1; each is mended, or named in the commit with the reason why the new one is right.
"""

from __future__ import annotations

import argparse
import difflib
import gzip
import io
import json
import multiprocessing
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))
PACKAGES = ROOT / "benchmarks/.check-packages"
WIDTHS = (80, 120)
SHOWN = 16  # every so many runs are shown in all forms
UNHURRIED = 600.0  # seconds; limits of time would make recordings differ
KINDS = "JPFT"


@dataclass(frozen=True)
class Task:
    """One file of a recording."""

    kind: str
    name: str
    source: str  # the folder of a run, a program, a folder of programs, a code or a command


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    recording = verbs.add_parser("record")
    recording.add_argument("folder", type=Path)
    recording.add_argument("--kinds", default=KINDS)
    recording.add_argument("--match", default="", help="only names that hold this")
    recording.add_argument("--jobs", type=int, default=2)
    comparing = verbs.add_parser("compare")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    comparing.add_argument("--lines", type=int, default=12, help="of each difference")
    options = parser.parse_args()
    if options.verb == "record":
        tasks = [task for kind in options.kinds for task in TASKS[kind]() if options.match in task.name]
        record(tasks, options.folder.resolve(), options.jobs)
    else:
        sys.exit(compare(options.old, options.new, options.lines))


# -- recording ------------------------------------------------------------------------------------------------------


def record(tasks: list[Task], folder: Path, jobs: int) -> None:
    os.environ |= {"OMP_NUM_THREADS": "1", "NO_COLOR": "1", "NETMEND_LIVE": "0"}
    failed = 0
    with multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=200) as pool:
        for done, (task, text) in enumerate(pool.imap_unordered(_text_of, tasks, chunksize=4), 1):
            file = folder / task.kind / f"{task.name}.gz"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(gzip.compress(text.encode("utf-8", "backslashreplace"), mtime=0))
            failed += text.startswith("FAILED")
            if sys.stderr.isatty():
                sys.stderr.write(f"\rrecorded {done} of {len(tasks)}   ")
    sys.stderr.write("\n")
    print(", ".join(f"{kind} {count}" for kind, count in sorted(Counter(t.kind for t in tasks).items())))
    if failed:
        print(f"{failed} failed; the files say why")


def _text_of(task: Task) -> tuple[Task, str]:
    try:
        text = WRITERS[task.kind](task)
    except Exception as problem:  # noqa: BLE001 - one that fails is a difference like any other
        text = f"FAILED {type(problem).__name__}: {problem}\n"
    return task, text.replace(str(ROOT), "<root>")


def _runs() -> Iterator[tuple[str, Path]]:
    from diagnose_corpus import programs, run_of

    for part in ("calibration", "bugs21"):
        for program in programs(part):
            run = run_of(program, 0)
            if run is not None:
                yield f"{part}-{program.kind}-{program.name}", run


# -- J: diagnoses ---------------------------------------------------------------------------------------------------


def _diagnosis_tasks() -> Iterator[Task]:
    return (Task("J", name, str(run)) for name, run in _runs())


def _judged(run: str) -> tuple[Any, Any]:
    """A run and its diagnosis, as `netmend run` tells it, but without limits of time."""
    from netmend.check.of_run import findings_of_run
    from netmend.localise import diagnose
    from netmend.repair.advise import with_edits
    from netmend.store import read_trace

    trace = read_trace(Path(run))
    findings = findings_of_run(trace.run, UNHURRIED)
    return trace, with_edits(diagnose(trace, findings=findings), trace, findings, UNHURRIED)


def _write_diagnosis(task: Task) -> str:
    from netmend.report.run.formats import as_json

    return as_json(*_judged(task.source))


# -- P: proposals ---------------------------------------------------------------------------------------------------


def _proposal_tasks() -> Iterator[Task]:
    return (Task("P", name, str(run)) for name, run in _runs())


def _write_proposals(task: Task) -> str:
    from netmend.mutate.mutation import every
    from netmend.neutral.move import MOVES
    from netmend.program.text.sources import Sources
    from netmend.repair.propose import everything, for_fault
    from netmend.repair.repair import Case

    trace, diagnosis = _judged(task.source)
    run = trace.run
    sources = Sources(run.working_directory, run.script)
    case = Case(trace, sources, None, run.arguments)
    problems: list[str] = []
    lines: list[str] = []
    for rank, fault in enumerate(diagnosis.faults, 1):
        for change in for_fault(trace, sources, fault, run.arguments, problems):
            lines += _proposal(f"fault {rank} {fault.cause}", change.repair, change)
    for change in everything(trace, sources, run.arguments, problems):
        lines += _proposal("repair", change.repair, change)
    for mutation in every(case, problems):
        lines += _proposal("mutant", mutation.operator, mutation)
    for move in MOVES.all():
        for change in move.propose(case):
            lines += _proposal("move", move.code, change)
    return "\n".join([*lines, *(f"problem {each}" for each in problems)]) + "\n"


def _proposal(kind: str, code: str, change: Any) -> Iterator[str]:
    """A heading and the lines that change."""
    from netmend.repair.apply import applied, read

    arguments = getattr(change, "arguments", None)
    yield f"{kind} {code}: {change.title}" + (f" [{arguments}]" if arguments else "")
    texts = applied({}, change.edits) or {}
    for file, text in sorted(texts.items()):
        yield f"  {file}"
        old = read(file).splitlines()
        for line in difflib.unified_diff(old, text.splitlines(), n=0, lineterm=""):
            if not line.startswith(("---", "+++")):
                yield f"    {line}"


# -- F: findings ----------------------------------------------------------------------------------------------------


def _finding_tasks() -> Iterator[Task]:
    places = [
        ROOT / "benchmarks/corpus/calibration",
        ROOT / "benchmarks/check_corpus",
        ROOT / "benchmarks/bench/programs",
    ]
    for place in places:
        for entry in sorted(place.glob("**/*.py")):
            if "heldout" not in entry.parts:
                name = str(entry.relative_to(ROOT)).replace(os.sep, "-").removesuffix(".py")
                yield Task("F", name, str(entry))
    for package in sorted(PACKAGES.glob("*")) if PACKAGES.is_dir() else ():
        yield Task("F", f"package-{package.name}", str(package))


def _write_findings(task: Task) -> str:
    from netmend.check.session import CheckOptions, check_paths
    from netmend.report.check.findings import render

    options = CheckOptions(extend_select=("ALL",), jobs=1, cache=False, seconds=UNHURRIED)
    return render("json", check_paths([task.source], options))


# -- T: texts -------------------------------------------------------------------------------------------------------


def _text_tasks() -> Iterator[Task]:
    for name, run in list(_runs())[::SHOWN]:
        yield Task("T", f"run-{name}", f"run {run}")
    for code in _codes():
        yield Task("T", f"explain-{code}", f"explain {code}")
    for command in ("", *_commands()):
        yield Task("T", f"help-{command or 'netmend'}", f"help {command}")


def _codes() -> list[str]:
    from netmend.cli.explain import KINDS, measures, rule_titles
    from netmend.diagnose.detector import DETECTORS
    from netmend.vocabulary.cause import LEAVES

    units = [code for kind in KINDS for code in kind.units()]
    return sorted({*units, *rule_titles(), *DETECTORS.classes(), *LEAVES, *measures()})


def _commands() -> list[str]:
    import typer.main

    from netmend.cli.app import app

    return sorted(typer.main.get_group(app).commands)


def _write_text(task: Task) -> str:
    kind, _, subject = task.source.partition(" ")
    if kind == "explain":
        return "".join(f"{_said(['explain', subject], width)}\n" for width in WIDTHS)
    if kind == "help":
        return "".join(f"{_said([*subject.split(), '--help'], width)}\n" for width in WIDTHS)
    return "\n".join(_all_forms(subject))


def _all_forms(run: str) -> Iterator[str]:
    from netmend.check.session import CheckOptions, check_paths
    from netmend.report.check.findings import render
    from netmend.report.run.diagnosis import diagnosis_text, summary
    from netmend.report.run.page import run_page
    from netmend.report.terminal import console

    trace, diagnosis = _judged(run)
    for width in WIDTHS:
        os.environ["COLUMNS"] = str(width)
        stream = io.StringIO()
        terminal = console(stream)
        terminal.print(diagnosis_text(trace, diagnosis))
        terminal.print(summary(trace, None, None, ""))
        yield stream.getvalue()
    yield run_page(trace, diagnosis=diagnosis)
    script = str(Path(trace.run.working_directory) / trace.run.script)
    outcome = check_paths([script], CheckOptions(jobs=1, cache=False, seconds=UNHURRIED))
    for form in ("text", "sarif", "github"):
        with suppress(KeyError):
            yield render(form, outcome)


def _said(arguments: list[str], width: int) -> str:
    """What a command prints."""
    from netmend.cli import main as netmend

    os.environ["COLUMNS"] = str(width)
    stream = io.StringIO()
    with redirect_stdout(stream), redirect_stderr(stream), suppress(SystemExit):
        netmend(arguments)
    return stream.getvalue()


TASKS: dict[str, Callable[[], Iterable[Task]]] = {
    "J": _diagnosis_tasks,
    "P": _proposal_tasks,
    "F": _finding_tasks,
    "T": _text_tasks,
}
WRITERS: dict[str, Callable[[Task], str]] = {
    "J": _write_diagnosis,
    "P": _write_proposals,
    "F": _write_findings,
    "T": _write_text,
}


# -- comparing ------------------------------------------------------------------------------------------------------


def compare(old: Path, new: Path, most: int) -> int:
    """Print what differs; the number of differing files decides the exit code."""
    counts: dict[str, Counter[str]] = {}
    recorded = _recorded(old), _recorded(new)
    names = sorted({*recorded[0], *recorded[1]})
    if not names:
        print(f"nothing is recorded in {old} and {new}")
        return 2
    for name in names:
        count = counts.setdefault(Path(name).parts[0], Counter())
        before, after = (_read(side.get(name)) for side in recorded)
        state = (
            "equal"
            if before == after
            else "gone"
            if after is None
            else "new"
            if before is None
            else "different"
        )
        count[state] += 1
        if state != "equal":
            print(f"{state}: {name.removesuffix('.gz')}")
        if state == "different":
            changed = list(difflib.unified_diff(_lines(before), _lines(after), n=0, lineterm=""))[2:]
            print("\n".join(f"    {line[:200]}" for line in changed[:most]))
            if len(changed) > most:
                print(f"    … {len(changed) - most} more lines")
    for kind, count in sorted(counts.items()):
        print(kind, json.dumps(dict(count)))
    return int(any(set(count) - {"equal"} for count in counts.values()))


def _recorded(side: Path) -> dict[str, Path]:
    """The files by name. Recordings from before a folder moved stay comparable."""
    return {
        str(file.relative_to(side)).replace("src-netmend-bench-", "benchmarks-bench-"): file
        for file in side.glob("*/*.gz")
    }


def _read(file: Path | None) -> str | None:
    if file is None:
        return None
    text = gzip.decompress(file.read_bytes()).decode("utf-8")
    return text.replace("src/netmend/bench/", "benchmarks/bench/")


def _lines(text: str | None) -> list[str]:
    return (text or "").splitlines()


if __name__ == "__main__":
    main()
