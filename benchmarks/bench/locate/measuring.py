"""One report searched in its repository: every signal and every baseline for every candidate, kept in a file."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.locate.baselines import blia, dnnloc, okapi, vector_space
from bench.locate.baselines.case import Before, Case, Commit
from bench.locate.denchmark import Report, earlier
from bench.locate.protocol import Protocol
from netmend.locate.bug_report import read_report
from netmend.locate.cache import FactsCache
from netmend.locate.corpus import Corpus, build_corpus
from netmend.locate.features import FEATURE_NAMES, features
from netmend.locate.parsing import Field
from netmend.locate.paths import is_test
from netmend.locate.query import EarlierReport, Query, make_query
from netmend.locate.repository import open_repository
from netmend.locate.signals.reported import steps
from netmend.locate.words import words

FORMAT = 1  # raise it when a baseline or a signal changes its meaning under the same name
_STRUCTURE = (Field.CLASSES, Field.FUNCTIONS, Field.VARIABLES, Field.COMMENTS)
GRID = tuple((k1, b) for k1 in (0.8, 1.4, 2.0) for b in (0.2, 0.5, 0.8))
BM25, BUGLOCATOR, BLUIR, BLIA, DNNLOC = "BM25", "BugLocator", "BLUiR", "BLIA", "DNNLOC"
BASELINES = (
    BM25,
    BUGLOCATOR,
    *(f"{BLUIR} {k1} {b}" for k1, b in GRID),
    *(f"{BLIA} {number}" for number in range(len(blia.SHIPPED))),
    *(f"{DNNLOC} {number}" for number in range(5)),
)


@dataclass(frozen=True)
class Sheet:
    """What was measured for one report."""

    report: str
    paths: tuple[str, ...]
    features: NDArray[np.float32]  # candidates by FEATURE_NAMES
    baselines: NDArray[np.float32]  # candidates by BASELINES

    def feature(self, name: str) -> NDArray[np.float32]:
        return self.features[:, FEATURE_NAMES.index(name)]

    def baseline(self, name: str) -> NDArray[np.float32]:
        return self.baselines[:, BASELINES.index(name)]


@dataclass(frozen=True)
class Desk:
    """Where sheets are kept: one folder for each protocol, one file for each report."""

    work: Path
    protocol: Protocol

    def file(self, report: Report) -> Path:
        number = report.id.rpartition("#")[2]
        return self.work / self.protocol.name / report.project / f"{number}.npz"

    def read(self, report: Report) -> Sheet | None:
        """The report's sheet, or None where there is none, a damaged one, or one of other signals."""
        try:
            with np.load(self.file(report), allow_pickle=False) as data:
                if str(data["made"]) != _made():
                    return None
                paths = tuple(str(data["paths"]).split("\n"))
                return Sheet(report.id, paths, data["features"], data["baselines"])
        except (OSError, ValueError, KeyError, EOFError):
            return None

    def write(self, report: Report, sheet: Sheet) -> None:
        file = self.file(report)
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_name(f"{file.name}.{os.getpid()}")
        with partial.open("wb") as stream:
            np.savez_compressed(
                stream,
                made=np.array(_made()),
                paths=np.array("\n".join(sheet.paths)),
                features=sheet.features,
                baselines=sheet.baselines,
            )
        partial.replace(file)


def measure(
    report: Report, known: Iterable[Report], git: Path, cache: FactsCache, protocol: Protocol
) -> Sheet:
    """Search as it was when the report was opened: the commit, the history and the earlier reports end there."""
    repository = open_repository(git, protocol.commit(report))
    files = [file for file in repository.files() if protocol.tests or not is_test(file.path)]
    corpus = build_corpus(repository, files, cache, history_before=report.opened)
    before = earlier(report, known)
    text = read_report(report.description, report.title)
    query = make_query(
        text,
        report.opened,
        [EarlierReport(_terms(_text(other)), _changed(other, protocol), other.closed) for other in before],
        repository=report.project.partition("+")[2],
    )
    table = features(query, corpus).matrix.astype(np.float32)
    return Sheet(report.id, corpus.paths, table, baselines(_case(report, before, query, corpus, protocol)))


def baselines(case: Case) -> NDArray[np.float32]:
    """The columns of BASELINES."""
    columns = [okapi.whole_file(case), vector_space.buglocator(case)]
    columns += [okapi.bluir(case, k1, b) for k1, b in GRID]
    columns += [blia.blia(case, settings) for settings in blia.SHIPPED]
    return np.column_stack([*columns, dnnloc.features(case)]).astype(np.float32)


def _case(report: Report, before: Sequence[Report], query: Query, corpus: Corpus, protocol: Protocol) -> Case:
    on_trace = tuple(step.row for step in steps(query, corpus))
    graph = corpus.imports
    imported = frozenset(graph.imported[np.isin(graph.importing, on_trace)].tolist())
    history = corpus.history
    return Case(
        body=corpus.fields[Field.BODY],
        classes=corpus.fields[Field.CLASSES],
        structure=tuple(corpus.fields[field] for field in _STRUCTURE),
        title=_terms(report.title),
        description=_terms(report.description),
        before=tuple(
            Before(
                _terms(_text(other)),
                frozenset(corpus.row_of[path] for path in _changed(other, protocol) if path in corpus.row_of),
                max(1, len(_changed(other, protocol))),
                other.closed,
            )
            for other in before
        ),
        commits=tuple(
            Commit(float(history.times[number]), history.subjects[number], tuple(files.tolist()))
            for number, files in enumerate(np.split(history.files, history.starts[1:-1]))
        )
        if history.size
        else (),
        frames=on_trace,
        imported=imported,
        opened=report.opened,
    )


def _changed(report: Report, protocol: Protocol) -> tuple[str, ...]:
    return tuple(change.path for change in report.changes if protocol.tests or not change.test)


def _text(report: Report) -> str:
    return f"{report.title}\n{report.description}"


def _terms(text: str) -> Counter[str]:
    return Counter(words(text))


def _made() -> str:
    """Sheets of other signals or baselines are measured again."""
    return json.dumps([FORMAT, *FEATURE_NAMES, *BASELINES])
