"""A study of a reinforcement-learning program as it is told: operators, starts that reveal mutants, scores; page and JSON (docs/rl.md)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from netmend.mutate.agents.published import MEAN_SENSITIVITY, RLMUTATION_BEST, SOURCE, Row, rows_for
from netmend.mutate.agents.result import EDGE, REPLAY, STRONG, WEAK, RlStudy
from netmend.report.content import Column, Document, Grid, Number, Remark, clean, first_line
from netmend.report.machine import Fields
from netmend.report.templates import page

_MOST_STARTS = 8


def study_document(study: RlStudy) -> Document:
    """The outcome first, then the table, the starts that reveal mutants, the cost."""
    parts = (
        tuple(setting_remarks(study)),
        operator_grid(study),
        start_grid(study),
        mutant_grid(study),
        (*score_remarks(study), *end_remarks(study)),
    )
    return Document(*verdict_words(study), parts, wide=True)


def study_page(study: RlStudy) -> str:
    return page(
        "agents.html",
        study_document(study),
        f"{study.algorithm} in {study.environment}",
        setting=tuple(setting_remarks(study)),
        operators=operator_grid(study),
        scores=tuple(score_remarks(study)),
        starts=replace(start_grid(study), caption=""),
        mutants=replace(mutant_grid(study), caption=""),
        cost=tuple(end_remarks(study)),
    )


def verdict_words(study: RlStudy) -> tuple[str, str]:
    """Tone and the first line: how many mutants, and who kills how many."""
    if study.stopped and not study.scored:
        return "warn", study.stopped
    scored = study.scored
    if not scored:
        return "warn", "no mutant is killable and not trivial: these tests cannot be judged"
    strong = sum(bool(each.killed.get(STRONG)) for each in scored)
    weak = sum(bool(each.killed.get(WEAK)) for each in scored)
    return (
        "good" if strong > weak else "plain",
        f"{len(scored)} mutants worth killing: weak tests kill {weak}, strong tests {strong}",
    )


def setting_remarks(study: RlStudy) -> Iterator[Remark]:
    yield Remark(
        "agent",
        f"{study.algorithm} in {study.environment}, {study.runs} trainings each, profile {study.profile}",
    )
    yield Remark("failed", study.criterion)
    shares = ", ".join(f"{share:.0%}" for share in study.original_failures)
    yield Remark("original", f"fails at {shares} of random starts")


def operator_grid(study: RlStudy) -> Grid:
    """One row per operator; published values beside ours where there are any."""
    own = [name for name in study.generators if name not in (REPLAY, WEAK, STRONG, EDGE)]
    published = rows_for(study.environment, study.algorithm)

    def rate(name: str, **settings: Any) -> Column:
        return Number(clean(name), lambda each: _figure(each.rates.get(name)), **settings)

    return Grid.of(
        study.operators,
        Column("operator", lambda each: f"{each.code} {each.title}"),
        Column("µPRL", lambda each: each.published),
        Column(
            "mildest killed mutant",
            lambda each: each.verdict if each.chosen is None else clean(each.chosen.title),
            spare=1,
        ),
        Number("tried", lambda each: str(len(each.tried)), spare=4),
        Number("killable", lambda each: _figure(each.killable if each.tried else None), spare=2),
        Number("trivial", lambda each: _figure(each.trivial if each.tried else None), spare=3),
        rate(WEAK, hint="share of pairs that the weak generator kills"),
        rate(STRONG),
        rate(EDGE, spare=1),
        *map(rate, own),
        Number("sens.", lambda each: _figure(each.sensitivity()), hint="(strong − weak) / strong"),
        Number("published", lambda each: _published(published.get(each.published)), spare=1, hint=SOURCE),
        note="Numbers are kill rates: the share of trainings in which the mutant fails significantly more often than the original.",
    )


def _published(row: Row | None) -> str:
    """A dash as in the table, where the operator was looked at and nothing could be scored."""
    if row is None:
        return ""
    return "–" if row.sensitivity is None else f"{row.sensitivity:.2f}"


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def score_remarks(study: RlStudy) -> Iterator[Remark]:
    for name in study.generators:
        score = study.score(name)
        if score is not None and name != REPLAY:
            yield Remark("score", f"{clean(name)} {score:.2f}")
    ours = study.sensitivity()
    if ours is not None:
        yield Remark(
            "sensitivity", f"{ours:.2f} over all {len(study.scored)} operators (strong against weak)"
        )
    edge = study.sensitivity(EDGE)
    if edge is not None:
        yield Remark("sensitivity", f"{edge:.2f} with the edge generator instead of the strong one")
    mean = rows_for(study.environment, study.algorithm).get("mean")
    if mean is not None and mean.sensitivity is not None:
        same = study.sensitivity(published_only=True)
        told = (
            "no operator of µPRL's is scored here"
            if same is None
            else f"{same:.2f} over the operators that µPRL has"
        )
        yield Remark("sensitivity", f"{told}; published for this pair {mean.sensitivity:.2f}")
        yield Remark(
            "published",
            f"µPRL's mean over its eight pairs {MEAN_SENSITIVITY:.2f}, RLMutation's best {RLMUTATION_BEST:.2f} ({SOURCE})",
            tone="muted",
        )


def start_grid(study: RlStudy) -> Grid:
    """Starts that are worth keeping as tests, and the mutants that they reveal."""
    return Grid.of(
        study.covering[:_MOST_STARTS],
        Column("start", lambda each: clean(each.words)),
        Column("from", lambda each: each.generator, spare=2),
        Number("reveals", lambda each: str(len(each.reveals))),
        Column("mutants", lambda each: "; ".join(map(clean, each.reveals)), spare=1),
        caption="starts to keep as tests: each shows the mutants named in at least half of the trainings",
    )


def mutant_grid(study: RlStudy) -> Grid:
    """Per mutant the start that tells it from the original most often."""
    return Grid.of(
        ((each.chosen, each.revealing[0] if each.revealing else None) for each in study.scored),
        Column("mutant", lambda pair: clean(pair[0].title)),
        Column(
            "most revealing start",
            lambda pair: clean(pair[1].words) if pair[1] else "no start tells it from the original",
        ),
        Number("of pairs", lambda pair: f"{pair[1].share:.0%}" if pair[1] else ""),
        Column("from", lambda pair: pair[1].generator if pair[1] else "", spare=1),
        caption="what reveals each mutant",
    )


def end_remarks(study: RlStudy) -> Iterator[Remark]:
    if study.estimate is not None and study.stopped:
        yield Remark("estimate", study.estimate.words)
    new = study.trainings - study.cached
    yield Remark(
        "cost",
        f"{study.trainings} trials ({new} new), {study.cpu_seconds / 60:.1f} min of processor time",
        tone="muted",
    )
    for problem in study.problems:
        yield Remark("note", first_line(problem), tone="warn")
    if study.stopped:
        yield Remark("stopped", study.stopped, tone="warn")


def _original_data(study: RlStudy) -> dict[str, object]:
    return {"failure_shares": study.original_failures, "mean_returns": study.original_returns}


def _published_data(study: RlStudy) -> dict[str, object]:
    return {
        "source": SOURCE,
        "mean_over_pairs": MEAN_SENSITIVITY,
        "rlmutation_best": RLMUTATION_BEST,
        "rows": rows_for(study.environment, study.algorithm),
    }


def _sensitivity_data(study: RlStudy) -> dict[str, float | None]:
    return {
        "strong": study.sensitivity(STRONG),
        "edge": study.sensitivity(EDGE),
        "strong_on_published_operators": study.sensitivity(STRONG, published_only=True),
        "edge_on_published_operators": study.sensitivity(EDGE, published_only=True),
    }


_OPERATOR = Fields(
    "code",
    "published",
    "title",
    "verdict",
    "killable",
    "trivial",
    ("tried", lambda each: [{**asdict(one), "is_trivial": one.is_trivial} for one in each.tried]),
    "chosen",
    ("lines", lambda each: [{"file": file, "line": line} for file, line in each.lines]),
    "kill_rates=rates",
    "killed",
    ("sensitivity", lambda each: each.sensitivity()),
    "revealing",
)
STUDY = Fields(
    ("kind", lambda study: "reinforcement learning"),
    "script",
    "algorithm",
    "environment",
    "failed=criterion",
    "profile",
    "runs",
    ("original", _original_data),
    "generators",
    ("scores", lambda study: {name: study.score(name) for name in study.generators}),
    ("sensitivity", _sensitivity_data),
    ("published", _published_data),
    ("operators", _OPERATOR),
    "starts=covering",
    "trials=trainings",
    "cached",
    "seconds",
    "cpu_seconds",
    "estimate",
    "stopped",
    "problems",
)
