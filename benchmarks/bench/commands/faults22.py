"""`netmend bench faults22`: run or read, then show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bench.commands.options import check_output, jobs_of, names, need_torch, say_interrupted, show
from bench.commands.progress import BenchProgress

if TYPE_CHECKING:
    from bench.outcomes import Result22


def bench_faults22(
    seeds: int,
    stability: int,
    repair: bool,
    only: str,
    jobs: int | None,
    json: Path | None,
    read: Path | None,
    work: Path,
    quiet: bool,
) -> int:
    """The exit code: 0, or 130 when interrupted."""
    from bench import outcomes
    from bench.remarks22 import remarks
    from bench.summary22 import as_data, summarise
    from bench.tables22 import grids

    check_output(json)
    if read is not None:
        result = outcomes.read(read)
    else:
        try:
            result = _run(seeds, stability, repair, only, jobs_of(jobs), work, quiet)
        except KeyboardInterrupt:
            return say_interrupted()
    summary = summarise(result)
    if json is not None:
        json.write_text(outcomes.as_json(result, as_data(summary)), encoding="utf-8")
    show(grids(summary), remarks(summary, result))
    return 0


def _run(seeds: int, stability: int, repair: bool, only: str, jobs: int, work: Path, quiet: bool) -> Result22:
    from bench.faults22.facts import fault, faults
    from bench.localise22 import Options22, localise
    from netmend.trials.local import LocalExecutor
    from netmend.trials.trial import FINISHED, Outcome

    need_torch()
    chosen = tuple(fault(name) for name in names(only)) or faults()
    options = Options22(work, seeds, stability, repair)
    executor = LocalExecutor(jobs)
    with BenchProgress(quiet) as progress:

        def tell(name: str, outcome: Outcome | None, known: bool) -> None:
            failed = "" if outcome is None or outcome.status == FINISHED else outcome.status
            progress.ended(name, f"{failed} {outcome.exception}".strip() if outcome and failed else "", known)

        try:
            return localise(chosen, options, executor, tell, progress.begin)
        finally:
            executor.close()
