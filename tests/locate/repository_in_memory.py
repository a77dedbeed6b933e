"""A repository made of literals, for tests of what is read from repositories."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from netmend.locate.bug_report import read_report
from netmend.locate.cache import FactsCache
from netmend.locate.corpus import Corpus, build_corpus
from netmend.locate.query import EarlierReport, Query, make_query
from netmend.locate.repository import Commit, SourceFile

DAY = 86_400.0
NOW = 1_600_000_000.0


@dataclass
class MemoryRepository:
    contents: dict[str, str]
    changes: tuple[Commit, ...] = ()  # newest first
    name: str = "made"
    root: Path | None = None
    revision: str | None = None
    reads: list[str] = field(default_factory=list)  # blobs that were read

    @property
    def head(self) -> str | None:
        return self.changes[0].hash if self.changes else None

    def files(self) -> tuple[SourceFile, ...]:
        return tuple(SourceFile(path, _blob(text), len(text)) for path, text in sorted(self.contents.items()))

    def read(self, blobs: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        by_blob = {_blob(text): text.encode() for text in self.contents.values()}
        for blob in blobs:
            self.reads.append(blob)
            yield blob, by_blob[blob]

    def revisions(self, before: float | None, limit: int) -> tuple[str, ...]:
        return tuple(c.hash for c in self.changes if before is None or c.time < before)[:limit]

    def commits(self, hashes: Iterable[str]) -> Iterator[Commit]:
        wanted = set(hashes)
        return (commit for commit in self.changes if commit.hash in wanted)

    def notes(self) -> tuple[str, ...]:
        return ()


def _blob(text: str) -> str:
    return hashlib.sha1(text.encode()).hexdigest()


def commit(number: int, days_ago: float, subject: str, *files: str) -> Commit:
    return Commit(f"{number:040x}", NOW - days_ago * DAY, subject, files)


def corpus_of(contents: dict[str, str], *changes: Commit, before: float | None = NOW) -> Corpus:
    repository = MemoryRepository(contents, changes)
    return build_corpus(repository, repository.files(), FactsCache(None), before)


def query_of(text: str, title: str | None = None, earlier: tuple[EarlierReport, ...] = ()) -> Query:
    return make_query(read_report(text, title), NOW, earlier)
