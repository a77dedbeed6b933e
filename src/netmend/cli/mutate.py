"""`netmend mutate`: which faults of training a test set would notice, and what to add to it."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

from netmend.cli.progress import MutateProgress
from netmend.cli.work_folder import work_folder
from netmend.errors import UsageError
from netmend.mutate.options import MutateOptions
from netmend.mutate.result import MutationResult
from netmend.mutate.session import ESTIMATED, INTERRUPTED, mutate
from netmend.repair.session import target_of


@dataclass(frozen=True)
class Wishes:
    """What to do with the outcome."""

    json: Path | None = None
    html: Path | None = None
    additions: Path | None = None
    least: float | None = None  # a score below which the exit code is 1
    quiet: bool = False


def mutate_program(
    module: str | None,
    program: tuple[str, ...],
    options: MutateOptions,
    wishes: Wishes,
    fails: str = "",
) -> int:
    """The exit code: 0 done, 1 the score is below `--least`, 130 interrupted."""
    if module is None and not program:
        raise UsageError("name the script whose tests are tested: netmend mutate train.py [ARGS]")
    for option, file in (("--json", wishes.json), ("--html", wishes.html), ("--additions", wishes.additions)):
        _refuse_bad_file(option, file)
    if options.seconds is not None and not options.seconds > 0:
        raise UsageError(f"--time-limit must be a number of seconds above 0, got {options.seconds:g}")
    if wishes.least is not None and not 0 <= wishes.least <= 1:
        raise UsageError(f"--least must lie between 0 and 1, got {wishes.least:g}")
    script, arguments = (module, program) if module is not None else (program[0], program[1:])
    files = (wishes.json, wishes.html, wishes.additions)
    options = replace(options.checked(), results=tuple(file for file in files if file is not None))
    from netmend.mutate.agents import is_rl

    if module is None and is_rl(script):
        from netmend.mutate.agents.command import mutate_agent

        options = replace(options, directory=work_folder(options.directory, quiet=wishes.quiet))
        return mutate_agent(script, arguments, options, wishes, fails)
    if fails:
        raise UsageError(f"--fails {fails!r} is for agents; a test set fails by its labels")
    target = target_of(script, arguments, module is not None)
    options = replace(options, directory=work_folder(options.directory, target.directory, wishes.quiet))
    with MutateProgress(quiet=wishes.quiet) as progress:
        result = mutate(target, options, progress.told)
    _hand_over(result, wishes)
    if result.stopped == INTERRUPTED:
        return 130
    return _judged(result, wishes.least)


def _judged(result: MutationResult, least: float | None) -> int:
    if least is None or result.stopped == ESTIMATED or not result.sets:
        return 0
    score = result.sets[0].source.score
    return 0 if score is not None and score >= least else 1


def _hand_over(result: MutationResult, wishes: Wishes) -> None:
    from netmend.report.mutate.document import MUTATION, mutation_document
    from netmend.report.mutate.page import mutation_page
    from netmend.report.terminal import console, draw

    if wishes.json is not None:
        wishes.json.write_text(MUTATION.json(result), encoding="utf-8")
    if wishes.html is not None:
        wishes.html.write_text(mutation_page(result), encoding="utf-8")
    if wishes.additions is not None:
        from netmend.mutate.added_inputs import write_added

        write_added(result, wishes.additions)
    if not wishes.quiet:
        console(sys.stdout).print(draw(mutation_document(result)))


def _refuse_bad_file(option: str, file: Path | None) -> None:
    if file is not None and not file.resolve().parent.is_dir():
        raise UsageError(
            f"{option} {file}: the directory {file.resolve().parent} does not exist; create it first"
        )
    if file is not None and file.is_dir():
        raise UsageError(f"{option} {file}: that is a directory; name a file")
