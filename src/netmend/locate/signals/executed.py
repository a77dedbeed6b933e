"""Files that a watched run of the program executed or blamed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netmend.locate.answer import Reason
from netmend.locate.corpus import Corpus
from netmend.locate.postings import Floats
from netmend.locate.query import Query
from netmend.locate.signals.path_matching import match_path


@dataclass(frozen=True)
class Executed:
    name: str = "executed"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        best = np.zeros(corpus.size)
        for place, path in enumerate(query.executed):
            match = match_path(corpus, path)
            for row in match.rows if match.whole or match.parts > 1 else ():
                best[row] = max(best[row], 1.0 / (1.0 + place) / len(match.rows))
        return best

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        hit = self.scores(query, corpus)[row] > 0
        return [Reason("run", "the watched run executed it")] if hit else []
