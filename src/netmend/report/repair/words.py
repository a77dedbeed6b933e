"""A repair put into words: the verdict, what went wrong, what changes, the proof and its cost; terminal, page and JSON say it alike."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from netmend.repair.objective import Objective, for_verification
from netmend.repair.result import Result
from netmend.report.content import Remark, clean, first_line
from netmend.report.numbers import duration, failed_words, mean_words, measure, plural, setting
from netmend.report.patches import places
from netmend.trials.trial import FAILED, LOST, OUT_OF_MEMORY, STOPPED, TIMED_OUT
from netmend.verify.statistics import MOST_EFFECT
from netmend.vocabulary import UNDECIDED, Site
from netmend.vocabulary.verification import PROMISING, PROVEN, Verification

ENDINGS = {
    STOPPED: "stopped early (no gain alone)",
    FAILED: "fails",
    TIMED_OUT: "takes too long",
    OUT_OF_MEMORY: "runs out of memory",
    LOST: "was killed",
}


def verdict_words(result: Result) -> tuple[str, str]:
    """The tone (good, warn, bad) and the verdict in a few words."""
    if result.verdict == PROVEN:
        return "good", "A fix is proven"
    if result.verdict == PROMISING:
        return "warn", "A change looks promising, but is not proven"
    if result.version.parts:
        return "bad", "No fix found: what helped once does not hold across seeds"
    if is_healthy(result):
        return _healthy_words(result)
    ending = ENDINGS.get(result.baseline.status)
    return "bad", f"No fix found; the program {ending}" if ending else "No fix found"


def is_healthy(result: Result) -> bool:
    """Nothing is told of the program, and nothing was found that makes it better."""
    told = result.diagnosis is None or bool(result.diagnosis.faults)
    return result.baseline.ran and not told and not result.version.parts


def _healthy_words(result: Result) -> tuple[str, str]:
    tried = len(result.attempts)
    more = f"none of {plural(tried, 'change')} helped" if tried else "nothing was tried"
    if result.diagnosis is not None and result.diagnosis.verdict == UNDECIDED:
        return "warn", f"Undecided: {clean(result.diagnosis.reason).rstrip('.')}; {more}"
    return "good", f"No fault found, and {more}"


def place_words(result: Result, site: Site | None) -> str:
    """`file:line` as the user knows the file: trials ran in a copy."""
    if site is None:
        return ""
    return clean(f"{file_words(result, site.file)}:{site.line}")


def file_words(result: Result, file: str) -> str:
    """A file relative to the program's folder, or to the copy that a trial had of it."""
    path = PurePath(file)
    for root in (result.baseline.root, os.path.realpath(result.baseline.root), result.directory):
        if root and path.is_relative_to(root):
            return str(path.relative_to(root))
    return file


def change_remarks(result: Result) -> Iterator[Remark]:
    """Each change with its line in the original."""
    for part, place in zip(result.version.parts, places(result.version), strict=True):
        where = "" if place is None else clean(f"{place[0]}:{place[1]}")
        yield Remark("change", clean(part.change.title), where)


def failure_remarks(result: Result) -> Iterator[Remark]:
    """How the program as it is went wrong, when it did not run to its end."""
    baseline = result.baseline
    if baseline.ran:
        return
    text = first_line(baseline.exception) or ENDINGS.get(baseline.status, baseline.status)
    yield Remark("original", text, tone="bad")
    for note in baseline.notes[:3]:
        yield Remark("refused", clean(note), tone="warn")


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


def _side_words(values: Sequence[float | None]) -> str:
    failed = failed_words(values)
    known = mean_words(values)
    return f"{known} ({failed})" if failed and known != "(fails)" else known


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


def objective_data(objective: Objective | None) -> dict[str, Any]:
    """The measure, for machines."""
    if objective is None:
        return dict.fromkeys(("name", "higher_is_better", "description", "held_out"))
    return {
        "name": metric_words(objective),
        "higher_is_better": objective.higher_is_better,
        "description": objective.name,
        "held_out": objective.held_out,
    }
