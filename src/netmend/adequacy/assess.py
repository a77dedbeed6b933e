"""The whole measurement: what a model does with its training data, its test set and perhaps a pool, judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from netmend.adequacy import orders as order
from netmend.adequacy.answers import NUMBERS, Answers, Meaning, answers_of, meaning_of
from netmend.adequacy.collected import Collected, Floats, Integers, finite_rows
from netmend.adequacy.coverage import Surprise as Measure
from netmend.adequacy.coverage import edges_of, out_of_fold, spread_coverage, surprise_cells, surprise_range
from netmend.adequacy.measures.label_orders import deep_gini
from netmend.adequacy.measures.surprises import distance_surprise, likelihood_surprise, mahalanobis_surprise
from netmend.adequacy.result import Adequacy, ClassRow, Coverage, SetFact, Surprise


def class_rows(train: Answers, test: Answers, reached: Mapping[int, float]) -> tuple[ClassRow, ...]:
    """A row for each class that either set holds; none where the model has no classes.

    Inputs belong to the class of their label; in sets that are not labelled throughout, to the class the model takes them for.
    """
    if train.probabilities is None or test.probabilities is None:
        return ()
    before, after = _classes(train), _classes(test)
    unsure = deep_gini(test.probabilities)
    rows = []
    for name in np.union1d(before[before >= 0], after[after >= 0]):
        own = after == name
        values = unsure[own & np.isfinite(unsure)]
        wrong = test.wrong
        rows.append(
            ClassRow(
                int(name),
                int((before == name).sum()),
                int(own.sum()),
                None if wrong is None or not own.any() else float(1.0 - wrong[own].mean()),
                reached.get(int(name)),
                float(values.mean()) if len(values) else None,
            )
        )
    return tuple(rows)


def _classes(answers: Answers) -> Integers:
    whole = answers.labels is not None and not (answers.labels < 0).any()
    return answers.labels if whole and answers.labels is not None else answers.predicted


SURPRISES: dict[str, Measure] = {
    "LSA": likelihood_surprise,
    "DSA": distance_surprise,
    "MDSA": mahalanobis_surprise,
}
_FOLDS = 10
_RARE = 95.0  # percentile of the training inputs from which on an input is called surprising


@dataclass(frozen=True)
class Side:
    """One set with the model's answers to it."""

    name: str
    collected: Collected
    answers: Answers

    @property
    def points(self) -> Floats:
        return self.collected.points

    def fact(self) -> SetFact:
        broken = ~finite_rows(self.points)
        if self.collected.outputs is not None:
            broken |= ~finite_rows(self.collected.outputs.astype(np.float64))
        one = self.collected
        return SetFact(self.name, len(one), one.total, self.answers.right, int(broken.sum()))


@dataclass(frozen=True)
class Surprised:
    """One surprise measure on all sets."""

    name: str
    told: Surprise
    test: Floats
    asked: Floats  # of the set that suggestions come from
    cells: dict[int, float]  # coverage of the test set inside each class


def assess(
    train: Collected,
    test: Collected,
    pool: Collected | None = None,
    *,
    task: str | None = None,
    count: int = 20,
    seed: int = 0,
) -> Adequacy:
    """Measure; the same data and seed give the same answer."""
    meaning = meaning_of(train, task)
    known, asked = (
        Side(name, one, answers_of(one, meaning)) for name, one in (("train", train), ("test", test))
    )
    extra = None if pool is None else Side("pool", pool, answers_of(pool, meaning))
    spread = spread_coverage(train.layers, test.layers, np.random.default_rng(seed))
    surprised = [_surprised(name, known, asked, extra, meaning, seed) for name in SURPRISES]
    source = extra or asked
    defined = [one for one in surprised if not one.told.reason]
    made = order.orders(
        source.answers, source.points, known.points, {one.name: one.asked for one in defined}, count
    )
    found = _found(known, asked, defined)
    wrong = asked.answers.wrong
    return Adequacy(
        task=meaning.task,
        sets=tuple(side.fact() for side in (known, asked, extra) if side is not None),
        trace_of=train.trace_of,
        layers=len(train.layers),
        spread=spread,
        surprises=tuple(one.told for one in surprised),
        classes=class_rows(known.answers, asked.answers, defined[-1].cells if defined else {}),
        source=source.name,
        suggestions=order.suggestions(made, source.collected.indices, source.answers, count),
        found=found,
        mistakes=None if wrong is None else int(wrong.sum()),
        notes=_notes(meaning, known, asked, extra),
    )


def _found(known: Side, asked: Side, defined: list[Surprised]) -> tuple[tuple[str, float], ...]:
    """How soon each order finds the known mistakes of the test set."""
    if asked.answers.wrong is None or not asked.answers.wrong.any():
        return ()
    whole = order.orders(
        asked.answers,
        asked.points,
        known.points,
        {one.name: one.test for one in defined},
        len(asked.collected),
    )
    return order.mistakes_found(whole, asked.answers)


def _surprised(
    name: str, known: Side, asked: Side, extra: Side | None, meaning: Meaning, seed: int
) -> Surprised:
    random = np.random.default_rng(
        seed
    )  # anew: what is said of the training data must not depend on the test set
    measure, traces, classes = SURPRISES[name], known.points, known.answers.predicted
    coverage_name = name.replace("SA", "SC")

    def of(side: Side) -> Floats:
        return measure(traces, classes, side.points, side.answers.predicted)

    def undefined(reason: str) -> Surprised:
        nothing = np.full(len(asked.collected), np.nan)
        told = Surprise(name, Coverage(coverage_name, reason=reason), reason=reason)
        return Surprised(name, told, nothing, nothing, {})

    if name == "DSA" and meaning.task == NUMBERS:
        return undefined("it compares classes, and the model has none")
    if name == "DSA" and len(np.unique(classes)) < 2:
        return undefined("it compares classes, and the model takes all training inputs for one")
    before = out_of_fold(measure, traces, classes, _FOLDS, random)
    edges = edges_of(before, classes)
    if not edges:
        return undefined("the training inputs do not vary where it was measured, or are too few")
    after = of(asked)
    told = Surprise(
        name,
        surprise_range(coverage_name, before, classes, after, asked.answers.predicted, random),
        *_places(before, after),
    )
    cells = surprise_cells(after, asked.answers.predicted, edges)
    return Surprised(name, told, after, after if extra is None else of(extra), cells)


def _places(before: Floats, after: Floats) -> tuple[float, float]:
    """Where the test inputs lie among the training inputs: share beyond nearly all, and place of the median."""
    before, after = before[~np.isnan(before)], after[~np.isnan(after)]
    if not len(before) or not len(after):
        return float("nan"), float("nan")
    limit = np.percentile(before, _RARE, method="higher")
    middle = np.sort(after)[(len(after) - 1) // 2]
    below = (before < middle).mean() + (before == middle).mean() / 2
    return float((after > limit).mean()), float(below)


def _notes(meaning: Meaning, *sides: Side | None) -> tuple[str, ...]:
    notes = []
    if meaning.assumed and meaning.task != NUMBERS:
        notes.append("no labels: outputs are taken for classes; give task='numbers' if they are not")
    for side in sides:
        if side is not None:
            notes += [f"{side.name}: {note}" for note in side.collected.notes]
    return tuple(dict.fromkeys(notes))
