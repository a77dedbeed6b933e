"""Words that the report shares with a whole folder, taken as one text."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from netmend.locate.answer import Reason
from netmend.locate.corpus import Corpus
from netmend.locate.facts import Field
from netmend.locate.postings import Floats, make_postings, sum_by_row
from netmend.locate.query import Query
from netmend.locate.signals.bm25 import bm25
from netmend.locate.signals.lexical import part_of
from netmend.locate.words import term_number


@dataclass(frozen=True)
class FolderWords:
    """Each file is given its folder's fit. `depth` cuts folders to so many parts; 0 takes them whole."""

    part: str
    depth: int = 0

    @property
    def name(self) -> str:
        return f"{'region' if self.depth else 'folder'}_{self.part}"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        folder_of = self._folders(corpus)
        body = corpus.fields[Field.BODY]
        bag = part_of(query, self.part)
        numbers = np.fromiter(map(term_number, bag), dtype=np.uint32, count=len(bag))
        found = body.find(numbers)
        count = int(folder_of.max(initial=-1)) + 1
        joined = make_postings(numbers[found.which], folder_of[found.rows], found.counts, count)
        # The lengths of the folders are those of all their words, not of the asked ones alone.
        whole = replace(joined, lengths=sum_by_row(folder_of, body.lengths, count))
        return bm25(whole, bag)[folder_of]

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        return []

    def _folders(self, corpus: Corpus) -> npt.NDArray[np.int64]:
        if not self.depth:
            return corpus.folders
        numbers: dict[str, int] = {}
        names = ("/".join(path.split("/")[:-1][: self.depth]) for path in corpus.paths)
        return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)
