"""Evidence in the repository's history: what changed lately, with what, in earlier reports and in similar commits."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from netmend.locate.answer import Reason
from netmend.locate.corpus import Corpus
from netmend.locate.paths import peripheral_folder
from netmend.locate.postings import Floats, sum_by_row
from netmend.locate.query import EarlierReport, Query
from netmend.locate.signals.signal import Untold
from netmend.locate.signals.texts import bm25, part_of
from netmend.locate.words import telling

# What the history says before a word of the report is read, and which commits speak of the same thing.

_DAY = 86_400.0
_FIX = 1.5  # a fix tells more about where faults are than another change


def days_before(query: Query, corpus: Corpus) -> Floats:
    """Days between each commit and the report."""
    now = query.opened if query.opened is not None else time.time()
    return np.maximum(now - corpus.history.times, 0.0) / _DAY


def told_commit(corpus: Corpus, commit: int | None, lead: str, kind: str = "change") -> list[Reason]:
    if commit is None:
        return []
    day = time.strftime("%Y-%m-%d", time.gmtime(corpus.history.times[commit]))
    subject = corpus.history.subjects[commit]
    shown = subject if len(subject) <= 80 else subject[:79] + "…"
    return [Reason(kind, f"{lead} {corpus.history.hashes[commit][:9]} of {day}: {shown}")]


def told_best(corpus: Corpus, row: int, worth: Floats, lead: str, kind: str = "change") -> list[Reason]:
    """Of the commits that touched a file the one that is worth most; nothing where none is worth anything."""
    touching = corpus.history.commit_of[corpus.history.files == row]
    if not len(touching):
        return []
    best = int(touching[np.argmax(worth[touching])])
    return told_commit(corpus, best if worth[best] > 0 else None, lead, kind)


@dataclass(frozen=True)
class Recency:
    """Recent changes, fixes more; a commit of many files says less about each."""

    days: float
    only_fixes: bool = False

    @property
    def name(self) -> str:
        return f"{'fixed' if self.only_fixes else 'changed'}_{self.days:.0f}"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        history = corpus.history
        weight = np.exp(-days_before(query, corpus) / self.days) / np.sqrt(np.maximum(history.sizes, 1.0))
        weight *= history.fixes if self.only_fixes else np.where(history.fixes, _FIX, 1.0)
        weight *= history.telling
        return sum_by_row(history.files, weight[history.commit_of], corpus.size)

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        return told_commit(corpus, corpus.history.latest(row), "changed lately by")


@dataclass(frozen=True)
class Churn(Untold):
    """How many commits touched the file."""

    name: str = "churn"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        history = corpus.history
        kept = history.files[history.telling[history.commit_of]]
        return np.asarray(np.log1p(np.bincount(kept, minlength=corpus.size).astype(float)))


@dataclass(frozen=True)
class Age(Untold):
    """How new the file is, or how lately it was changed: 1 now, 1/2 after so many days."""

    name: str
    days: float
    first: bool  # since the first change, which is its birth unless the history is cut

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        history = corpus.history
        ages = days_before(query, corpus)[history.commit_of]
        days = np.full(corpus.size, -np.inf if self.first else np.inf)
        (np.maximum if self.first else np.minimum).at(days, history.files, ages)
        return np.where(np.isfinite(days), 1.0 / (1.0 + np.abs(days) / self.days), 0.0)


# Earlier reports: files that fixes of similar ones changed, and files that were reported often.


def similarities(query: Query) -> list[tuple[float, EarlierReport]]:
    """The cosine between the report and each earlier one, words weighted by how rare they are in reports."""
    known = query.earlier
    if not known:
        return []
    held = Counter(word for report in known for word in report.words)
    rarity = {word: math.log(1.0 + len(known) / count) for word, count in held.items()}
    asked = {
        word: (1.0 + math.log(amount) if amount > 1 else amount) * rarity[word] * telling(word)
        for word, amount in query.weighted.items()
        if word in rarity
    }
    size = math.sqrt(sum(value * value for value in asked.values())) or 1.0
    found = []
    for report in known:
        weights = {word: (1.0 + math.log(count)) * rarity[word] for word, count in report.words.items()}
        length = math.sqrt(sum(value * value for value in weights.values())) or 1.0
        common = sum(value * weights[word] for word, value in asked.items() if word in weights)
        found.append((common / (size * length), report))
    return found


@dataclass(frozen=True)
class SimilarReports:
    """Files of similar reports; `best`: only the most similar one counts."""

    best: bool = False

    @property
    def name(self) -> str:
        return "similar_report_best" if self.best else "similar_reports"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        total = np.zeros(corpus.size)
        for similarity, report in similarities(query):
            for path in report.files:
                row = corpus.row_of.get(path)
                if row is None:
                    continue
                if self.best:
                    total[row] = max(total[row], similarity / math.sqrt(len(report.files)))
                else:
                    total[row] += similarity / len(report.files)
        return total

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        touching = [s for s, report in similarities(query) if corpus.paths[row] in report.files and s > 0.1]
        plural = "s" if len(touching) > 1 else ""
        return (
            [Reason("report", f"fixed for {len(touching)} similar earlier report{plural}")]
            if touching
            else []
        )


@dataclass(frozen=True)
class ReportedOften(Untold):
    """Files of earlier reports, whatever they said; with `days`, old ones count less."""

    days: float | None = None

    @property
    def name(self) -> str:
        return "reported_often" if self.days is None else "reported_lately"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        total = np.zeros(corpus.size)
        now = query.opened if query.opened is not None else time.time()
        for report in query.earlier:
            fading = (
                1.0 if self.days is None else math.exp(-max(now - report.closed, 0.0) / 86_400.0 / self.days)
            )
            for path in report.files:
                row = corpus.row_of.get(path)
                if row is not None:
                    total[row] += fading / len(report.files)
        return total


# Commits that speak of the same thing as the report speak for the files that they touched.

_HALF_LIFE = 365.0  # days


@dataclass(frozen=True)
class SimilarCommits:
    part: str = "all"
    messages: bool = False  # whole messages instead of subjects
    best: bool = False  # only the commit that fits best counts

    @property
    def name(self) -> str:
        return (
            f"similar_{'messages' if self.messages else 'commits'}_{self.part}{'_best' if self.best else ''}"
        )

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        history = corpus.history
        fit = self._fit(query, corpus)[history.commit_of]
        if self.best:
            top = np.zeros(corpus.size)
            np.maximum.at(top, history.files, fit)
            return top
        # Squared: ten commits that share one common word must not outweigh one that speaks of the same thing.
        return np.sqrt(sum_by_row(history.files, fit**2, corpus.size))

    def _fit(self, query: Query, corpus: Corpus) -> Floats:
        history = corpus.history
        fit = bm25(history.messages if self.messages else history.words, part_of(query, self.part))
        fading = 0.3 + 0.7 * 0.5 ** (days_before(query, corpus) / _HALF_LIFE)
        return np.asarray(fit * fading / np.sqrt(np.maximum(history.sizes, 1.0)) * history.telling)

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        return told_best(corpus, row, self._fit(query, corpus), "related commit (may already be the fix):")


# What makes a file more or less likely to be fixed, whatever the report says.

_SETUP = ("setup.py", "version.py", "_version.py", "__version__.py", "versions.py", "conf.py", "about.py")


@dataclass(frozen=True)
class Prior(Untold):
    name: str
    measure: Callable[[Corpus], Floats]

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        return self.measure(corpus)


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


# Files near those that rank first: in the same folder, connected by imports, usually changed together.

_LEADING = 10  # files of the first ranking that speak for others


@dataclass(frozen=True)
class SameFolder(Untold):
    """The mean of the three best others of the folder: whole folders are about one subject."""

    name: str = "same_folder"

    def scores(self, query: Query, corpus: Corpus, first: Floats) -> Floats:
        folders = corpus.folders
        order = np.lexsort((-first, folders))
        result = np.zeros(corpus.size)
        ends = np.flatnonzero(np.diff(folders[order])) + 1
        for group in np.split(order, ends):
            best = group[:4]
            total = first[best[:3]].sum()
            result[group] = total / 3.0
            for row in best[:3]:  # a file must not speak for itself
                result[row] = (first[best].sum() - first[row]) / 3.0
        return result


@dataclass(frozen=True)
class Imports:
    """The mean of the first ranking over files that this one imports, or that import it."""

    name: str
    outwards: bool  # over what it imports

    def scores(self, query: Query, corpus: Corpus, first: Floats) -> Floats:
        graph = corpus.imports
        here, there = (
            (graph.importing, graph.imported) if self.outwards else (graph.imported, graph.importing)
        )
        total = sum_by_row(here, first[there], corpus.size)
        number = np.bincount(here, minlength=corpus.size)
        return np.asarray(total / np.sqrt(np.maximum(number, 1.0)))

    def reasons(self, query: Query, corpus: Corpus, first: Floats, row: int) -> list[Reason]:
        graph = corpus.imports
        if self.outwards:
            return []
        by = graph.importing[graph.imported == row]
        leading = [one for one in by if first[one] >= _floor(first)]
        if not leading:
            return []
        best = max(leading, key=lambda one: first[one])
        return [Reason("import", f"imported by {corpus.paths[best]}, which also ranks high")]


@dataclass(frozen=True)
class ChangedTogether(Untold):
    """How often the file changed when the leading ones did."""

    name: str = "changed_together"

    def scores(self, query: Query, corpus: Corpus, first: Floats) -> Floats:
        if not corpus.history.size or not corpus.size:
            return np.zeros(corpus.size)
        touched = corpus.history.touched(corpus.size)
        leading = np.argsort(-first, kind="stable")[:_LEADING]
        together = (touched[:, leading].T @ touched).toarray()  # leading files by files
        own = together[np.arange(len(leading)), leading].copy()
        together[np.arange(len(leading)), leading] = 0.0
        # Two more in the denominator: once out of once is no habit.
        return np.asarray(first[leading] @ (together / (own + 2.0)[:, None]))


def _floor(first: Floats) -> float:
    """The score of the last of the leading files."""
    return float(np.sort(first)[-min(_LEADING, len(first))]) if len(first) else 0.0


SPREADING = (SameFolder(), Imports("imports", True), Imports("imported", False), ChangedTogether())
