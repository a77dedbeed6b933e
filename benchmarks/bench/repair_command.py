"""`netmend bench repair`: the searches of the repair study with progress, tables, and a file that holds every answer."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from bench import repair30
from bench.faults22.facts import BenchFault, fault, faults
from bench.machine import machine, today
from bench.repair_progress import Shown
from bench.repair_study import Search, Work, as_data, comparable, mean_rate, searched
from bench.repair_table import averages, per_fault
from bench.repairs22 import Method, with_netmend
from netmend.errors import UsageError
from netmend.report.terminal import GridTable, console
from netmend.trials.local import LocalExecutor

SCHEMA = 1
_INTERRUPTED = 130


@dataclass(frozen=True)
class StudyOptions:
    """How much to search, and where it is kept."""

    work: Path = Path(".netmend/bench")
    budgets: tuple[int, ...] = (10, 20, 50)
    searches: int = 3  # per fault and budget, with other seeds each
    only: tuple[str, ...] = ()  # ids of faults; empty: all
    jobs: int = 1
    json: Path | None = None
    quiet: bool = False


def parse_budgets(text: str) -> tuple[int, ...]:
    """`10,20,50` or `20x`."""
    parts = [part.strip().removesuffix("x") for part in text.split(",") if part.strip()]
    if not parts or not all(part.isdigit() and int(part) > 0 for part in parts):
        raise UsageError(f"--budgets must be numbers of trainings such as 10,20,50, got {text!r}")
    return tuple(sorted({int(part) for part in parts}))


def run_study(options: StudyOptions, method: Method = with_netmend, name: str = "netmend") -> int:
    """Search, print, write. Exit code 0; 130 when interrupted, with what is known so far printed all the same."""
    if options.searches < 1:
        raise UsageError(f"--seeds must be 1 or more searches per fault, got {options.searches}")
    if options.json is not None and not options.json.resolve().parent.is_dir():
        raise UsageError(
            f"--json {options.json}: the directory {options.json.resolve().parent} does not exist; create it first"
        )
    chosen = tuple(fault(each) for each in options.only) if options.only else faults()
    work = Work(chosen, options.budgets, options.searches)
    executor = LocalExecutor(max(1, options.jobs))
    made: list[Search] = []
    stopped = False
    try:
        with Shown(len(work), options.quiet) as shown:
            for search in searched(
                work, options.work / "faults22", executor, beginning=shown.begin, method=method, name=name
            ):
                made.append(search)
                shown.end(search)
    except KeyboardInterrupt:
        stopped = True
    finally:
        executor.close()
    out = console(sys.stdout)
    if made:
        out.print(GridTable(per_fault(made, chosen)))
        out.print()
        out.print(GridTable(averages(made)))
        for line in _remarks(made, chosen, options):
            out.print(line, style="dim", soft_wrap=False)
    if options.json is not None and made and not stopped:
        options.json.write_text(as_json(made, chosen, options, name), encoding="utf-8")
    if stopped:
        Console(stderr=True).print(
            f"netmend: interrupted after {len(made)} of {len(work)} searches; the same command goes on from there",
            highlight=False,
        )
    return _INTERRUPTED if stopped else 0


def as_json(
    searches: Sequence[Search], chosen: Sequence[BenchFault], options: StudyOptions, name: str
) -> str:
    """Schema 1: every search, so that tables can be made again without running; the summary is made from them."""
    same = comparable(searches)
    data = {
        "schema": SCHEMA,
        "benchmark": "repair",
        "method": name,
        "date": today(),
        "machine": machine(options.jobs),
        "budgets": list(options.budgets),
        "searches_per_fault": options.searches,
        "faults": [
            {"id": one.id, "kind": one.kind, "title": one.title, "stand_in": one.stand_in} for one in chosen
        ],
        "searches": [as_data(search) for search in searches],
        "summary": {
            "comparable": list(same),
            "measured": {str(b): mean_rate(searches, b, same) for b in options.budgets},
            "measured_proven_only": {str(b): mean_rate(searches, b, same, True) for b in options.budgets},
            "recomputed": _published(options, same),
            "recomputed_all_30": _published(options, None),
        },
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _published(options: StudyOptions, only: Sequence[str] | None) -> dict[str, dict[str, float]]:
    known = [budget for budget in options.budgets if budget in repair30.budgets()]
    return {
        tool: {str(b): round(repair30.published(tool, b, only), 4) for b in known}
        for tool in repair30.study().tools
    }


def _remarks(searches: Sequence[Search], chosen: Sequence[BenchFault], options: StudyOptions) -> list[str]:
    rules = sorted({search.answer.hold_out for search in searches})
    proof = max((search.answer.proof_trainings for search in searches), default=0)
    stand_ins = [one.id for one in chosen if one.stand_in]
    return [
        f"Hold-out: {'; '.join(rules)}. The study reports a fifth of the test set that its search does not see.",
        f"Budgets are the search's, in trainings of the buggy program; the proof takes up to {proof} trainings more.",
        *([f"On stand-in data: {', '.join(stand_ins)}."] if stand_ins else []),
        *(
            ["One search per fault and budget; the study repeats each ten times."]
            if options.searches == 1
            else []
        ),
    ]
