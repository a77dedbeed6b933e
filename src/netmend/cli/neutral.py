"""`netmend neutral`: which other changes of a program do as well as a known fix, or as the best that is found."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from netmend.cli.progress import NeutralProgress
from netmend.cli.work_folder import work_folder
from netmend.errors import UsageError
from netmend.neutral.neutrality import Neutrality
from netmend.neutral.options import NeutralOptions
from netmend.neutral.session import INTERRUPTED, neutral
from netmend.repair.budget import parse_budget
from netmend.repair.problem import Measure
from netmend.repair.session import target_of


@dataclass(frozen=True)
class Wishes:
    """What to do with the outcome."""

    json: Path | None = None
    html: Path | None = None
    quiet: bool = False


def neutral_program(
    module: str | None,
    program: tuple[str, ...],
    *,
    budget: str,
    fix: Path | None,
    like: float | None,
    seeds: int,
    width: int,
    depth: int,
    metric: str,
    metric_file: str,
    maximize: bool | None,
    jobs: int | None,
    threads: int,
    network: bool,
    memory: int | None,
    time_limit: float | None,
    executor: str,
    address: str | None,
    directory: Path | None,
    wishes: Wishes,
) -> int:
    """The exit code: 0 when alternatives were found, 1 when none was, 130 when it was interrupted."""
    if module is None and not program:
        raise UsageError("name the script to analyse: netmend neutral train.py [ARGS]")
    script, arguments = (module, program) if module is not None else (program[0], program[1:])
    _refuse_bad_measure(metric, metric_file)
    for option, file in (("--json", wishes.json), ("--html", wishes.html)):
        _refuse_bad_file(option, file)
    if time_limit is not None and not time_limit > 0:
        raise UsageError(f"--time-limit must be a number of seconds above 0, got {time_limit:g}")
    trainings = parse_budget(budget)
    target = target_of(script, arguments, module is not None)
    options = NeutralOptions(
        budget=trainings,
        measure=Measure(metric, metric_file, maximize),
        seeds=seeds,
        width=width,
        depth=depth,
        fix=fix,
        like=like,
        jobs=jobs,
        threads=threads,
        network=network,
        megabytes=memory,
        seconds=time_limit,
        executor=executor,
        address=address,
        directory=work_folder(directory, target.directory, wishes.quiet),
        results=tuple(file for file in (wishes.json, wishes.html) if file is not None),
    )
    with NeutralProgress(quiet=wishes.quiet) as progress:
        found = neutral(target, options, progress.told)
    _refuse_what_cannot_start(found)
    _hand_over(found, wishes)
    if found.stopped == INTERRUPTED:
        return 130
    return 0 if found.alternatives else 1


def _hand_over(found: Neutrality, wishes: Wishes) -> None:
    from netmend.report.neutral.document import NEUTRALITY, neutral_document
    from netmend.report.neutral.page import neutral_page
    from netmend.report.terminal import console, draw

    if wishes.json is not None:
        wishes.json.write_text(NEUTRALITY.json(found), encoding="utf-8")
    if wishes.html is not None:
        wishes.html.write_text(neutral_page(found), encoding="utf-8")
    if not wishes.quiet:
        console(sys.stdout).print(draw(neutral_document(found)))


def _refuse_what_cannot_start(found: Neutrality) -> None:
    """A module that is not there shows only when it is started."""
    kind, _, words = found.original.note.partition(": ")
    if kind == UsageError.__name__ and len(found.nodes) == 1:
        raise UsageError(words)


def _refuse_bad_file(option: str, file: Path | None) -> None:
    if file is not None and not file.resolve().parent.is_dir():
        raise UsageError(
            f"{option} {file}: the directory {file.resolve().parent} does not exist; create it first"
        )
    if file is not None and file.is_dir():
        raise UsageError(f"{option} {file}: that is a directory; name a file")


def _refuse_bad_measure(metric: str, metric_file: str) -> None:
    if metric and metric_file:
        raise UsageError("use --metric or --metric-file, not both")
    if not metric:
        return
    try:
        compiled = re.compile(metric)
    except re.error as problem:
        raise UsageError(f"--metric is no regular expression: {problem}") from None
    if compiled.groups != 1:
        raise UsageError(
            f"--metric needs one group that holds the number, as in 'val acc ([0-9.]+)'; {metric!r} has {compiled.groups}"
        )
