"""The proof of a repair put into words and numbers, and what it cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import fmean, stdev

from netmend.repair.objective import Objective, for_verification
from netmend.repair.result import Result
from netmend.report.content import Remark, clean
from netmend.report.numbers import duration, measure, plural, setting
from netmend.verify.statistics import MOST_EFFECT
from netmend.vocabulary.verification import PROVEN, Verification


def proof_objective(result: Result) -> Objective | None:
    """The measure that the proof used: on test data where the search looked at validation data."""
    if result.objective is None:
        return None
    return for_verification(result.objective, (*result.before, *result.after))


def proof_remarks(result: Result) -> Iterator[Remark]:
    """What was measured on both sides, how sure that is, and what keeps it from being proven."""
    made = result.verification
    if made is None:
        return
    objective = proof_objective(result)
    if objective is not None and made.before:
        label = "proof" if made.verdict == PROVEN else "seeds"
        before, after = _side_words(made.before), _side_words(made.after)
        over = f"over {plural(len(made.seeds), 'seed')}"
        yield Remark(label, f"{clean(objective.short)} {before} → {after} {over}")
        yield Remark(label, certainty_words(made, objective))
    yield from (Remark("missing", clean(text), tone="warn") for text in made.missing)
    if made.new_symptoms:
        yield Remark("new", f"new after the change: {clean(', '.join(made.new_symptoms))}", tone="muted")
    if objective is not None:
        yield Remark("metric", measure_words(result, objective), tone="muted")


def metric_words(objective: Objective) -> str:
    """The measure's name, as short as it goes."""
    return clean(objective.short).rstrip(",")


def measure_words(result: Result, objective: Objective) -> str:
    way = "higher" if objective.higher_is_better else "lower"
    told = f"{clean(objective.name).rstrip(',')}; {way} is better"
    if result.objective is not None and objective != result.objective:
        told += f"; the search used “{metric_words(result.objective)}”"
    return told


def certainty_words(made: Verification, objective: Objective) -> str:
    """`better with 5 of 5 seeds; p = 0.031, d = 11; by 0.278 (95 % interval 0.232 to 0.323)`."""
    errors = objective.errors([*made.before, *made.after])
    pairs = list(zip(errors[: len(made.before)], errors[len(made.before) :], strict=True))
    parts = [f"better with {sum(new < old for old, new in pairs)} of {plural(len(pairs), 'seed')}"]
    numbers = (chance_words(made.p_value, "p = "), effect_words(made.effect_size))
    parts += filter(None, [", ".join(filter(None, numbers))])
    # A training that failed has no value; the difference to one would be made up.
    whole = all(math.isfinite(old) and math.isfinite(new) for old, new in pairs)
    if whole and made.improvement is not None and made.interval is not None:
        low, high = made.interval
        parts.append(f"by {measure(made.improvement)} (95 % interval {measure(low)} to {measure(high)})")
    return "; ".join(parts)


def chance_words(p_value: float | None, before: str = "") -> str:
    """Empty when it is not known."""
    known = p_value is not None and math.isfinite(p_value)
    return f"{before}{setting(float(f'{p_value:.2g}'))}" if known else ""


def effect_words(size: float | None) -> str:
    if size is None or not math.isfinite(size):
        return ""
    if abs(size) >= MOST_EFFECT:
        return "d > 99" if size > 0 else "d < -99"
    return f"d = {setting(float(f'{size:.2g}'))}"


def mean_words(values: Sequence[float | None]) -> str:
    """Mean and standard deviation of the trainings that ended well."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    return _with_spread(known) if known else "(fails)"


def failed_words(values: Sequence[float | None]) -> str:
    """How many trainings did not end well; empty when all did."""
    failed = sum(value is None or not math.isfinite(value) for value in values)
    return f"{failed} of {len(values)} fail" if failed else ""


def _side_words(values: Sequence[float | None]) -> str:
    failed = failed_words(values)
    known = mean_words(values)
    return f"{known} ({failed})" if failed and known != "(fails)" else known


def _with_spread(values: Sequence[float]) -> str:
    """With as many digits as the deviation leaves a meaning."""
    mean, spread = fmean(values), stdev(values) if len(values) > 1 else 0.0
    if spread == 0:
        return measure(mean)
    if not 1e-3 <= abs(mean) < 1e6:
        return f"{measure(mean)} ± {measure(spread)}"
    power = math.floor(math.log10(spread))
    digits = max(0, (0 if spread >= 3 * 10**power else 1) - power)  # 0.03, 0.012
    most = max(0, 3 - math.floor(math.log10(abs(mean))))  # of the mean, four digits say enough
    if digits > most:
        return f"{mean:,.{most}f} ± {setting(float(f'{spread:.1g}'))}"
    return f"{mean:,.{digits}f} ± {spread:,.{digits}f}"


def cost_remarks(result: Result) -> Iterator[Remark]:
    """What one training costs on both sides, and what finding and proving the fix did."""
    made = result.verification
    if made is not None:
        before, after = _steps(made.steps_before), _steps(made.steps_after)
        times = duration(made.seconds_before), duration(made.seconds_after)
        told = (
            f"{before}, {times[0]} → {times[1]}"
            if before == after
            else f"{before}, {times[0]} → {after}, {times[1]}"
        )
        yield Remark("cost", f"a training: {told}")
    search = f"search {_trainings(result.trainings)} (budget {result.budget})"
    proof = f", proof {_trainings(made.trainings)}" if made is not None else ""
    yield Remark("cost", f"{search}{proof}; {duration(result.seconds)} in all")


def _steps(value: float) -> str:
    return plural(round(value), "step")


def _trainings(value: float) -> str:
    text = setting(float(f"{value:.1f}")) if value < 9999 else f"{value:,.0f}"
    return f"{text} {'training' if text in ('1', '1.0') else 'trainings'}"
