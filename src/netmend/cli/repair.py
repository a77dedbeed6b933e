"""`netmend repair`: find a change that makes the program learn, prove it, hand it over."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from netmend.cli.progress import RepairProgress
from netmend.cli.work_folder import work_folder
from netmend.errors import UsageError
from netmend.repair.apply_result import apply_result
from netmend.repair.budget import parse_budget
from netmend.repair.problem import Measure
from netmend.repair.session import RepairOptions, repair, target_of
from netmend.trials.trial import Outcome
from netmend.vocabulary.verification import PROVEN


@dataclass(frozen=True)
class Wishes:
    """What to do with the outcome."""

    apply: bool = False
    json: Path | None = None
    html: Path | None = None
    quiet: bool = False


def repair_program(
    module: str | None,
    program: tuple[str, ...],
    *,
    budget: str,
    metric: str,
    metric_file: str,
    maximize: bool | None,
    strict: bool,
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
    """The exit code: 0 when a fix is proven or nothing is wrong, 1 when something is wrong and nothing proven."""
    if module is None and not program:
        raise UsageError("name the script to repair: netmend repair train.py [ARGS]")
    script, arguments = (module, program) if module is not None else (program[0], program[1:])
    if metric and metric_file:
        raise UsageError("use --metric or --metric-file, not both")
    _refuse_bad_pattern(metric)
    for option, file in (("--json", wishes.json), ("--html", wishes.html)):
        if file is not None and not file.resolve().parent.is_dir():
            raise UsageError(
                f"{option} {file}: the directory {file.resolve().parent} does not exist; create it first"
            )
        if file is not None and file.is_dir():
            raise UsageError(f"{option} {file}: that is a directory; name a file")
    if time_limit is not None and not time_limit > 0:
        raise UsageError(f"--time-limit must be a number of seconds above 0, got {time_limit:g}")
    target = target_of(script, arguments, module is not None)
    options = RepairOptions(
        parse_budget(budget),
        Measure(metric, metric_file, maximize),
        strict,
        jobs,
        threads,
        network,
        memory,
        time_limit,
        executor,
        address,
        work_folder(directory, target.directory, wishes.quiet),
        tuple(file for file in (wishes.json, wishes.html) if file is not None),
    )
    from netmend import report
    from netmend.verify.verify import verify

    try:
        with RepairProgress(quiet=wishes.quiet) as progress:
            result = repair(target, options, verify, progress.told)
    except KeyboardInterrupt:
        sys.stderr.write("netmend: interrupted; run the same command to continue\n")
        return 130
    _refuse_what_cannot_start(result.baseline)
    if wishes.json is not None:
        wishes.json.write_text(report.repair_json(result), encoding="utf-8")
    if wishes.html is not None:
        wishes.html.write_text(report.repair_page(result), encoding="utf-8")
    console = report.console(sys.stdout)
    if not wishes.quiet:
        console.print(report.repair_text(result, applied=wishes.apply))
    if wishes.apply:
        for line in list(apply_result(result)):
            if not wishes.quiet:
                console.print(line, soft_wrap=True, highlight=False, markup=False)
    healthy = result.diagnosis is not None and not result.diagnosis.faults and result.baseline.ran
    return 0 if result.verdict == PROVEN or (healthy and not result.version.parts) else 1


def _refuse_what_cannot_start(baseline: Outcome) -> None:
    """A module that is not there shows only when it is started."""
    kind, _, words = baseline.exception.partition(": ")
    if kind == UsageError.__name__ and not baseline.run:
        raise UsageError(words)


def _refuse_bad_pattern(pattern: str) -> None:
    import re

    if not pattern:
        return
    try:
        compiled = re.compile(pattern)
    except re.error as problem:
        raise UsageError(f"--metric is no regular expression: {problem}") from None
    if compiled.groups != 1:
        raise UsageError(
            f"--metric needs one group that holds the number, as in 'val acc ([0-9.]+)'; {pattern!r} has {compiled.groups}"
        )
