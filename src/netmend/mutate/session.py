"""A whole mutation test: cost first, then originals and mutants, then what the test sets are worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from netmend.mutate.additions import Addition
from netmend.mutate.advice import advice
from netmend.mutate.choice import Estimate
from netmend.mutate.examined import DATA
from netmend.mutate.judging import Judge
from netmend.mutate.laboratory import Interrupted, Laboratory, Run
from netmend.mutate.options import MutateOptions
from netmend.mutate.result import WEIGHT_LEVEL, Mutant, MutationResult, SetScore, Turned
from netmend.mutate.scoring import (
    Configuration,
    GradedOutcome,
    ListedOutcome,
    OperatorOutcome,
    Score,
    mutation_score,
    sensitivity,
    standing_of,
    triviality,
    triviality_of_errors,
)
from netmend.mutate.study import Study
from netmend.mutate.test_sets import FILE, FUNCTION, PROGRAM, TRAINING, Subset, TestSet, subsets, test_sets
from netmend.mutate.verdicts import CONSTANT, scores_verdict
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
        study.laboratory.stop()
    return _result(target, study, stopped)


def _result(target: Target, study: Study, stopped: str) -> MutationResult:
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


# From judged mutants to scores of test sets, sensitivities, and what to add.


def weight_mutants(judge: Judge, originals: Sequence[Run]) -> list[Mutant]:
    """Those that were made of all originals."""
    first = originals[0].examined
    names = () if first is None else first.weight_mutants
    shared = [
        name
        for name in names
        if all(run.examined and name in run.examined.weight_mutants for run in originals)
    ]
    return [_mutant(judge, originals, name) for name in shared]


def _mutant(judge: Judge, originals: Sequence[Run], name: str) -> Mutant:
    score = judge.laboratory.score
    scores = {test: tuple(score(run, test, name) for run in originals) for test in judge.sets}
    verdicts = {
        test: scores_verdict(judge.original_scores(test), own, higher_is_better=judge.higher_is_better)
        for test, own in scores.items()
    }
    known = [run.examined for run in originals if run.examined is not None]
    compare = triviality if judge.higher_is_better else triviality_of_errors
    trivial = compare(
        [each.values(TRAINING) for each in known], [each.values(TRAINING, name) for each in known]
    )
    _, code, place, share = name.split("/", 3)
    return Mutant(
        name=name,
        operator=code,
        cause="",
        title=f"{place}, {float(share):.0%} of it",
        level=WEIGHT_LEVEL,
        standing=standing_of(verdicts[TRAINING], trivial),
        runs=len(known),
        verdicts=verdicts,
        scores=scores,
        triviality=trivial,
        value=float(share),
        place=place,
    )


def set_scores(study: Study, weights: Sequence[Mutant]) -> tuple[SetScore, ...]:
    judge, laboratory = study.judge, study.laboratory
    assert judge is not None
    first = judge.originals[0].examined
    assert first is not None
    made: dict[str, SetScore] = {}
    for each in laboratory.sets:
        source = mutation_score(outcomes(study.mutants, study.turned, each.name))
        own = mutation_score(outcomes(weights, [], each.name)) if weights else None
        whole = made.get(each.of) if isinstance(each, Subset) else None
        inputs = first.inputs(each.name) if isinstance(each, TestSet) else len(laboratory.index(each, first))
        offered, pool = _advice(study, each)
        made[each.name] = SetScore(
            name=each.name,
            words=words(each),
            inputs=inputs,
            originals=judge.original_scores(each.name),
            source=source,
            weights=own,
            part_of="" if whole is None else whole.name,
            sensitivity=None if whole is None else sensitivity(whole.source.score, source.score),
            weights_sensitivity=None if whole is None else sensitivity(_of(whole.weights), _of(own)),
            additions=offered,
            pool=pool,
        )
    return tuple(made.values())


def _advice(study: Study, each: TestSet | Subset) -> tuple[tuple[Addition, ...], str]:
    """What to add is worth less than the scores: where it fails, they are told all the same."""
    try:
        return advice(study, each)
    except Exception as problem:  # noqa: BLE001
        study.problems.append(
            f"what to add to {each.name} could not be found: {type(problem).__name__}: {problem}"
        )
        return (), ""


def _of(score: Score | None) -> float | None:
    return None if score is None else score.score


def outcomes(mutants: Sequence[Mutant], turned: Sequence[Turned], test: str) -> list[OperatorOutcome]:
    """What the score is made of: faults with a strength one by one, the others by operator."""
    found: list[OperatorOutcome] = []
    by_name: dict[str, list[Configuration]] = {}
    for mutant in mutants:
        if mutant.knob and mutant.level != WEIGHT_LEVEL:
            continue
        one = Configuration(mutant.name, mutant.verdicts[TRAINING], mutant.verdicts[test], mutant.triviality)
        by_name.setdefault(mutant.operator, []).append(one)
    for knob in turned:
        own = [
            m for m in mutants if m.operator == knob.operator and m.knob == knob.title and m.value is not None
        ]
        trivial = {mutant.value: mutant.triviality for mutant in own if mutant.value is not None}
        found.append(
            GradedOutcome(knob.operator, knob.scale, knob.found[TRAINING], knob.found[test], trivial)
        )
    found += [ListedOutcome(operator, tuple(own)) for operator, own in by_name.items()]
    return sorted(found, key=lambda each: each.operator)


def words(each: TestSet | Subset) -> str:
    if isinstance(each, Subset):
        return each.words
    if each.kind == PROGRAM:
        return "what the program itself evaluates last"
    if each.kind == FILE:
        return each.path
    if each.kind == FUNCTION:
        return f"{each.path}:{each.function}"
    return "variable " + ", ".join(row.name for row in each.rows)


def constant_sets(mutants: Sequence[Mutant], judge: Judge) -> list[str]:
    """Sets whose score never moved: they cannot tell anything."""
    told = []
    for test in judge.sets:
        verdicts = [mutant.verdicts[test] for mutant in mutants if not mutant.note]
        if verdicts and all(verdict.reason == CONSTANT for verdict in verdicts):
            score = judge.original_scores(test)[0]
            told.append(
                f"the score on {test} is {score:.4g} in every training: it cannot tell mutants apart; take more inputs"
            )
    return told
