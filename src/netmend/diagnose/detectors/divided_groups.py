"""Divisions of rows that part what belongs together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import SITE, trace_of
from netmend.diagnose.measures.preparation import prepared
from netmend.unit import calibrated, convention
from netmend.vocabulary import PreparationFact, Symptom, Trace


def _divided(**seen: float | str | bool) -> Trace:
    """Slices of sixty patients are divided one by one; all slices of a patient have the same answer."""
    usual: dict[str, float | str | bool] = {
        "rows": 810, "rows_tested": 270, "identity": "patient", "of_files": False, "groups": 60, "rows_each": 18.0, "in_both": 1.0,
        "same_answer": 1.0, "same_answer_usual": 0.5, "order": 0.5, "neighbours": 0.5,
    }  # fmt: skip
    call = "sklearn.model_selection.ShuffleSplit.split"
    return trace_of(PreparationFact("split@train.py:20", call, "split", SITE, seen=usual | seen))


class GroupsInBothParts(Detector, code="D840"):
    """Rows of one person, recording or object lie in the training and in the test part, and the answer belongs to the person.

    Rows were drawn one by one although a column or the file names tell whose they are. Where all rows of one share the answer, a network that
    recognises them again answers rightly without knowing anything about the task; on people it has not seen it fails.
    """

    shared = convention(
        0.5, "share of the test rows whose group is trained on; drawn row by row it is nearly all"
    )
    certainty = calibrated(
        0.7, "how much more often rows of one group have the same answer than any rows, of what is possible"
    )
    drawn = convention(
        0.2, "test rows behind and before the training rows of their group: a holdout by time has all behind"
    )

    HEALTHY = {
        "divided by patient": lambda: _divided(in_both=0.0),
        "the answer varies within each": lambda: _divided(same_answer=0.6),
        "the last rows of each are held out": lambda: _divided(order=1.0),
        "a quantity, whose neighbours answer alike": lambda: _divided(identity="age", neighbours=0.98),
        "one row each": lambda: _divided(groups=700, rows_each=1.0, in_both=0.3),
    }  # fmt: skip
    FAULTY = {
        "slices of patients": lambda: _divided(),
        "variants of one picture": lambda: _divided(identity="file without its last part", of_files=True, groups=300, rows_each=4.0, in_both=0.95),
        "a few rows answer otherwise": lambda: _divided(same_answer=0.92),
    }  # fmt: skip

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for fact in prepared(trace, "split"):
            seen = fact.seen
            if "identity" not in seen or seen["rows_each"] < 2 or seen["in_both"] < self.shared:
                continue
            if not self.drawn <= seen["order"] <= 1 - self.drawn or _certainty(fact) < self.certainty:
                continue
            if _share(seen["neighbours"], seen["same_answer_usual"]) >= self.certainty:
                continue
            of = "the beginnings of file names tell" if seen["of_files"] else f"`{seen['identity']}` tells"
            message = (
                f"Rows were divided one by one, though {of} {seen['groups']} apart with {seen['rows_each']:.0f} rows each: "
                f"{seen['in_both']:.0%} of the {seen['rows_tested']} test rows are of one that is trained on. Two rows of one have the same target in "
                f"{seen['same_answer']:.0%} of cases, any two rows in {seen['same_answer_usual']:.0%}."
            )
            yield self.symptom(
                message, fact.name, seen["in_both"], self.shared, {**seen, "call": fact.call}, site=fact.site
            )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        mixed = [
            fact
            for fact in prepared(trace, "split")
            if fact.seen.get("in_both", 0) >= self.shared
            and self.drawn <= fact.seen["order"] <= 1 - self.drawn
        ]
        return {"certainty": max(map(_certainty, mixed))} if mixed else {}


def _certainty(fact: PreparationFact) -> float:
    return _share(fact.seen["same_answer"], fact.seen["same_answer_usual"])


def _share(value: float, usual: float) -> float:
    """How much of the way from what is usual to certainty."""
    return (value - usual) / (1 - usual) if usual < 1 else 0.0
