"""Is the right change among the first that `netmend repair` would try? Of each program only the first steps are trained, once.

The programs of corpus/calibration/rewritten have one fault each, written in many ways. `expected.json` beside them says the cause, its line, and what
the text of a right change has or has no more (`right`: one of these suffices). Proposals are asked for with the cause and the line given.
`--whole` trains the programs to their end and takes the fault as the diagnosis tells it, where it does.

Usage: python benchmarks/repair_proposals.py [--match TEXT] [--show] [--whole]
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections import Counter, defaultdict
from contextlib import redirect_stdout, suppress
from typing import Any

from diagnose_corpus import CORPUS, RUNS, Program, _program, _run_in, record_all, run_of

from netmend.localise import diagnose
from netmend.program.text.sources import Sources
from netmend.repair.apply import applied
from netmend.repair.propose import for_fault
from netmend.store import read_trace
from netmend.vocabulary import Fault, Site, Trace
from netmend.vocabulary.change import Change

FOLDER = CORPUS / "calibration" / "rewritten"
FIRST = (1, 3, 10)
STEPS = 30  # enough for one epoch and its evaluation


class Enough(Exception):
    """Ends a program that was seen for long enough."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--match", default="", help="only programs whose name or cause holds this")
    parser.add_argument("--show", action="store_true", help="tell what is proposed instead")
    parser.add_argument("--whole", action="store_true", help="train to the end and diagnose")
    options = parser.parse_args()
    labels = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
    found = [
        _program(FOLDER, "calibration", "rewritten", name, label)
        for name, label in sorted(labels.items())
        if options.match in name or options.match in label["causes"][0]["code"]
    ]
    if options.whole:
        record_all(found, jobs=1)
    counts: defaultdict[str, Counter[Any]] = defaultdict(Counter)
    for program in sorted(found, key=lambda program: (program.causes[0].code, program.name)):
        told, problems, proposals = proposed(program, options.whole)
        place = right_at(proposals, labels[program.name]["right"])
        row = counts[program.causes[0].code]
        row["programs"] += 1
        row["told"] += told
        row.update(first for first in FIRST if place is not None and place < first)
        verdict = "MISSING" if place is None else f"right at {place + 1}"
        mark = "told" if told else ""
        print(f"{program.causes[0].code:20} {program.name:34} {mark:5} {verdict} of {len(proposals)}")
        if options.show and (place is None or place >= 3):
            for change in proposals:
                print(f"      {change.repair} {change.title}")
        for problem in problems:
            print(f"      problem: {problem}")
    table(counts)


def proposed(program: Program, whole: bool) -> tuple[bool, list[str], list[Change]]:
    """Whether the cause is told of the run, and the changes that are proposed for it."""
    expected = program.causes[0]
    place = expected.places[0]
    fault = Fault(expected.code, 0.5, "", Site(str(place.file), place.line), "", "", "", "")
    told = False
    if whole:
        run = run_of(program, 0)
        if run is None:
            raise SystemExit(f"{program.name}: its run could not be recorded; see output.txt under {RUNS}")
        trace = read_trace(run)
        diagnosis = diagnose(trace)
        told = any(f.cause in expected.accept for f in diagnosis.faults)
        named = [f for f in (*diagnosis.faults, *diagnosis.suspects) if f.cause in expected.accept]
        fault = next(iter(named), fault)
    else:
        trace = first_steps(program)
    problems: list[str] = []
    sources = Sources(trace.run.working_directory, trace.run.script)
    return told, problems, for_fault(trace, sources, fault, (), problems)


def first_steps(program: Program) -> Trace:
    """The program's first steps, recorded in this process."""
    from torch.optim.optimizer import register_optimizer_step_post_hook

    import netmend

    folder = RUNS / "first-steps" / program.name / program.fingerprint
    if _run_in(folder) is None:
        made = 0

        def count(*_: object) -> None:
            nonlocal made
            made += 1
            if made >= STEPS:
                raise Enough

        text = program.entry.read_text(encoding="utf-8")
        variables: dict[str, Any] = {"__name__": "__main__", "__file__": str(program.entry)}
        sys.argv = [str(program.entry)]
        hook = register_optimizer_step_post_hook(count)
        try:
            # What ends the program is caught inside: an exception that leaves it would be a symptom of its own.
            with (
                redirect_stdout(io.StringIO()),
                netmend.watch(directory=folder, quiet=True, every=1),
                suppress(Enough),
            ):
                exec(compile(text, str(program.entry), "exec"), variables)
        finally:
            hook.remove()
    run = _run_in(folder)
    if run is None:
        raise SystemExit(f"{program.name}: nothing was recorded in {folder}")
    return read_trace(run)


def right_at(changes: list[Change], right: list[dict[str, list[str]]]) -> int | None:
    """The place of the first right change."""
    for index, change in enumerate(changes):
        texts = applied({}, change.edits)
        whole = "\n".join((texts or {}).values())
        if whole and any(_is(whole, one) for one in right):
            return index
    return None


def _is(text: str, wanted: dict[str, list[str]]) -> bool:
    return all(has in text for has in wanted.get("has", ())) and not any(
        gone in text for gone in wanted.get("gone", ())
    )


def table(counts: dict[str, Counter[Any]]) -> None:
    total: Counter[Any] = sum(counts.values(), Counter())
    print(f"\n{'cause':20} programs  told " + "".join(f"  first {n:<3}" for n in FIRST))
    for cause, row in (*sorted(counts.items()), ("all", total)):
        print(f"{cause:20} {row['programs']:8} {row['told']:5} " + "".join(f"  {row[n]:9}" for n in FIRST))


if __name__ == "__main__":
    main()
