"""BugLocator (Zhou, Zhang, Lo 2012) and what others took from it: the revised vector space and similar reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from bench.locate.baselines.case import Case, Scores, Terms, numbers, spread
from netmend.locate.postings import Postings, sum_by_row

ALPHA = 0.2  # the weight of similar reports, constant in the published code


def buglocator(case: Case, alpha: float = ALPHA) -> Scores:
    return (1 - alpha) * spread(revised(case.body, case.text)) + alpha * similar_reports(case)


def revised(postings: Postings, query: Terms) -> Scores:
    """rVSM: cosine of (1 + ln tf) · ln(N / df) weights, times a logistic function of the file's length."""
    return long_files(postings.lengths) * cosine(postings, query)


def long_files(lengths: Scores) -> Scores:
    """g: longer files are likelier to have faults; between 0.5 and 0.73."""
    return 1 / (1 + np.exp(-spread(lengths)))


def cosine(postings: Postings, query: Terms) -> Scores:
    rows = postings.size
    if not len(postings.terms):
        return np.zeros(rows)
    frequency = np.diff(postings.starts)
    rarity = np.log(rows / frequency)
    weights = (1 + np.log(postings.counts)) * np.repeat(rarity, frequency)
    sizes = np.sqrt(sum_by_row(postings.rows, weights**2, rows))
    asked, times = numbers(query)
    found = postings.find(asked)
    held = postings.frequency(asked)
    rare = np.log(rows / np.maximum(held, 1)) * (held > 0)
    wanted = (1 + np.log(np.maximum(times, 1))) * rare
    parts = (1 + np.log(found.counts)) * rare[found.which] * wanted[found.which]
    products = sum_by_row(found.rows, parts, rows)
    sizes *= np.linalg.norm(wanted)
    return np.divide(products, sizes, out=np.zeros(rows), where=sizes > 0)


def similar_reports(case: Case) -> Scores:
    """SimiScore: reports fixed before give their likeness to the files they changed, shared between them; largest is 1.

    The published code also takes later reports; here only what was known when the report was opened.
    """
    scores = np.zeros(case.size)
    likeness = report_likeness(case.text, [report.terms for report in case.before])
    for report, like in zip(case.before, likeness, strict=True):
        for number in report.files:
            scores[number] += like / report.changed
    return scores / scores.max() if len(scores) and scores.max() > 0 else scores


def report_likeness(query: Terms, others: Sequence[Terms]) -> Scores:
    """Cosine of the query with each of the other texts; rarity is counted over all of them."""
    frequency = Counter(term for text in (query, *others) for term in text)
    total = len(others) + 1
    vectors = [
        {
            term: (1 + np.log(count)) * np.log(total / frequency[term])
            for term, count in text.items()
            if count > 0
        }
        for text in (query, *others)
    ]
    sizes = [float(np.sqrt(sum(value * value for value in vector.values()))) for vector in vectors]
    asked = vectors[0]
    likeness = np.zeros(len(others))
    for number, (vector, size) in enumerate(zip(vectors[1:], sizes[1:], strict=True)):
        if size and sizes[0]:
            product = sum(value * asked.get(term, 0.0) for term, value in vector.items())
            likeness[number] = product / (size * sizes[0])
    return likeness
