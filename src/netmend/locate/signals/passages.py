"""Words that the report shares with single functions: in a long file the whole drowns what one function says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netmend.locate.answer import Reason
from netmend.locate.corpus import Corpus
from netmend.locate.postings import Floats
from netmend.locate.query import Query
from netmend.locate.signals.bm25 import bm25
from netmend.locate.signals.lexical import part_of


@dataclass(frozen=True)
class BestPassages:
    """The sum over the functions of the file that fit best."""

    part: str
    most: int = 1

    @property
    def name(self) -> str:
        return f"passage_{self.part}" + (f"_top{self.most}" if self.most > 1 else "")

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        fit = bm25(corpus.passages, part_of(query, self.part))
        total = np.zeros(corpus.size)
        if self.most == 1:
            np.maximum.at(total, corpus.passage_files, fit)
            return total
        order = np.lexsort((-fit, corpus.passage_files))
        owners = corpus.passage_files[order]
        # Place of each passage among those of its file, best first.
        new = np.concatenate(([True], owners[1:] != owners[:-1])) if len(owners) else np.empty(0, bool)
        firsts = np.flatnonzero(new)
        place = np.arange(len(owners)) - np.repeat(firsts, np.diff(np.append(firsts, len(owners))))
        kept = place < self.most
        np.add.at(total, owners[kept], fit[order][kept])
        return total

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        return []  # the functions themselves are shown
