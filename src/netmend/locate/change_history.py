"""The commits before a report as arrays: when, which files, what their subjects say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt
from scipy import sparse

from netmend.locate.bug_report_mentions import numbers_in
from netmend.locate.cache import FactsCache
from netmend.locate.postings import Floats, Ints, Postings, make_postings
from netmend.locate.repository import Commit, Repository
from netmend.locate.words import term_number, words

_FIX = re.compile(
    r"\b(fix|fixe[sd]|fixing|bug|bugs|bugfix|hotfix|error|crash|resolve[sd]?|close[sd]?)\b", re.IGNORECASE
)
_SWEEPING = 50  # files; larger commits (renames, formatting) say nothing about a single one


@dataclass(frozen=True)
class ChangeHistory:
    hashes: tuple[str, ...]  # newest first
    subjects: tuple[str, ...]
    times: Floats
    fixes: npt.NDArray[np.bool_]
    sizes: Floats  # Python files touched, whether candidates or not
    starts: npt.NDArray[np.int64]  # of each commit in `files`
    files: Ints  # rows of the candidates that it touched
    words: Postings  # of subjects; rows are commits
    messages: Postings  # of whole messages
    numbers: Ints  # issues and pull requests that messages name
    numbered: Ints  # for each of them its commit

    @property
    def size(self) -> int:
        return len(self.times)

    @cached_property
    def commit_of(self) -> npt.NDArray[np.int64]:
        """For each entry of `files` its commit."""
        return np.repeat(np.arange(self.size), np.diff(self.starts))

    @cached_property
    def telling(self) -> npt.NDArray[np.bool_]:
        """Commits that are not sweeping, by commit."""
        return np.asarray(self.sizes <= _SWEEPING)

    def touched(self, n_files: int) -> sparse.csr_matrix:
        """Commits by files, 1 where a telling commit touched a file."""
        kept = self.telling[self.commit_of]
        ones = np.ones(int(kept.sum()), dtype=np.float64)
        return sparse.csr_matrix((ones, (self.commit_of[kept], self.files[kept])), shape=(self.size, n_files))

    def latest(self, row: int) -> int | None:
        """The newest telling commit that touched a file."""
        found = self.commit_of[self.files == row]
        found = found[self.telling[found]]
        return int(found[0]) if len(found) else None


def read_history(
    repository: Repository, cache: FactsCache, rows: dict[str, int], before: float | None, limit: int
) -> ChangeHistory:
    """The latest commits before a time; only those never seen before are asked of git."""
    hashes = repository.revisions(before, limit)
    known = cache.commits(hashes)
    missing = [name for name in hashes if name not in known]
    if missing:
        new = list(repository.commits(missing))
        cache.store_commits(new)
        known.update((commit.hash, commit) for commit in new)
    return make_history([known[name] for name in hashes if name in known], rows)


def make_history(commits: Sequence[Commit], rows: dict[str, int]) -> ChangeHistory:
    touched = [[rows[path] for path in commit.files if path in rows] for commit in commits]
    ends = np.cumsum([0, *map(len, touched)])
    messages = [f"{commit.subject}\n{commit.body}" for commit in commits]
    named = [(number, commit) for commit, text in enumerate(messages) for number in numbers_in(text)]
    return ChangeHistory(
        hashes=tuple(commit.hash for commit in commits),
        subjects=tuple(commit.subject for commit in commits),
        times=np.array([commit.time for commit in commits], dtype=float),
        fixes=np.array([_FIX.search(commit.subject) is not None for commit in commits], dtype=bool),
        sizes=np.array([len(commit.files) for commit in commits], dtype=float),
        starts=ends.astype(np.int64),
        files=np.array([row for some in touched for row in some], dtype=np.int32),
        words=_postings([commit.subject for commit in commits]),
        messages=_postings(messages),
        numbers=np.array([number for number, _ in named], dtype=np.int32),
        numbered=np.array([commit for _, commit in named], dtype=np.int32),
    )


def subjects_by_file(history: ChangeHistory, n_files: int) -> Postings:
    """What commit subjects say about each file; a commit of many files says less about each."""
    words_ = history.words
    columns = np.repeat(np.arange(len(words_.terms)), np.diff(words_.starts))
    by_commit = sparse.csr_matrix(
        (words_.counts, (words_.rows, columns)), shape=(history.size, len(words_.terms))
    )
    shares = sparse.diags(1.0 / np.sqrt(np.maximum(history.sizes, 1.0)))
    summed = (history.touched(n_files).T @ shares @ by_commit).tocoo()
    return make_postings(words_.terms[summed.col], summed.row, summed.data, n_files)


def _postings(texts: Sequence[str]) -> Postings:
    numbers = [_terms(text) for text in texts]
    owners = np.repeat(np.arange(len(texts)), np.array([len(some) for some in numbers], dtype=np.int64))
    terms = np.array([number for some in numbers for number in some], dtype=np.uint32)
    return make_postings(terms, owners, np.ones(len(terms)), len(texts))


@lru_cache(maxsize=50_000)
def _terms(text: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(map(term_number, words(text))))
