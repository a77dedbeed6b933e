"""One question: which files of a repository is this report about, and why? Knows the order of things."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from netmend.errors import UsageError
from netmend.locate.answer import Answer, RankedFile, RankedFunction, Reason
from netmend.locate.bug_report import BugReport
from netmend.locate.cache import FactsCache
from netmend.locate.corpus import (
    HISTORY,
    Corpus,
    Progress,
    build_corpus,
    corpus_key,
    load_corpus,
    save_corpus,
)
from netmend.locate.features import WEIGHTS, Measured, features, measure
from netmend.locate.functions import FileText, rank_functions
from netmend.locate.fusion import Fusion, default_fusion
from netmend.locate.language import decode
from netmend.locate.paths import is_test, vendored_folder
from netmend.locate.query import EarlierReport, Query, make_query
from netmend.locate.repository import Repository, SourceFile
from netmend.locate.signals import SIGNALS, SPREADING


def locate(
    report: BugReport,
    repository: Repository,
    *,
    top: int = 10,
    opened: float | None = None,
    tests: bool = False,
    executed: Sequence[str] = (),
    earlier: Sequence[EarlierReport] = (),
    cache: FactsCache | None = None,
    fusion: Fusion | None = None,
    say: Progress | None = None,
) -> Answer:
    """The files that the report is about, likeliest first, with the evidence."""
    started = time.perf_counter()
    cache = cache or FactsCache(None)
    files, notes = choose_files(repository, tests)
    corpus = open_corpus(repository, files, cache, opened, say)
    ready = time.perf_counter()
    query = make_query(report, opened, earlier, executed, repository.name)
    measured = measure(query, corpus)
    scores = (fusion or default_fusion()).rank(features(query, corpus, measured))
    order = np.argsort(-scores, kind="stable")[:top]
    functions = _functions(query, corpus, repository, cache, order.tolist())
    ranked = tuple(
        RankedFile(
            path=corpus.paths[row],
            score=float(scores[row]),
            reasons=reasons_for(query, corpus, measured, row),
            functions=functions.get(corpus.paths[row], ()),
            blob=corpus.blobs[row],
        )
        for row in order.tolist()
    )
    ended = time.perf_counter()
    return Answer(
        files=ranked,
        candidates=corpus.size,
        notes=(*notes, *_content_notes(corpus), *repository.notes(), *filter(None, [cache.note])),
        revision=repository.revision,
        root=str(repository.root) if repository.root is not None else None,
        seconds={"index": ready - started, "query": ended - ready},
    )


def choose_files(repository: Repository, tests: bool) -> tuple[tuple[SourceFile, ...], tuple[str, ...]]:
    """The files to rank: neither tests, unless asked for, nor copies of foreign code, unless there is nothing else."""
    everything = repository.files()
    place = repository.root or repository.name
    if not everything:
        raise UsageError(
            f"There is no Python file in {place}. Give the folder of a Python project: --repo FOLDER."
        )
    wanted = tuple(file for file in everything if tests or not is_test(file.path))
    if not wanted:
        raise UsageError(
            f"There is no Python file in {place} besides {len(everything)} of tests. To rank those: --tests."
        )
    foreign = Counter(folder for file in wanted if (folder := vendored_folder(file.path)) is not None)
    own = tuple(file for file in wanted if vendored_folder(file.path) is None)
    if not own or not foreign:
        return wanted, ()
    named = ", ".join(f"{folder} ({count})" for folder, count in foreign.most_common(3))
    more = f" and {len(foreign) - 3} more folders" if len(foreign) > 3 else ""
    total = sum(foreign.values())
    return own, (f"{total} file{'s' if total > 1 else ''} of vendored code left out: {named}{more}.",)


def open_corpus(
    repository: Repository,
    files: Sequence[SourceFile],
    cache: FactsCache,
    before: float | None = None,
    say: Progress | None = None,
) -> Corpus:
    """The corpus as it was saved, or built from facts, which are read only for contents never seen before."""
    if cache.folder is None:
        return build_corpus(repository, files, cache, before, say=say)
    key = corpus_key(files, repository.head, before, HISTORY)
    corpus = load_corpus(cache.folder, key)
    if corpus is None:
        corpus = build_corpus(repository, files, cache, before, say=say)
        save_corpus(corpus, cache.folder, key)
        cache.trim(corpus.blobs)
    return corpus


def _functions(
    query: Query, corpus: Corpus, repository: Repository, cache: FactsCache, rows: Sequence[int]
) -> dict[str, tuple[RankedFunction, ...]]:
    contents = dict(repository.read({corpus.blobs[row] for row in rows}))
    texts = [
        FileText(corpus.paths[row], decode(contents[blob]).text, cache.definitions(blob))
        for row in rows
        if (blob := corpus.blobs[row]) in contents
    ]
    return rank_functions(query, texts)


def _content_notes(corpus: Corpus) -> list[str]:
    notes = []
    cut = int(np.count_nonzero(corpus.cut))
    odd = int(np.count_nonzero(~corpus.parsed & ~corpus.cut))
    if cut:
        notes.append(
            f"{cut} file{'s are' if cut > 1 else ' is'} binary, generated or very large: read in part or not at all."
        )
    if odd:
        notes.append(
            f"{odd} file{'s' if odd > 1 else ''} did not parse as today's Python and were read by patterns."
        )
    return notes


# Why a file ranks where it does: the evidence of its strongest signals, in sentences.

_SHOWN = 5
# Beside those of the fixed sum: what else is worth telling, with the weight that orders it.
_ALSO = {"tag": 0.3, "imported": 0.2}
# Told only above this share of the largest value: nearly every file has a little of them.
_WEAK = {"changed_30": 0.5, "similar_commits_all": 0.6, "subjects_all": 0.7, "imported": 0.6}
_MOST_LISTS = 2  # reasons that merely list words


def reasons_for(query: Query, corpus: Corpus, measured: Measured, row: int) -> tuple[Reason, ...]:
    """The strongest evidence first."""
    found: list[Reason] = []
    for signal in SIGNALS:
        if share := _share(measured, signal.name, row):
            found.extend(replace(one, weight=share) for one in signal.reasons(query, corpus, row))
    for spreading in SPREADING:
        if share := _share(measured, spreading.name, row):
            told = spreading.reasons(query, corpus, measured.first, row)
            found.extend(replace(one, weight=share) for one in told)
    return tuple(_chosen(sorted(found, key=lambda reason: -reason.weight)))


def _share(measured: Measured, name: str, row: int) -> float:
    """How much a signal speaks for a file; 0 where that is not worth telling."""
    values = measured.scores[name]
    top = float(values.max(initial=0.0))
    if top <= 0 or values[row] <= _WEAK.get(name, 0.0) * top:
        return 0.0
    return round(WEIGHTS.get(name, _ALSO.get(name, 0.0)) * float(values[row]) / top, 4)


def _chosen(reasons: list[Reason]) -> list[Reason]:
    """The first few; a list of words only where it adds one."""
    kept: list[Reason] = []
    told: set[str] = set()
    lists = 0
    for reason in reasons:
        if reason.text in {one.text for one in kept}:
            continue
        if reason.kind == "words":
            if lists == _MOST_LISTS or told.issuperset(reason.words):
                continue
            lists += 1
            told.update(reason.words)
        kept.append(reason)
    return kept[:_SHOWN]
