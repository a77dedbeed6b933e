"""Evidence that the report gives itself: frames of a traceback, what it mentions, what was executed, what those refer to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from netmend.locate.answer import Reason
from netmend.locate.corpus import Corpus
from netmend.locate.frames import Frame
from netmend.locate.parsing import Field, squeeze
from netmend.locate.postings import Floats, sum_by_row
from netmend.locate.query import Query
from netmend.locate.signals.history import told_best
from netmend.locate.signals.paths import match_path
from netmend.locate.signals.signal import Untold, best_of
from netmend.locate.words import term_number

# Files on the stack traces of the report, nearer to the failure first.

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
        found = ((step.row, step.certainty / (1.0 + step.distance)) for step in steps(query, corpus))
        return best_of(found, corpus.size)

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        here = sorted((s for s in steps(query, corpus) if s.row == row), key=lambda s: s.distance)
        told = []
        for step in here[:2]:
            where = "innermost frame" if step.distance == 0 else f"frame {step.distance + 1} from the failure"
            function = f" in {step.frame.function}" if step.frame.function else ""
            told.append(Reason("frame", f"{where} of the stack trace{function}", step.frame.line))
        return told


@dataclass(frozen=True)
class TraceShare(Untold):
    """How much of the traces runs through the file."""

    name: str = "trace_share"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        total = np.zeros(corpus.size)
        for step in steps(query, corpus):
            total[step.row] += step.certainty
        return np.log1p(total)


@dataclass(frozen=True)
class Innermost(Untold):
    """Only the innermost frame of the repository."""

    name: str = "trace_innermost"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        innermost = (step for step in steps(query, corpus) if step.distance == 0)
        return best_of(((step.row, step.certainty) for step in innermost), corpus.size)


@dataclass(frozen=True)
class ImportedByTrace(Untold):
    """Files that a file on a stack trace imports."""

    name: str = "trace_imports"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        on_stack = Trace().scores(query, corpus)
        graph = corpus.imports
        best = np.zeros(corpus.size)
        np.maximum.at(best, graph.imported, on_stack[graph.importing])
        return best


# Files and modules that the report names.

_TAG = re.compile(r"[\[(<]\s*([\w ./-]{2,40}?)\s*[\])>]|^\s*([\w./-]{2,30})\s*:")


@dataclass(frozen=True)
class PathMention:
    """Paths and names of files in the text, stack traces left aside."""

    name: str = "path_mention"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        return best_of((each[:2] for each in self._mentions(query, corpus)), corpus.size)

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        told = [path for found, _, path in self._mentions(query, corpus) if found == row]
        line = next((place.line for place in query.report.places if told and place.path == told[0]), None)
        return [Reason("path", f"the report names {told[0]}", line)] if told else []

    def _mentions(self, query: Query, corpus: Corpus) -> Iterator[tuple[int, float, str]]:
        on_stack = {frame.path for trace in query.report.traces for frame in trace}
        for path in query.report.paths:
            if path in on_stack or not path.endswith(".py"):
                continue
            match = match_path(corpus, path)
            if not match.rows:
                continue
            # Two parts that agree are hardly chance; a bare name may be the user's own file.
            worth = 1.0 if match.parts > 1 else 0.7 if "/" not in path or match.whole else 0.3
            for row in match.rows:
                yield row, worth / len(match.rows), path


@dataclass(frozen=True)
class ModuleMention:
    """Dotted names: the file of the module, or the file that defines what is imported from it."""

    name: str = "module_mention"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        return best_of((each[:2] for each in self._mentions(query, corpus)), corpus.size)

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        told = [name for found, _, name in self._mentions(query, corpus) if found == row]
        return [Reason("module", f"the report names {told[0]}")] if told else []

    def _mentions(self, query: Query, corpus: Corpus) -> Iterator[tuple[int, float, str]]:
        for name in dict.fromkeys(query.report.modules):
            parts = name.split(".")
            for length in range(len(parts), 0, -1):
                row = corpus.modules.file_of(".".join(parts[:length]))
                if row is None:
                    continue
                package = corpus.paths[row].endswith("__init__.py")
                yield row, (0.3 if package else 1.0) * length / len(parts), name
                if length < len(parts) and package:
                    yield from self._defined_below(corpus, row, parts[length], name)
                break

    def _defined_below(
        self, corpus: Corpus, row: int, wanted: str, name: str
    ) -> Iterator[tuple[int, float, str]]:
        """Packages re-export: the definition lies somewhere below the package."""
        folder = corpus.paths[row].removesuffix("__init__.py")
        number = np.array([term_number(wanted)], dtype=np.uint32)
        below = [
            int(found)
            for field in (Field.CLASS_NAMES, Field.NAMES)
            for found in corpus.fields[field].find(number).rows
            if corpus.paths[found].startswith(folder)
        ]
        for found in below:
            yield found, 1.0 / len(below), name


@dataclass(frozen=True)
class Tag:
    """Folders or files called like a tag of the title: "[tune] ..." or "serve: ..."."""

    name: str = "tag"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        tags = self._tags(query)
        if not tags:
            return np.zeros(corpus.size)
        return np.array([float(bool(tags & _components(path))) for path in corpus.paths])

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        hit = self._tags(query) & _components(corpus.paths[row])
        return [Reason("path", f"the title is tagged {min(hit)}")] if hit else []

    def _tags(self, query: Query) -> set[str]:
        found: set[str] = set()
        for match in _TAG.finditer(query.report.title):
            for tag in re.split(r"[/,. ]+", match.group(1) or match.group(2)):
                found.add(_plain(tag))
        return found - {"", "bug", "feature", "question", "request", "python", "py", "error", "help"}


def _components(path: str) -> set[str]:
    return {_plain(part) for part in path.removesuffix(".py").split("/")}


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


# Commits that the report names, by their hash or by an issue or pull request, speak for the files that they touched.

_FURTHER = 0.1  # share of each commit beside the best
_SHORTEST = 7  # digits of a hash


@dataclass(frozen=True)
class Referenced:
    name: str = "referenced"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        history = corpus.history
        worth = self._worth(query, corpus)[history.commit_of]
        best = np.zeros(corpus.size)
        np.maximum.at(best, history.files, worth)
        return (1.0 - _FURTHER) * best + _FURTHER * sum_by_row(history.files, worth, corpus.size)

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        return told_best(corpus, row, self._worth(query, corpus), "the report names commit", "commit")

    def _worth(self, query: Query, corpus: Corpus) -> Floats:
        """Of each commit: 0 where it is not named; a commit of many files says less about each."""
        history = corpus.history
        worth = np.zeros(history.size)
        numbers = query.report.references.numbers_of(query.repository)
        worth[history.numbered[np.isin(history.numbers, list(numbers))]] = 1.0
        worth[_with_hashes(query, corpus)] = 1.0
        return np.asarray(worth / np.sqrt(np.maximum(history.sizes, 1.0)) * history.telling)


def _with_hashes(query: Query, corpus: Corpus) -> list[int]:
    """The commits whose hashes the report gives, whole or their beginnings."""
    wanted: dict[str, list[str]] = {}
    for name in query.report.references.hashes:
        wanted.setdefault(name[:_SHORTEST], []).append(name)
    return [
        commit
        for commit, name in enumerate(corpus.history.hashes if wanted else ())
        if name.startswith(tuple(wanted.get(name[:_SHORTEST], ())))
    ]


# Files that a watched run of the program executed or blamed.


@dataclass(frozen=True)
class Executed:
    name: str = "executed"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        matches = [match_path(corpus, path) for path in query.executed]
        found = (
            (row, 1.0 / (1.0 + place) / len(match.rows))
            for place, match in enumerate(matches)
            if match.whole or match.parts > 1
            for row in match.rows
        )
        return best_of(found, corpus.size)

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        hit = self.scores(query, corpus)[row] > 0
        return [Reason("run", "the watched run executed it")] if hit else []
