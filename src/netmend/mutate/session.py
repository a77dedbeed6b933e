"""A whole mutation test: cost first, then originals and mutants, then what the test sets are worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from netmend.mutate.choice import Estimate
from netmend.mutate.examined import DATA
from netmend.mutate.laboratory import Interrupted, Laboratory
from netmend.mutate.options import MutateOptions
from netmend.mutate.result import MutationResult
from netmend.mutate.study import Study
from netmend.mutate.test_sets import TRAINING, subsets, test_sets
from netmend.trials.opening import Stages, runner_of
from netmend.trials.runner import Executor
from netmend.trials.trial import Outcome, Target

INTERRUPTED = "interrupted; run the same command to continue"
ESTIMATED = "only the cost was asked for"


@dataclass(frozen=True)
class Stage:
    """How far it is."""

    doing: str
    trainings: int = 0
    cached: int = 0
    faults: int = 0  # judged
    of: int = 0
    estimate: Estimate | None = None


Told = Callable[[Stage], None]


def mutate(
    target: Target, options: MutateOptions, told: Told | None = None, executor: Executor | None = None
) -> MutationResult:
    """Which faults a test set notices. Nothing of the user's is changed; what was trained once is never trained again.

    An interruption (Ctrl-C) ends the trainings, not the study: what is known until then is returned.
    """
    options = options.checked()
    tests = test_sets(options.tests, target.directory)
    parts = subsets(options.subsets, tests)

    def tell(doing: str, outcome: Outcome | None = None) -> None:
        faults = 0 if study.choice is None else len(study.choice.knobs) + len(study.choice.singles)
        used = runner.used
        if told is not None:
            told(Stage(doing, used.trials, used.cached, len(study.found), faults, study.estimate))

    stages = Stages(tell)
    runner = runner_of(target, options, stages.ended, executor)
    study = Study(Laboratory(runner, tests, parts, options.weights), options, stages.begin)
    stopped = ""
    try:
        study.begin()
        stages.begin("estimating")
        if options.estimate_only:
            stopped = ESTIMATED
        else:
            study.train_originals()
            study.run()
    except (KeyboardInterrupt, Interrupted):
        stopped = INTERRUPTED
    finally:
        study.laboratory.stopping.set()
        runner.close()
    return _result(target, study, stopped)


def _result(target: Target, study: Study, stopped: str) -> MutationResult:
    from netmend.mutate.summing_up import constant_sets, set_scores, weight_mutants

    used = study.laboratory.runner.used
    plain = MutationResult(
        script=target.script,
        directory=target.directory,
        arguments=target.arguments,
        profile=study.options.profile,
        seeds=study.seeds,
        estimate=study.estimate,
        trainings=used.trials - used.cached,
        cached=used.cached,
        seconds=used.seconds,
        stopped=stopped,
        problems=tuple(study.problems),
    )
    judge = study.judge
    if judge is None:
        return plain
    first = judge.originals[0].examined
    weights = weight_mutants(judge, judge.originals) if study.options.weights else []
    mutants = (*study.mutants, *weights)
    return replace(
        plain,
        task="" if first is None else str(first.meta.get("task", "")),
        higher_is_better=judge.higher_is_better,
        paired=study.paired,
        training=judge.original_scores(TRAINING),
        data=str(study.laboratory.folder(study.seeds[0]) / DATA),
        sets=set_scores(study, weights),
        mutants=mutants,
        turned=tuple(study.turned),
        problems=(*study.problems, *constant_sets(mutants, judge)),
    )
