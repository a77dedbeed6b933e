"""Inputs that are worth a label next, as a table for a spreadsheet or a labelling tool."""

from __future__ import annotations

import csv
from io import StringIO

from netmend.adequacy.result import Adequacy

COLUMNS = ("method", "rank", "index", "score", "predicted")


def suggestions_csv(found: Adequacy) -> str:
    """A line for each method and rank; empty where a method only orders, or the model has no classes."""
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in found.suggestions:
        for rank, pick in enumerate(one.inputs, 1):
            score = "" if pick.score is None else f"{pick.score:.6g}"
            writer.writerow(
                (one.method, rank, pick.index, score, "" if pick.predicted is None else pick.predicted)
            )
    return stream.getvalue()
