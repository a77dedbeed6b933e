"""Files on the stack traces of the report, nearer to the failure first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from netmend.locate.answer import Reason
from netmend.locate.corpus import Corpus
from netmend.locate.facts import Field
from netmend.locate.frames import Frame
from netmend.locate.parsing import squeeze
from netmend.locate.postings import Floats
from netmend.locate.query import Query
from netmend.locate.signals.path_matching import match_path
from netmend.locate.words import term_number

_UNCERTAIN = 0.4  # a bare name, or a file that does not hold the printed line


@dataclass(frozen=True)
class Step:
    """A frame that is a file of the repository. `distance` counts repository frames from the failure on."""

    row: int
    frame: Frame
    distance: int
    certainty: float


def steps(query: Query, corpus: Corpus) -> Iterator[Step]:
    """Frames of all traces that lie in the repository, innermost first in each trace."""
    for trace in query.report.traces:
        distance = 0
        for frame in reversed(trace):
            matched = list(_match(corpus, frame))
            for row, certainty in matched:
                yield Step(row, frame, distance, certainty)
            distance += bool(matched)


def _match(corpus: Corpus, frame: Frame) -> Iterator[tuple[int, float]]:
    match = match_path(corpus, frame.path)
    if not match.rows:
        return
    holding = [row for row in match.rows if _holds(corpus, row, frame.code)]
    if holding:
        yield from ((row, 1.0 / len(holding)) for row in holding)
    elif match.parts > 1 or match.whole:
        certainty = 0.8 if match.parts > 1 else _UNCERTAIN
        yield from ((row, certainty / len(match.rows)) for row in match.rows)
    elif len(match.rows) == 1:
        yield match.rows[0], _UNCERTAIN / 2


def _holds(corpus: Corpus, row: int, code: str) -> bool:
    """Is the printed line a line of the file?"""
    squeezed = squeeze(code)
    if not squeezed:
        return False
    found = corpus.fields[Field.LINES].find(np.array([term_number(squeezed)], dtype=np.uint32))
    return bool((found.rows == row).any())


@dataclass(frozen=True)
class Trace:
    """1 for the innermost frame of the repository, 1/2 for the next, and so on."""

    name: str = "trace"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        best = np.zeros(corpus.size)
        for step in steps(query, corpus):
            best[step.row] = max(best[step.row], step.certainty / (1.0 + step.distance))
        return best

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        here = sorted((s for s in steps(query, corpus) if s.row == row), key=lambda s: s.distance)
        told = []
        for step in here[:2]:
            where = "innermost frame" if step.distance == 0 else f"frame {step.distance + 1} from the failure"
            function = f" in {step.frame.function}" if step.frame.function else ""
            told.append(Reason("frame", f"{where} of the stack trace{function}", step.frame.line))
        return told


@dataclass(frozen=True)
class TraceShare:
    """How much of the traces runs through the file."""

    name: str = "trace_share"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        total = np.zeros(corpus.size)
        for step in steps(query, corpus):
            total[step.row] += step.certainty
        return np.log1p(total)

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        return []


@dataclass(frozen=True)
class Innermost:
    """Only the innermost frame of the repository."""

    name: str = "trace_innermost"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        best = np.zeros(corpus.size)
        for step in steps(query, corpus):
            if step.distance == 0:
                best[step.row] = max(best[step.row], step.certainty)
        return best

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        return []


@dataclass(frozen=True)
class ImportedByTrace:
    """Files that a file on a stack trace imports."""

    name: str = "trace_imports"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        on_stack = Trace().scores(query, corpus)
        graph = corpus.imports
        best = np.zeros(corpus.size)
        np.maximum.at(best, graph.imported, on_stack[graph.importing])
        return best

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        return []
