"""Names in the report that the file defines: functions, methods, constants, classes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from netmend.locate.answer import Reason
from netmend.locate.corpus import Corpus
from netmend.locate.facts import Field
from netmend.locate.postings import Floats, sum_by_row
from netmend.locate.query import Query
from netmend.locate.words import term_number

_MIXED = re.compile(r"_|[a-z][A-Z]|[A-Z]{2,}[a-z]|\d")
_PLAIN = 0.25  # what a plain English word that is also a name counts


@dataclass(frozen=True)
class DefinedNames:
    """Rarely defined names count most: `fit` is defined everywhere, `bias_act` once."""

    field: Field
    part: str  # title | all | called

    @property
    def name(self) -> str:
        return f"{self.field.value}_{self.part}"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        terms = list(self._asked(query))
        postings = corpus.fields[self.field]
        numbers = np.fromiter(map(term_number, terms), dtype=np.uint32, count=len(terms))
        frequency = postings.frequency(numbers)
        weights = np.log1p(corpus.size / np.maximum(frequency, 1)) / np.sqrt(np.maximum(frequency, 1))
        weights *= np.array([1.0 if _MIXED.search(term) else _PLAIN for term in terms])
        found = postings.find(numbers)
        return sum_by_row(found.rows, weights[found.which], corpus.size)

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        terms = list(self._asked(query))
        postings = corpus.fields[self.field]
        numbers = np.fromiter(map(term_number, terms), dtype=np.uint32, count=len(terms))
        found = postings.find(numbers)
        frequency = postings.frequency(numbers)
        here = sorted({int(one) for one in found.which[found.rows == row]}, key=lambda one: frequency[one])
        told = [terms[one] for one in here if _MIXED.search(terms[one])][:4]
        return [Reason("name", f"defines {', '.join(told)}, which the report names")] if told else []

    def _asked(self, query: Query) -> Mapping[str, int]:
        asked = {"title": query.title_names, "all": query.names, "called": query.called}
        return asked[self.part]
