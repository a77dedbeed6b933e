"""`netmend bench bugs21` and `netmend bench silent`: programs with a label, run and shown beside what others found."""

from __future__ import annotations

import difflib
from pathlib import Path

from bench.commands.options import check_output, jobs_of, names, need_torch, say_interrupted, show
from bench.commands.progress import BenchProgress
from netmend.errors import UsageError
from netmend.trials.trial import FINISHED, Outcome


def bench_labelled(
    benchmark: str, seeds: int, only: str, jobs: int | None, json: Path | None, work: Path, quiet: bool
) -> int:
    """The exit code: 0, or 130 when interrupted."""
    from bench import bugs21, silent
    from bench.labelled import Labelled, programs, programs_folder
    from bench.labelled_run import as_json, run_labelled
    from netmend.trials.local import LocalExecutor

    check_output(json)
    need_torch()
    about = {"bugs21": bugs21, "silent": silent}[benchmark]
    found = tuple(programs(programs_folder(benchmark)))
    chosen: tuple[Labelled, ...] = tuple(
        program
        for program in found
        if program.name in _chosen(only, list(dict.fromkeys(item.name for item in found)))
    )
    executor = LocalExecutor(jobs_of(jobs))
    try:
        with BenchProgress(quiet) as progress:
            progress.begin("training", len(chosen) * seeds)

            def tell(name: str, outcome: Outcome, known: bool) -> None:
                failed = outcome.status != FINISHED and not outcome.run
                progress.ended(name, f"{outcome.status} {outcome.exception}".strip() if failed else "", known)

            runs = run_labelled(chosen, work / benchmark, seeds, executor, tell)
    except KeyboardInterrupt:
        return say_interrupted()
    finally:
        executor.close()
    if json is not None:
        json.write_text(
            as_json(benchmark, runs, seeds, executor.jobs, about.facts()["published"]), encoding="utf-8"
        )
    show(about.grids(runs), about.remarks(runs))
    return 0


def _chosen(only: str, known: list[str]) -> frozenset[str]:
    wanted = names(only)
    for name in wanted:
        if name not in known:
            close = difflib.get_close_matches(name, known, 3, 0.5)
            hint = f"did you mean {' or '.join(close)}?" if close else f"known are {', '.join(known)}"
            raise UsageError(f"--only: there is no program {name!r}; {hint}")
    return frozenset(wanted or known)
