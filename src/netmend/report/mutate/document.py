"""Mutation testing as it is told: the score, test sets, operators, what survives, what to add; and its JSON (docs/mutate.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache

from netmend.mutate.result import SOURCE, WEIGHT_LEVEL, Mutant, MutationResult, SetScore
from netmend.mutate.scoring import COUNTED, CRASHED, EQUIVALENT, TRIVIALLY_KILLED, UNSTABLE
from netmend.mutate.session import ESTIMATED, INTERRUPTED
from netmend.mutate.test_sets import TRAINING
from netmend.report.content import Column, Document, Grid, Number, Remark, clean
from netmend.report.machine import Fields
from netmend.report.numbers import UNKNOWN, alike, duration, mean_words, plural, setting
from netmend.unit import page

_GOOD, _POOR = 0.8, 0.5  # of the mutation score: only the colour of the first line
_MOST = 6  # of one kind, on the terminal
_LEFT_OUT = {
    EQUIVALENT: "equivalent: not even the training data detects them",
    TRIVIALLY_KILLED: "trivial: nearly every input detects them",
    UNSTABLE: "inconclusive: needs more runs",
    CRASHED: "crashing: any run of the program reveals them",
}


def mutation_document(result: MutationResult) -> Document:
    """The outcome first, then what a person needs to judge it."""
    opening = list(start_remarks(result))
    if sentence := score_sentence(result):
        opening.append(Remark("score", sentence, tone="muted"))
    judged: tuple[object, ...] = (
        sets_grid(result),
        operators_grid(result, SOURCE),
        operators_grid(result, WEIGHT_LEVEL),
        tuple(survivor_remarks(result, _MOST)),
        tuple(addition_remarks(result, _MOST)),
    )
    parts = (tuple(opening), *(judged if result.sets else ()), tuple(end_remarks(result)))
    return Document(*verdict_words(result), parts)


def verdict_words(result: MutationResult) -> tuple[str, str]:
    """The tone (good, warn, bad) and the outcome in a few words."""
    if result.stopped == ESTIMATED:
        return "good", "Estimate only: only the original program was trained"
    if not result.sets:
        return "warn", "Interrupted before any mutant was judged"
    first = result.sets[0]
    if first.source.score is None:
        return "warn", "No mutant is left to judge a test set by"
    tone = "good" if first.source.score >= _GOOD else "warn" if first.source.score >= _POOR else "bad"
    return tone, f"Mutation score of {first.name}: {score_words(first.source.score)}"


def score_words(score: float | None) -> str:
    return UNKNOWN if score is None else f"{score:.2f}"


def score_sentence(result: MutationResult) -> str:
    """What the score is, and how it goes together with the number of faults detected."""
    if not result.sets or result.sets[0].source.score is None:
        return ""
    counted = "; ".join(
        f"{clean(each.name)} detects {each.source.killed} of {each.source.killable}" for each in result.sets
    )
    return (
        "The score is the mean over operators: each counts by the share of its faults that are detected, or, "
        f"where a fault has a strength, by the mildest one that is detected. In numbers of faults: {counted}."
    )


def measure_words(result: MutationResult) -> str:
    if result.higher_is_better:
        return "accuracy"
    return {"positions": "share of wrong positions", "columns": "share of wrong columns"}.get(
        result.task, "error"
    )


def start_remarks(result: MutationResult) -> Iterator[Remark]:
    """What was compared, and how."""
    if result.training:
        told = f"{measure_words(result)} {mean_words(result.training)} on the training data"
        yield Remark("as it is", f"{told}, over {plural(len(result.training), 'seed')}")
    if result.sets:
        how = "pairs of trainings with the same seed" if result.paired else "groups of trainings"
        yield Remark(
            "killed",
            f"{how}: worse at p ≤ 0.05 (corrected for repeated looks), and by at least half a standard deviation",
            tone="muted",
        )


def estimate_words(result: MutationResult) -> str:
    cost = result.estimate
    if cost is None:
        return ""
    faults = f"{plural(cost.listed, 'mutant')} and {plural(cost.searched, 'fault')} with a strength to search"
    return (
        f"{plural(cost.operators, 'operator')}, {faults}: {cost.least} to {cost.most} trainings of {duration(cost.seconds)}, "
        f"{plural(cost.jobs, 'at once', 'at once')}: {duration(cost.least_seconds)} to {duration(cost.most_seconds)}"
    )


def sets_grid(result: MutationResult) -> Grid:
    """One row for each test set."""
    return Grid.of(
        result.sets,
        Column("test set", lambda each: clean(each.name)),
        Number(
            "score", lambda each: score_words(each.source.score), hint="mutation score: mean over operators"
        ),
        Number(
            "killed",
            lambda each: f"{each.source.killed} of {each.source.killable}",
            hint="of the faults that the training data detects",
        ),
        Number(
            "sensitivity",
            lambda each: score_words(each.sensitivity) if each.part_of else "",
            hint="how much of the whole set's score this part misses",
        ),
        Number(
            "weights",
            lambda each: "" if each.weights is None else score_words(each.weights.score),
            spare=1,
            hint="mutation score over mutants of the trained weights",
        ),
        Number("inputs", lambda each: str(each.inputs), spare=2),
        Number(
            measure_words(result), lambda each: mean_words(each.originals), spare=3, hint="of the originals"
        ),
        Column("what it is", lambda each: clean(each.words), spare=4),
        caption="Test sets",
    )


def operators_grid(result: MutationResult, level: str) -> Grid:
    """One row for each operator."""
    own: dict[str, list[Mutant]] = {}
    for mutant in result.mutants:
        if mutant.level == level:
            own.setdefault(mutant.operator, []).append(mutant)
    in_source = level == SOURCE

    def score_in(each: SetScore) -> Column:
        scores = each.source if in_source else each.weights
        return Number(
            clean(each.name),
            lambda code: UNKNOWN if scores is None else score_words(scores.operators.get(code)),
            hint="mutation score",
        )

    note = "A score of 1 means: the set detects every fault that the training data detects, down to the same strength."
    return Grid.of(
        own,
        Column("operator"),
        Column("what it does", operator_words, spare=1),
        Number("mutants", lambda code: str(len(own[code])), spare=2),
        *map(score_in, result.sets),
        Column("mildest detected", lambda code: _mildest(result, code) if in_source else "", spare=3),
        Column("left out", lambda code: _left_out(own[code]), spare=4),
        caption="Operators" if in_source else "Operators on trained weights",
        note=note if in_source else "",
    )


def _left_out(own: list[Mutant]) -> str:
    counts = Counter(mutant.standing for mutant in own if mutant.standing != COUNTED)
    return ", ".join(f"{count} {standing}" for standing, count in sorted(counts.items()))


def _mildest(result: MutationResult, code: str) -> str:
    """By the training data and by the first test set, for faults with a strength."""
    told = []
    for knob in result.turned:
        if knob.operator == code:
            values = [knob.found[name].killed for name in (TRAINING, result.sets[0].name)]
            shown = " / ".join("none" if value is None else setting(value) for value in values)
            told.append(f"{knob.title}: {shown}")
    return clean("; ".join(told))


@cache
def operator_words(code: str) -> str:
    """The first line of an operator's page."""
    from netmend.mutate.mutation import OPERATORS

    kind: type | None = OPERATORS.classes().get(code)
    if kind is None and code.startswith("W"):
        from netmend.adapters.torch.weight_mutants import MUTANTS

        kind = MUTANTS.classes().get(code)
    return "" if kind is None else page(kind)[0].rstrip(".")


