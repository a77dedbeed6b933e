"""The adequacy of a test set as it is told: one plain sentence for each measure; and its JSON (docs/adequacy.md)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from netmend.adequacy.result import (
    ALIKE,
    LESS,
    MORE,
    Adequacy,
    ClassRow,
    Coverage,
    SetFact,
    Suggestion,
    Surprise,
)
from netmend.report.content import Document, Grid, Number, Remark, clean
from netmend.report.machine import Fields
from netmend.report.numbers import count, measure, plural, share

EASY = 0.35  # the median test input lies below this share of the training inputs: mostly what the model knows well
STRANGE = 0.15  # share of test inputs beyond 95 % of the training inputs: three times what is usual
FEW = 0.5  # of what all training inputs reach: a test set below it is too small to show most of what the model meets
SHOWN = ("DeepGini", "MCP", "DSA", "MDSA", "CoreSet")  # all methods are in the files
_MOST_CLASSES = 20
_LISTED = 10  # names of classes or inputs in one line
_STANDINGS = {
    LESS: "less than the training data",
    ALIKE: "about as much as the training data",
    MORE: "more than the training data",
}


_NAMES = (
    "NLC: neural coverage; LSA, DSA, MDSA: surprise by likelihood, by distance to other classes, by distance from the own class; "
    "LSC, DSC, MDSC: how much of its range is covered; netmend explain NLC tells more"
)


def adequacy_document(result: Adequacy) -> Document:
    """The outcome first, then what a person needs to judge it."""
    return Document(
        *verdict_words(result),
        (
            tuple(set_remarks(result)),
            tuple(measure_remarks(result)),
            classes_grid(result, _MOST_CLASSES),
            tuple(next_remarks(result)),
            tuple(end_remarks(result)),
        ),
    )


def verdict_words(result: Adequacy) -> tuple[str, str]:
    """The tone and the outcome in a few words."""
    standings = {one.standing for one in result.coverages if not one.reason}
    if result.missing:
        names = _names([str(name) for name in result.missing])
        has = "class has" if len(result.missing) == 1 else "classes have"
        return "bad", f"{len(result.missing)} {has} no test input: {names}"
    if not standings:
        return "warn", "Nothing could be measured"
    if strange(result):  # first: what lies beyond the range of the training data reaches less of it
        return "warn", "The test set has many inputs unlike the training data"
    weak = [one.name for one in result.coverages if one.standing == LESS]
    if weak:
        words = f"The test set covers less than the same number of training inputs would ({', '.join(weak)})"
        return "warn", words
    if few(result):
        looked = plural(result.sets[1].looked, "test input")
        return "warn", f"{looked} cover less than half of the training data's range of surprise: too few"
    if easy(result):
        return "warn", "The test set has mostly inputs that the model knows well"
    return "good", "The test set covers about as much as the same number of training inputs"


def few(result: Adequacy) -> bool:
    known = [one.coverage for one in result.surprises if not one.coverage.reason]
    return bool(known) and all(one.value < FEW * one.everything for one in known)


def easy(result: Adequacy) -> bool:
    known = [one.middle for one in result.surprises if not one.reason and not math.isnan(one.middle)]
    return bool(known) and max(known) < EASY


def strange(result: Adequacy) -> bool:
    known = [one.beyond for one in result.surprises if not one.reason and not math.isnan(one.beyond)]
    return bool(known) and min(known) > STRANGE


def set_remarks(result: Adequacy) -> Iterator[Remark]:
    """What was looked at."""
    for one in result.sets:
        yield Remark(one.name, set_words(one), tone="warn" if one.not_finite else "plain")
    yield Remark(
        "seen", f"{plural(result.layers, 'layer')}; surprise: {clean(result.trace_of)}", tone="muted"
    )


def set_words(one: SetFact) -> str:
    words = plural(one.looked, "input")
    if one.total is not None and one.total != one.looked:
        words += f" of {count(one.total)}"
    if one.right is not None:
        words += f", {share(one.right)} correct"
    if one.not_finite:
        words += f"; for {count(one.not_finite)} of them the model's numbers are not finite"
    return words


def measure_remarks(result: Adequacy) -> Iterator[Remark]:
    """One sentence for each measure."""
    yield Remark(result.spread.name, spread_words(result.spread), tone=_tone(result.spread.standing))
    for one in result.surprises:
        yield Remark(one.coverage.name, coverage_words(one.coverage), tone=_tone(one.coverage.standing))
    for one in result.surprises:
        if not one.reason:
            yield Remark(one.name, surprise_words(one))


def spread_words(one: Coverage) -> str:
    if one.reason:
        return f"not measured: {one.reason}"
    words = (
        f"the layers vary {measure(one.relative)} times as widely as on {count(one.size)} training inputs "
        f"({_range(one)}): {_STANDINGS[one.standing]}"
    )
    beyond = {LESS: lambda ratio: ratio < 1, MORE: lambda ratio: ratio > 1}.get(one.standing)
    odd = [part for part in one.parts if beyond is not None and beyond(part[1])]
    if odd:
        odd.sort(key=lambda part: -abs(math.log(max(part[1], 1e-12))))
        words += f"; most in {', '.join(f'{clean(name)} {measure(ratio)}' for name, ratio in odd[:3])}"
    return words


def coverage_words(one: Coverage) -> str:
    if one.reason:
        return f"not measured: {one.reason}"
    return (
        f"{share(one.value)} of the range of surprise is reached (all training inputs: {share(one.everything)}), "
        f"{measure(one.relative)} times what {count(one.size)} training inputs reach ({_range(one)}): "
        f"{_STANDINGS[one.standing]}"
    )


def surprise_words(one: Surprise) -> str:
    words = f"{share(one.beyond)} of the test inputs are more surprising than 95 % of the training inputs"
    if one.beyond > STRANGE:
        return f"{words} (5 % is usual): many are unlike the training data"
    if one.middle < EASY:
        return f"{words}; the median one less than {share(1 - one.middle)} of them: mostly what the model knows well"
    return f"{words} (5 % is usual)"


def classes_grid(result: Adequacy, most: int | None = None) -> Grid:
    """The classes; those that need a look first where not all are shown."""
    rows = list(result.classes)
    note = ""
    if most is not None and len(rows) > most:
        rows = sorted(sorted(rows, key=_need)[:most], key=lambda row: row.name)
        note = f"{most} of {len(result.classes)} classes, those with the least; all are in --json."
    return Grid.of(
        rows,
        Number("class", lambda row: str(row.name)),
        Number("training", lambda row: count(row.train), spare=1),
        Number("test", lambda row: count(row.test) if row.test else "none"),
        Number("right", lambda row: _if_known(row.right, share)),
        Number(
            "reached", lambda row: _if_known(row.reached, share), hint="surprise coverage inside the class"
        ),
        Number("unsure", lambda row: _if_known(row.unsure, measure), spare=2, hint="mean DeepGini"),
        caption="classes",
        note=note,
    )


def _if_known(value: float | None, words: Callable[[float], str]) -> str:
    return "" if value is None else words(value)


def _need(row: ClassRow) -> tuple[bool, float, int]:
    return (row.test > 0, row.reached if row.reached is not None else 1.0, row.test)


def next_remarks(result: Adequacy) -> Iterator[Remark]:
    """Inputs to label next, the best method first, and how that is known."""
    if result.source == "test":
        yield Remark(
            "look at", "inputs of the test set; give a pool to choose new ones to label", tone="muted"
        )
    else:
        yield Remark("label next", "indices of pool inputs, most valuable first", tone="muted")
    known = {one.method: one for one in result.suggestions}
    best = result.found[0][0] if result.found else ""
    for method in dict.fromkeys((best, *SHOWN)):
        if method in known and known[method].inputs:
            yield Remark(method, picked_words(known[method]), tail=_apfd(result, method))
    if result.found:
        values = dict(result.found)
        yield Remark(
            "known",
            f"of {plural(result.mistakes or 0, 'mistake')} in the test set, {best} finds them soonest "
            f"(APFD {measure(values[best])}; a random order has 0.500)",
        )
    elif result.mistakes == 0:
        yield Remark("known", "the model makes no mistake on the test set, so the orders cannot be compared")


def picked_words(one: Suggestion) -> str:
    words = ", ".join(str(pick.index) for pick in one.inputs[:_LISTED])
    return words + (" …" if len(one.inputs) > _LISTED else "")


def end_remarks(result: Adequacy) -> Iterator[Remark]:
    for note in result.notes:
        yield Remark("note", clean(note), tone="muted")
    yield Remark("names", _NAMES, tone="muted")
    yield Remark(
        "limits",
        "these measures say what a test set covers, not whether the model is right; limits: docs/adequacy.md",
        tone="muted",
    )


def _apfd(result: Adequacy, method: str) -> str:
    value = dict(result.found).get(method)
    return "" if value is None else f"(APFD {measure(value)})"


def _names(names: list[str]) -> str:
    return ", ".join(names[:_LISTED]) + (" …" if len(names) > _LISTED else "")


def _range(one: Coverage) -> str:
    return f"{measure(max(0.0, 1 - one.deviation))} to {measure(1 + one.deviation)} is usual"


def _tone(standing: str) -> str:
    return "warn" if standing == LESS else "plain"


_SET = Fields("name", "looked", "total", "right", "not_finite")
_COVERAGE = Fields(
    "name",
    "value",
    "everything",
    "size",
    "relative",
    "deviation",
    "samples",
    ("layers", lambda one: [{"layer": name, "relative": ratio} for name, ratio in one.parts]),
    "standing",
    "reason",
)
_SURPRISE = Fields("name", "beyond", "middle", "reason")
_CLASS = Fields("class=name", "train", "test", "right", "reached", "unsure")
_SUGGESTION = Fields("method", ("inputs", Fields("index", "score", "predicted")))
ADEQUACY = Fields(
    ("summary", lambda result: verdict_words(result)[1]),
    "task",
    ("sets", _SET),
    "layers",
    "trace_of",
    ("coverages", _COVERAGE),
    ("surprises", _SURPRISE),
    ("classes", _CLASS),
    "missing_classes=missing",
    "source",
    ("suggestions", _SUGGESTION),
    "mistakes",
    ("apfd", lambda result: [{"method": method, "value": value} for method, value in result.found]),
    "notes",
)
