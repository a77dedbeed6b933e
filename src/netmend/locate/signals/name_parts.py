"""Names of files and folders that occur as words of the report."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from netmend.locate.answer import Reason
from netmend.locate.corpus import Corpus
from netmend.locate.postings import Floats
from netmend.locate.query import Query

_SHORTEST = 3  # letters; shorter names are words of other things


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


@dataclass(frozen=True)
class FileName:
    """The file's name without .py is a word of the title or text; shared by the files of that name."""

    part: str  # title | all

    @property
    def name(self) -> str:
        return f"file_name_{self.part}"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        said = {_plain(name) for name in (query.title_names if self.part == "title" else query.names)}
        stems = [_plain(path.rsplit("/", 1)[-1].removesuffix(".py")) for path in corpus.paths]
        shared = Counter(stems)
        return np.array([1.0 / shared[s] if len(s) >= _SHORTEST and s in said else 0.0 for s in stems])

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        return []


@dataclass(frozen=True)
class TitleComponent:
    """A folder or file of the path is a word of the title, rare ones counting more."""

    name: str = "component_title"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        said = {_plain(name) for name in query.title_names}
        parts = [{_plain(part) for part in path.removesuffix(".py").split("/")} for path in corpus.paths]
        held = Counter(part for some in parts for part in some & said)
        worth = {part: math.log1p(corpus.size / count) for part, count in held.items()}
        return np.array(
            [max((worth[part] for part in some & said), default=0.0) for some in parts], dtype=float
        )

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        return []