def survivors(result: MutationResult, test: str) -> list[Mutant]:
    """Mutants that count and that a test set does not notice."""
    counted = [mutant for mutant in result.mutants if mutant.standing == COUNTED and mutant.level == SOURCE]
    return [mutant for mutant in counted if not mutant.is_killed(test)]


def survivor_remarks(result: MutationResult, most: int) -> Iterator[Remark]:
    """Those that are plainly missed; how many are too close to call."""
    for each in result.sets:
        missed = f"{clean(each.name)} misses"
        left = survivors(result, each.name)
        plain = [mutant for mutant in left if mutant.is_clear(each.name)]
        for mutant in plain[:most]:
            told = f"{mutant.operator} {alike(clean(mutant.title))}"
            yield Remark(missed, told, place=clean(mutant.place))
        if len(plain) > most:
            yield Remark(missed, f"and {len(plain) - most} more", tone="muted")
        if close := len(left) - len(plain):
            told = f"perhaps {plural(close, 'mutant')} more: too close to call with {plural(len(result.seeds), 'training')} each"
            yield Remark(missed, told, tone="muted")


def addition_remarks(result: MutationResult, most: int) -> Iterator[Remark]:
    """What to add to which test set."""
    for each in result.sets:
        if not each.additions:
            continue
        for addition in each.additions[:most]:
            kills = plural(len(addition.kills), "survivor")
            source = f" from {each.pool}" if each.pool else ""
            yield Remark(f"add to {clean(each.name)}", f"{addition.what}{source}: detects {kills}")
        if len(each.additions) > most:
            yield Remark(f"add to {clean(each.name)}", f"and {len(each.additions) - most} more", tone="muted")


