"""Files and modules that the report names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from netmend.locate.answer import Reason
from netmend.locate.corpus import Corpus
from netmend.locate.facts import Field
from netmend.locate.postings import Floats
from netmend.locate.query import Query
from netmend.locate.signals.path_matching import match_path
from netmend.locate.words import term_number

_TAG = re.compile(r"[\[(<]\s*([\w ./-]{2,40}?)\s*[\])>]|^\s*([\w./-]{2,30})\s*:")


@dataclass(frozen=True)
class PathMention:
    """Paths and names of files in the text, stack traces left aside."""

    name: str = "path_mention"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        best = np.zeros(corpus.size)
        for row, worth, _ in self._mentions(query, corpus):
            best[row] = max(best[row], worth)
        return best

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
        best = np.zeros(corpus.size)
        for row, worth, _ in self._mentions(query, corpus):
            best[row] = max(best[row], worth)
        return best

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
