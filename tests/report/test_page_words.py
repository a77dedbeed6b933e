"""What pages and summaries say: nothing twice, nothing empty, no figure that means nothing, changes that say where they go."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import numpy as np
import sample

from netmend.report.code import changed_lines
from netmend.report.run.curves import curves, telling_curves
from netmend.report.run.diagnosis import diagnosis_text
from netmend.report.run.overhead import overhead_words
from netmend.report.run.overview import remarks
from netmend.report.run.page import key_figures, run_page
from netmend.report.run.sections import evaluation_section, orders, protocol_section
from netmend.report.run.wording import metric_name, verdict_words
from netmend.report.terminal import console
from netmend.vocabulary import (
    CRASHED,
    FAULTY,
    Call,
    Diagnosis,
    Evidence,
    Fault,
    LossFact,
    OperandFact,
    Pattern,
    Table,
    Trace,
)
from netmend.vocabulary.change import Patch


def text_of(diagnosis: Diagnosis) -> str:
    target = console(io.StringIO())
    target.width = 100
    target.print(diagnosis_text(sample.healthy(), diagnosis), crop=False)
    return " ".join(str(target.file.getvalue()).split())  # type: ignore[attr-defined]


def test_a_verdict_begins_with_a_capital() -> None:
    assert verdict_words(Diagnosis(CRASHED, headline="crashed at a.py:3"))[1] == "Crashed at a.py:3"


def test_what_stands_above_the_faults_is_not_said_again_with_one_of_them() -> None:
    story = "The loss shot up to 7.44e+04; `net.0` died."
    fault = Fault(
        "PRE-MISS-NORM", 0.9, "net", sample.at(3), "Large.", "Why.", "Do.", "Not if.",
        (Evidence(story, 2.0, "D130"), Evidence("Another thing.", 1.0, "D402")),
    )  # fmt: skip
    diagnosis = Diagnosis(FAULTY, (fault,), story=(story,))
    text = text_of(diagnosis)
    assert text.count("74,400") == 1 and "Another thing." in text
    assert "<code>net.0</code> died" in run_page(sample.healthy(), diagnosis=diagnosis)


def test_evidence_that_the_summary_holds_is_not_said_again() -> None:
    first, story = "The weights grew 9-fold.", "The loss shot up."
    fault = Fault(
        "HYP-LR-HIGH", 0.9, "net", sample.at(3), f"{first} {story}", "Why.", "Use 0.005 instead of 1e-05.", "Not if.",
        (Evidence(first, 2.0, "D101"), Evidence("Another thing.", 1.0, "D402")),
    )  # fmt: skip
    text = text_of(Diagnosis(FAULTY, (fault,), story=(story,)))
    assert text.count(first) == 1 and text.count(story) == 1 and "Another thing." in text
    assert "instead of 1e-5." in text


def test_lines_that_only_come_stand_below_the_one_they_follow_and_keep_their_indentation() -> None:
    diff = "--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,5 @@\n def f(x):\n     x = x + 1\n+    if x:\n+        x = 2\n     return x\n"
    told = [(line.kind, line.text) for line in changed_lines(Patch("", (), diff))][1:]
    assert told == [("same", "  x = x + 1"), ("new", "+ if x:"), ("new", "+     x = 2")]


def test_orders_that_differ_in_counts_or_copies_of_a_loader_are_one() -> None:
    def pattern(name: str, times: int, spans: tuple[tuple[int, int], ...]) -> Pattern:
        return Pattern((Call("batch", name), Call("forward", "net", "", sample.at(5), times)), spans)

    found = [
        pattern("loader", 3, ((0, 1),)),
        pattern("loader#2", 5, ((2, 2),)),
        pattern("other", 1, ((3, 3),)),
    ]
    trace = replace(sample.healthy(), patterns=tuple(found))
    first, second = orders(trace)
    assert first.pattern.spans == ((0, 2),) and first.most == (1, 5)
    assert [row[-1] for row in protocol_section(trace).grids[0].rows] == ["", "3–5×"]
    assert second.pattern.calls[0].component == "other"


def test_columns_of_evaluation_that_hold_nothing_are_left_out() -> None:
    rows = Table.of("evaluation", "net", {9: (np.nan, np.nan, np.nan, 0.0, 3.0, 0.0, 0.0)})
    (grid,) = evaluation_section(Trace(tables={("evaluation", "net"): rows})).grids
    assert [column.title for column in grid.columns] == ["step", "batches", "mode"]


def test_yes_and_no_have_an_accuracy_whatever_number_stands_for_yes() -> None:
    trace = sample.healthy()
    name = "binary_cross_entropy@train.py:9"
    target = OperandFact("target", (8, 1), "float32", 0.9, 0.9, 0.9, 0.0, distinct=1)
    loss = LossFact(name, "binary_cross_entropy", operands=(target,))
    scores = Table.of("progress", name, {0: (0.7, 0.7, 1.0), 5: (0.7, 0.7, 0.0)})
    single = Trace({**trace.facts, "loss": {name: loss}}, {("progress", name): scores})
    assert metric_name(single) == "accuracy"
    # Of batches that are all yes or all no, it jumps between 0 and 1 and says nothing.
    assert not [remark for remark in remarks(single) if remark.label == "accuracy"]
    assert "accuracy" not in [curve.title for curve in curves(single)]


def test_a_rate_that_never_changed_has_no_curve() -> None:
    trace = sample.healthy()
    key = next(key for key in trace.tables if key[0] == "rate")
    for values, there in (({0: (0.1,)}, False), ({0: (0.1,), 50: (0.01,)}, True)):
        tables = {**trace.tables, key: Table.of("rate", key[1], values)}
        titles = [curve.title for curve in telling_curves(replace(trace, tables=tables))]
        assert ("learning rate" in titles) is there


def test_overhead_is_said_once_and_alike() -> None:
    trace = sample.healthy()
    (tile,) = (figure for figure in key_figures(trace) if figure.label == "overhead")
    assert f"{tile.value} {tile.beside}" == overhead_words(trace.run)
    assert "own time" not in re.sub("<[^>]+>", "", run_page(trace))