def end_remarks(result: MutationResult) -> Iterator[Remark]:
    """What was left out, what it cost, why it ended."""
    for level, name in ((SOURCE, "left out"), (WEIGHT_LEVEL, "of weights")):
        counts = Counter(mutant.standing for mutant in result.mutants if mutant.level == level)
        for standing, words in _LEFT_OUT.items():
            if counts[standing]:
                yield Remark(name, f"{counts[standing]} {words}", tone="muted")
    if told := estimate_words(result):
        yield Remark("estimated", told, tone="muted")
    trained = f"{plural(result.trainings, 'training')}"
    before = f", {result.cached} reused" if result.cached else ""
    yield Remark(
        "cost", f"{trained}{before}; profile {result.profile}; {duration(result.seconds)} of training"
    )
    if result.stopped:
        yield Remark(
            "ended", clean(result.stopped), tone="warn" if result.stopped == INTERRUPTED else "muted"
        )
    for problem in result.problems:
        yield Remark("note", clean(problem), tone="warn")


_SCORE = Fields("score", "killed", "killable", "by_operator=operators")
_ADDITION = Fields("label", "inputs", "kills")
_SET = Fields(
    "name",
    "description=words",
    "inputs",
    "originals",
    "score=source.score",
    "killed=source.killed",
    "killable=source.killable",
    "by_operator=source.operators",
    ("weights", _SCORE),
    ("part_of", lambda each: each.part_of or None),
    "sensitivity",
    "weights_sensitivity",
    (
        "additions",
        lambda each: [{"what": one.what, "of": each.pool, **_ADDITION(one)} for one in each.additions],
    ),
)
_VERDICT = Fields("killed", "p_value", "effect_size", "power", "better", "runs", "reason", "clear=is_clear")
_MUTANT = Fields(
    "name",
    "operator",
    ("cause", lambda mutant: mutant.cause or None),
    "title",
    "level",
    "standing",
    "runs",
    "triviality",
    "value",
    ("strength", lambda mutant: mutant.knob or None),
    ("place", lambda mutant: mutant.place or None),
    ("patch", lambda mutant: mutant.patch or None),
    ("note", lambda mutant: mutant.note or None),
    ("verdicts", _VERDICT),
    "scores",
)
_TRIED = Fields("killed", "survived", ("tried", lambda found: [value for value, _ in found.tried]))
MUTATION = Fields(
    "script",
    "arguments",
    "profile",
    ("metric", lambda result: {"name": measure_words(result), "higher_is_better": result.higher_is_better}),
    "paired",
    "seeds",
    "training",
    ("tests=sets", _SET),
    (
        "operators",
        lambda result: [{"code": code, "title": operator_words(code)} for code in result.operators],
    ),
    ("mutants", _MUTANT),
    (
        "strengths=turned",
        Fields("operator", "title", "mildest=scale.mildest", "extreme=scale.extreme", ("found", _TRIED)),
    ),
    "estimate",
    "trainings",
    "cached",
    "seconds",
    "stopped",
    "notes=problems",
)
