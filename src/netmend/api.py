"""The verbs, in order; the only module that knows all stages. Everything the commands do is a call with the same name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netmend.observe.options import Options, parse_share
from netmend.watching import Report, Watch, judge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netmend.adequacy.result import Adequacy
    from netmend.check.outcome import Outcome
    from netmend.locate.answer import Located
    from netmend.mend.result import Mended
    from netmend.mutate.result import MutationResult
    from netmend.neutral.neutrality import Neutrality
    from netmend.repair.result import Result
    from netmend.vocabulary import Trace


def check(
    *paths: Path | str,
    select: str | Sequence[str] = (),
    ignore: str | Sequence[str] = (),
    extend_select: str | Sequence[str] = (),
    jobs: int = 1,
    cache: bool = False,
) -> Outcome:
    """Training mistakes in source files, folders and notebooks (default: the working directory), executing nothing.

    Iterates over its findings. `[tool.netmend.check]` counts as on the command line, where `select` replaces it and
    the other choices add to it.
    """
    from netmend.check.session import CheckOptions, check_paths
    from netmend.config import read_check_settings

    given = tuple(str(path) for path in paths) or (".",)
    settings = read_check_settings(Path(given[0]))
    options = CheckOptions.of(settings, select, ignore, extend_select)
    return check_paths(given, replace(options, jobs=jobs, cache=cache))


def repair(
    script: str | Path,
    *arguments: str,
    module: bool = False,
    budget: str = "20x",
    metric: str = "",
    metric_file: str = "",
    higher_is_better: bool | None = None,
    strict: bool = False,
    jobs: int | None = None,
) -> Result:
    """Find what to change so that a training script learns, and prove it by retraining; nothing of the user's is changed.

    The same as `netmend repair script arguments…`. The result has `verdict`, `patch` (a unified diff), `verification`.
    """
    from netmend.repair.options import Measure, RepairOptions, parse_budget
    from netmend.repair.session import repair as run_repair
    from netmend.trials.opening import target_of
    from netmend.verify.verify import verify

    measure = Measure(metric, metric_file, higher_is_better)
    options = RepairOptions(parse_budget(budget), measure, strict, jobs=jobs)
    return run_repair(target_of(str(script), arguments, module), options, verify)


def neutral(
    script: str | Path,
    *arguments: str,
    module: bool = False,
    fix: str | Path | None = None,
    like: float | None = None,
    budget: str = "60x",
    seeds: int = 3,
    width: int = 5,
    depth: int = 3,
    metric: str = "",
    metric_file: str = "",
    higher_is_better: bool | None = None,
    jobs: int | None = None,
) -> Neutrality:
    """Which other changes of a training script do as well as a known fix, as a value, or as the best that is found.

    The same as `netmend neutral script arguments…`. The result has `alternatives` (minimal sets first), `nodes`, `goal`.
    """
    from netmend.neutral.options import NeutralOptions
    from netmend.neutral.session import neutral as run_neutral
    from netmend.repair.options import Measure, parse_budget
    from netmend.trials.opening import target_of

    options = NeutralOptions(
        budget=parse_budget(budget),
        measure=Measure(metric, metric_file, higher_is_better),
        seeds=seeds,
        width=width,
        depth=depth,
        fix=None if fix is None else Path(fix),
        like=like,
        jobs=jobs,
    )
    return run_neutral(target_of(str(script), arguments, module), options)


def mutate(
    script: str | Path,
    *arguments: str,
    module: bool = False,
    tests: Sequence[str] = (),
    subsets: Sequence[str] = (),
    profile: str = "quick",
    operators: Sequence[str] = (),
    weights: bool = True,
    jobs: int | None = None,
    threads: int = 1,
    network: bool = False,
    directory: str | Path | None = None,
) -> MutationResult:
    """Which faults of training a test set would notice, and what to add to it; for agents see `netmend.mutate.agents.session.study`.

    The same as `netmend mutate script arguments…`. `tests` and `subsets` are written as `--test` and `--subset` take them.
    """
    from netmend.mutate.options import MutateOptions
    from netmend.mutate.session import mutate as run_mutate
    from netmend.trials.opening import target_of

    options = MutateOptions(
        tests=tuple(tests),
        subsets=tuple(subsets),
        profile=profile,
        operators=tuple(operators),
        weights=weights,
        jobs=jobs,
        threads=threads,
        network=network,
        directory=None if directory is None else Path(directory).resolve(),
    )
    return run_mutate(target_of(str(script), arguments, module), options)


def adequacy(
    model: Any,
    train: Any,
    test: Any,
    pool: Any = None,
    *,
    layer: str | None = None,
    task: str | None = None,
    forward: Callable[[Any, Any], Any] | None = None,
    limit: int = 5_000,
    count: int = 20,
    seed: int = 0,
) -> Adequacy:
    """How adequate a test set is for a trained model, and which inputs of a pool are worth a label next; nothing is trained.

    Data is a DataLoader, a Dataset, tensors or arrays (`x`, `(x, y)`, a dictionary) or an iterable of batches. The same as
    `netmend adequacy`. The result prints itself, has `json()` and `save(file)`, `missing`, `spread`, `surprises`, `suggestions`.
    """
    from netmend.adequacy.session import adequacy as measure

    return measure(
        model, train, test, pool, layer=layer, task=task, forward=forward, limit=limit, count=count, seed=seed
    )


def diagnose(run: str | Path | Trace = "last", *, directory: Path | str | None = None) -> Report:
    """Judge a recorded run: its id (or the beginning of it), its directory, "last", or a trace."""
    from netmend.store import find_run, read_trace, runs_root
    from netmend.vocabulary import Trace

    if isinstance(run, Trace):
        return Report(run, judge(None, run))
    root = Path(directory) / "runs" if directory is not None else runs_root()
    path = find_run(root, str(run))
    trace = read_trace(path)
    return Report(trace, judge(path, trace))


def watch(
    model: Any = None,
    optimizer: Any = None,
    *,
    overhead: float | str = "1%",
    every: int | None = None,
    full: bool = False,
    trap: bool = False,
    probe: bool = False,
    directory: Path | str | None = None,
    quiet: bool = False,
) -> Watch:
    """Record the training that happens inside `with netmend.watch():`, or between `start()` and `stop()`.

    Model and optimiser are found by themselves; name them when they were created before watching began and their first
    step should be seen in full. `overhead` is the share of training time that watching may take; `every=n` takes all
    statistics at every n-th step instead, `full=True` at each. `trap=True` makes a GPU wait at every step so that the
    operation behind a NaN can be named. `probe=True` trains copies of the model on its first batch for a few seconds,
    which tells more about it.
    """
    folder = Path(directory) if directory is not None else None
    options = Options(parse_share(overhead), every, full, trap, folder, probe)
    return Watch(model, optimizer, options, quiet)


def load(run: str | Path = "last", root: Path | None = None, rank: int = 0) -> Trace:
    """A recorded run: by id, unique beginning of an id, "last", or path."""
    from netmend.store import find_run, read_trace, runs_root

    return read_trace(find_run(root or runs_root(), str(run)), rank)


def locate(
    report: str,
    repo: str | Path = ".",
    rev: str | None = None,
    *,
    top: int = 10,
    opened: float | None = None,
    tests: bool = False,
    run: str | Path | None = None,
    cache: bool = True,
    directory: str | Path | None = None,
) -> Located:
    """Which files and functions of a repository a bug report (its text, or a stack trace) is about, with the reasons.

    The same as `netmend locate --report FILE`. `opened` (seconds since the epoch): later commits are not looked at; `run`: a
    recorded run that shows the bug. The result prints itself and has `files`, `answer` and `json()`.
    """
    from netmend.locate.ask import ask

    judged = None if run is None else diagnose(run, directory=directory)
    return ask(
        report,
        Path(repo),
        rev,
        top=top,
        opened=opened,
        tests=tests,
        run=None if judged is None else (judged.trace, judged.diagnosis),
        cache=cache,
        directory=None if directory is None else Path(directory),
    )


def mend(
    model: Any = None,
    failing: Any = None,
    guard: Any = None,
    validation: Any = None,
    *,
    method: str | Sequence[str] = "auto",
    steps: int = 400,
    rates: Sequence[float] = (2e-3, 2e-4),
    seed: int = 0,
    bound: float = 0.01,
    tolerance: float | None = None,
    wrong: Callable[[Any, Any], Any] | None = None,
    directory: str | Path | None = None,
) -> Mended:
    """Find a patch of weights that repairs what fails in a trained PyTorch module and keeps the rest; the module stays as it is.

    `failing` and `validation` are (inputs, wanted), `guard` is inputs or (inputs, labels). The same as `netmend mend`. The result
    prints itself, has `patch` (None: nothing is recommended), `apply(model)`, `revert(model)`, `save(file)`, `tried`, `json()`.
    """
    from netmend.mend.options import MendOptions, parse_methods
    from netmend.mend.session import mend as run_mend

    options = MendOptions(
        methods=parse_methods(method if isinstance(method, str) else ",".join(method)),
        steps=steps,
        rates=tuple(rates),
        seed=seed,
        bound=bound,
        tolerance=tolerance,
        directory=None if directory is None else Path(directory),
    )
    return run_mend(model, failing, guard, validation, options, wrong=wrong)
