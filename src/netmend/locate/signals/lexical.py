"""Words that the report shares with a field of the file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from netmend.locate.answer import Reason
from netmend.locate.corpus import Corpus
from netmend.locate.facts import Field
from netmend.locate.postings import Floats
from netmend.locate.query import Query
from netmend.locate.signals.bm25 import BY_LENGTH, LATE_SATURATION, SATURATION, bm25, occurrences

_SHOWN = 6  # words in a reason
# How much long rows are held back: a long file has more to be wrong, a long path has not.
_BY_LENGTH = {Field.PATH: 0.3, Field.BASENAME: 0.3, Field.CLASSES: 0.3, Field.FUNCTIONS: 0.4}
_FRAGMENT = 2  # letters: `re` and `lr` say nothing to a reader
_CONTRACTED = frozenset(
    ("don", "doesn", "didn", "isn", "wasn", "won", "couldn", "wouldn", "shouldn", "aren", "haven", "hasn")
)
_PLACE = {
    Field.PATH: "in its path",
    Field.BASENAME: "in its name",
    Field.SUBJECTS: "in messages of its commits",
    Field.CLASSES: "in names of classes",
    Field.FUNCTIONS: "in names of functions",
    Field.VARIABLES: "in names of variables and parameters",
    Field.COMMENTS: "in comments and docstrings",
    Field.STRINGS: "in strings",
    Field.CALLS: "in calls",
    Field.IMPORTED: "in imports",
    Field.BODY: "in the file",
}


def part_of(query: Query, part: str) -> Mapping[str, float]:
    """The words of a part of the report: title, prose, code, or all (weighted)."""
    if part == "all":
        return query.weighted
    words: Mapping[str, float] = {"title": query.title, "prose": query.prose, "code": query.code}[part]
    return words


@dataclass(frozen=True)
class Lexical:
    """Words of one part of the report in one field."""

    field: Field
    part: str
    by_length: float | None = None
    raw: bool = False  # repeated words count each time
    variant: str = ""

    @property
    def name(self) -> str:
        return f"{self.field.value}_{self.part}{self.variant}"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        bag = part_of(query, self.part)
        return bm25(corpus.fields[self.field], bag, self._by_length, self._saturation, self.raw)

    @property
    def _by_length(self) -> float:
        return self.by_length if self.by_length is not None else _BY_LENGTH.get(self.field, BY_LENGTH)

    @property
    def _saturation(self) -> float:
        return (
            LATE_SATURATION
            if self.field is Field.BODY and self.part == "all" and not self.raw
            else SATURATION
        )

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        bag = part_of(query, self.part)
        found = occurrences(corpus.fields[self.field], bag, self._by_length, self._saturation)
        told = shown_words(query.shown.get(term, term) for term in found.best_terms(row))
        return [Reason("words", f"{', '.join(told)} {_PLACE[self.field]}", words=told)] if told else []


def shown_words(words: Iterable[str]) -> tuple[str, ...]:
    """Words that tell a reader something, each once."""
    kept = (word for word in dict.fromkeys(words) if len(word) > _FRAGMENT and word not in _CONTRACTED)
    return tuple(kept)[:_SHOWN]
