"""`netmend mutate` on a reinforcement-learning program: options in, report out, an exit code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from netmend.errors import UsageError
from netmend.mutate.agents.generators.own import parse_own
from netmend.mutate.agents.options import RlOptions
from netmend.mutate.agents.progress import RlProgress
from netmend.mutate.agents.result import WEAK, RlStudy

if TYPE_CHECKING:
    from netmend.cli.mutate import Wishes
    from netmend.mutate.options import MutateOptions


def mutate_agent(
    script: str, arguments: tuple[str, ...], options: MutateOptions, wishes: Wishes, fails: str = ""
) -> int:
    """0 done, 1 no mutant could be scored or the score is below `--least`, 130 interrupted.

    `--test NAME=FILE.py:FUNCTION` names a generator of the user's own; the weak, strong and edge ones are always there.
    """
    from netmend.mutate.agents.session import INTERRUPTED, options_of, study, target_of

    if options.subsets:
        raise UsageError(
            f"--subset {options.subsets[0]}: agents are tested from starts, not on a test set; give a generator with --test"
        )
    chosen = RlOptions(
        profile=options.profile,
        operators=options.operators,
        fails=fails,
        generators=options.tests,
        jobs=options.jobs,
        threads=options.threads,
        network=options.network,
        megabytes=options.megabytes,
        seconds=options.seconds,
        executor=options.executor,
        address=options.address,
        directory=options.directory,
        estimate_only=options.estimate_only,
    )
    chosen = options_of(script, chosen)
    target = target_of(script, arguments, options.directory)
    with RlProgress(wishes.quiet) as progress:
        found = study(target, chosen, progress.told)
    _hand_over(found, wishes)
    if found.stopped == INTERRUPTED:
        return 130
    if options.estimate_only:
        return 0
    judged = parse_own(chosen.generators[0]).name if chosen.generators else WEAK
    score = found.score(judged)
    return 0 if score is not None and score >= (wishes.least or 0.0) else 1


def _hand_over(found: RlStudy, wishes: Wishes) -> None:
    from netmend.report.agents import STUDY, study_document, study_page
    from netmend.report.terminal import console, draw

    if wishes.json is not None:
        wishes.json.write_text(STUDY.json(found), encoding="utf-8")
    if wishes.html is not None:
        wishes.html.write_text(study_page(found), encoding="utf-8")
    if wishes.additions is not None:
        write_starts(found, wishes.additions)
    if not wishes.quiet:
        console(sys.stdout).print(draw(study_document(found)))


def write_starts(found: RlStudy, file: Path) -> None:
    """The starts worth keeping, as rows of numbers; see `start_grid` for what they reveal."""
    with file.open("wb") as stream:
        np.savez(stream, starts=np.array([each.start for each in found.covering], dtype=np.float64))
