"""Pieces of the file that the report quotes: messages that the file can print, lines of its code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netmend.locate.answer import Reason
from netmend.locate.corpus import Corpus
from netmend.locate.facts import Field
from netmend.locate.parsing import shingles, squeeze
from netmend.locate.postings import Floats, sum_by_row
from netmend.locate.query import Query
from netmend.locate.signals.bm25 import rarity
from netmend.locate.words import term_number


@dataclass(frozen=True)
class Quoted:
    """Exact pieces that occur in the file, rare ones counting more."""

    name: str
    field: Field
    part: str  # messages | text | lines

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        pieces = self._pieces(query)
        postings = corpus.fields[self.field]
        numbers = np.fromiter(map(term_number, pieces), dtype=np.uint32, count=len(pieces))
        frequency = postings.frequency(numbers)
        weights = rarity(frequency, corpus.size) / np.sqrt(np.maximum(frequency, 1))
        found = postings.find(numbers)
        return sum_by_row(found.rows, weights[found.which], corpus.size)

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        pieces = self._pieces(query)
        postings = corpus.fields[self.field]
        numbers = np.fromiter(map(term_number, pieces), dtype=np.uint32, count=len(pieces))
        found = postings.find(numbers)
        here = [pieces[int(one)] for one in found.which[found.rows == row]]
        if not here:
            return []
        if self.field is Field.LINES:
            return [
                Reason(
                    "line",
                    f"holds {len(here)} line{'s' if len(here) > 1 else ''} of code that the report shows",
                )
            ]
        return [Reason("message", f"holds a string like “{_joined(here)}”")]

    def _pieces(self, query: Query) -> list[str]:
        report = query.report
        if self.part == "messages":
            texts = [report.title, *(failure.message for failure in report.failures)]
            return list(dict.fromkeys(piece for text in texts for piece in shingles(text)))
        if self.part == "text":
            return list(dict.fromkeys(shingles(report.text)))
        shown = [line for block in report.code for line in block.split("\n")]
        shown += [frame.code for trace in report.traces for frame in trace]
        return list(dict.fromkeys(filter(None, map(squeeze, shown))))


def _joined(pieces: list[str]) -> str:
    """The longest run of words that overlapping pieces make."""
    runs: list[list[str]] = []
    for piece in pieces:
        parts = piece.split()
        if runs and runs[-1][-2:] == parts[:-1]:
            runs[-1].append(parts[-1])
        else:
            runs.append(parts)
    return " ".join(max(runs, key=len)[:15])
