"""BM25: of whole files, and of four fields against title and description (BLUiR, Saha et al. 2013)."""

from __future__ import annotations

import numpy as np

from bench.locate.baselines.case import Case, Scores, Terms, numbers, spread
from netmend.locate.postings import Postings, sum_by_row

K1, B = 1.2, 0.75


def bm25(postings: Postings, query: Terms, k1: float = K1, b: float = B) -> Scores:
    """Okapi BM25 of every row for the query (a term asked twice counts twice)."""
    rows = postings.size
    asked, times = numbers(query)
    found = postings.find(asked)
    frequency = postings.frequency(asked)
    rarity = np.log1p((rows - frequency + 0.5) / (frequency + 0.5)) * times
    norm = k1 * (1 - b + b * postings.lengths / (postings.lengths.mean() or 1.0))
    parts = found.counts * (k1 + 1) / (found.counts + norm[found.rows]) * rarity[found.which]
    return sum_by_row(found.rows, parts, rows)


def whole_file(case: Case, k1: float = K1, b: float = B) -> Scores:
    """Plain BM25: the whole file against title and description."""
    return bm25(case.body, case.text, k1, b)


def bluir(case: Case, k1: float, b: float) -> Scores:
    """Eight similarities, each in the index of its own field, added with equal weight."""
    parts = [bm25(field, text, k1, b) for text in (case.title, case.description) for field in case.structure]
    return spread(np.sum(parts, axis=0))
