"""What makes a file more or less likely to be fixed, whatever the report says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from netmend.locate.answer import Reason
from netmend.locate.corpus import Corpus
from netmend.locate.paths import peripheral_folder
from netmend.locate.postings import Floats
from netmend.locate.query import Query

_SETUP = frozenset(
    {"setup.py", "version.py", "_version.py", "__version__.py", "versions.py", "conf.py", "about.py"}
)


@dataclass(frozen=True)
class Prior:
    name: str
    measure: Callable[[Corpus], Floats]

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        return self.measure(corpus)

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        return []


def _by_path(measure: Callable[[str], float]) -> Callable[[Corpus], Floats]:
    return lambda corpus: np.array([float(measure(path)) for path in corpus.paths])


def _basename(path: str) -> str:
    return path.rsplit("/", 1)[-1]


PRIORS = (
    Prior("peripheral", _by_path(lambda path: peripheral_folder(path) is not None)),
    Prior("package_file", _by_path(lambda path: _basename(path) == "__init__.py")),
    Prior("setup_file", _by_path(lambda path: _basename(path) in _SETUP)),
    Prior("depth", _by_path(lambda path: path.count("/"))),
    Prior("size", lambda corpus: np.log1p(corpus.lines)),
    Prior("folder_files", lambda corpus: np.log1p(np.bincount(corpus.folders)[corpus.folders].astype(float))),
    Prior("importers", lambda corpus: np.log1p(corpus.imports.importers(corpus.size))),
)
