"""Original and patched source over fresh seeds; says no more than what they show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from netmend.repair.objective import Objective, for_verification
from netmend.repair.problem import Problem
from netmend.repair.version import Version
from netmend.trials.measures import end_of
from netmend.trials.trial import Outcome
from netmend.verify.statistics import Comparison, compare
from netmend.vocabulary.verification import NONE, PROMISING, PROVEN, Verification

FIRST_SEED = 1001  # the search never uses these
_SEEDS, _STRICT, _MORE = 5, 10, 5


@dataclass(frozen=True)
class Bar:
    """What counts as proof."""

    p_value: float = 0.05  # convention of the studies that repairs are compared with
    effect_size: float = 0.5
    least_gain: float = 0.05  # of the error: less is of no use to anybody, however certain
    # With two looks at the data, chance gets two chances: they share the 5 %. The first look at 5 seeds can only reach
    # 0.031 (all of them better), the second has the rest.
    second_p_value: float = 0.019
    worth_telling: float = 0.2  # the same for a program that nothing is wrong with: tuning is not repair
    learned: float = 0.9  # of the constant prediction's loss, where the original never ran to its end


def verify(
    problem: Problem, version: Version, strict: bool = False, healthy: bool = False
) -> tuple[Verification, list[Outcome], list[Outcome]]:
    """Train both sides on seeds that the search did not use, until the case is clear; the outcomes of both sides too.

    `healthy`: nothing was told of the program as it is.
    """
    bar = Bar(least_gain=Bar.worth_telling) if healthy else Bar()
    seeds = list(range(FIRST_SEED, FIRST_SEED + (_STRICT if strict else _SEEDS)))
    before, after = _trained(problem, version, seeds)
    objective = _objective(problem, [*before, *after])
    made = judge(objective, seeds, before, after, bar)
    undecided = made.verdict == PROMISING and not made.new_faults
    if undecided and not strict:
        more = list(range(seeds[-1] + 1, seeds[-1] + 1 + _MORE))
        old, new = _trained(problem, version, more)
        seeds, before, after = seeds + more, before + old, after + new
        made = judge(objective, seeds, before, after, replace(bar, p_value=bar.second_p_value))
    return made, before, after


def _trained(problem: Problem, version: Version, seeds: Sequence[int]) -> tuple[list[Outcome], list[Outcome]]:
    trials = [problem.trial(side, seed) for seed in seeds for side in (problem.original, version)]
    outcomes = problem.runner.run(trials)
    return outcomes[0::2], outcomes[1::2]


def _objective(problem: Problem, outcomes: Sequence[Outcome]) -> Objective | None:
    return None if problem.objective is None else for_verification(problem.objective, outcomes)


def judge(
    objective: Objective | None,
    seeds: Sequence[int],
    before: Sequence[Outcome],
    after: Sequence[Outcome],
    bar: Bar,
) -> Verification:
    """The verdict on two lists of outcomes."""
    facts = _facts(seeds, before, after)
    if objective is None:
        return Verification(NONE, **facts, missing=("No metric was found; name one with --metric",))
    old = [objective.value(outcome) for outcome in before]
    new = [objective.value(outcome) for outcome in after]
    if all(value is None for value in new):
        return Verification(
            NONE, **facts, before=tuple(old), after=tuple(new), missing=("the patched program fails",)
        )
    errors = objective.errors([*old, *new])  # both sides on one scale
    made = compare(errors[: len(old)], errors[len(old) :])
    missing = _missing(objective, old, new, made, after, bar)
    faults = _new([o.faults for o in before], [o.faults for o in after])
    if faults:
        missing.append(f"afterwards another fault is told: {', '.join(faults)}")
    better = made.improvement > 0
    verdict = NONE if not better else PROVEN if not missing else PROMISING
    return Verification(
        verdict,
        **facts,
        before=tuple(old),
        after=tuple(new),
        p_value=made.p_value,
        effect_size=made.effect_size,
        improvement=made.improvement,
        interval=made.interval,
        missing=tuple(missing),
        new_faults=faults,
        new_symptoms=_new([o.symptoms for o in before], [o.symptoms for o in after]),
    )


def _missing(
    objective: Objective,
    old: Sequence[float | None],
    new: Sequence[float | None],
    made: Comparison,
    after: Sequence[Outcome],
    bar: Bar,
) -> list[str]:
    missing = []
    failed = sum(value is None for value in new)
    if failed:
        missing.append(f"the patched program fails with {failed} of {len(new)} seeds")
    if made.p_value >= bar.p_value:
        missing.append(
            f"the difference may be chance (p = {made.p_value:.2g}, below {bar.p_value:g} is asked for)"
        )
    if made.effect_size < bar.effect_size:
        missing.append(f"the effect is small (d = {made.effect_size:.2g}, {bar.effect_size:g} is asked for)")
    known = [(a, b) for a, b in zip(old, new, strict=True) if a is not None and b is not None]
    if known:
        gain = objective.gain(sum(a for a, _ in known) / len(known), sum(b for _, b in known) / len(known))
        if gain < bar.least_gain:
            missing.append(f"only {max(gain, 0):.1%} of the error goes away")
    elif sum(_learned(outcome, bar) for outcome in after) <= len(after) / 2:
        missing.append("the program runs to its end now, but it is not seen to learn")
    return missing


def _learned(outcome: Outcome, bar: Bar) -> bool:
    relative = [
        end_of(name, points)
        for name, points in outcome.series.items()
        if name.endswith(":relative") and points
    ]
    return outcome.ran and (not relative or min(relative) < bar.learned)


def _new(before: Sequence[tuple[str, ...]], after: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """What most runs show afterwards and none showed before."""
    known = {code for codes in before for code in codes}
    counts = Counter(code for codes in after for code in set(codes))
    return tuple(sorted(code for code, n in counts.items() if code not in known and n > len(after) / 2))


def _facts(seeds: Sequence[int], before: Sequence[Outcome], after: Sequence[Outcome]) -> dict:  # type: ignore[type-arg]
    def mean(values: list[float]) -> float:
        return sum(values) / len(values) if values else 0.0

    return {
        "seeds": tuple(seeds),
        "steps_before": mean([o.steps for o in before]),
        "steps_after": mean([o.steps for o in after]),
        "seconds_before": mean([o.seconds for o in before]),
        "seconds_after": mean([o.seconds for o in after]),
        "trainings": len(before) + len(after),
    }
