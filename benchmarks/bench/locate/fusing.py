"""Every report ranked by every method; whatever is learned or tuned comes from other projects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.locate import learning
from bench.locate.baselines import blia, dnnloc
from bench.locate.denchmark import Report
from bench.locate.learning import Example, Settings
from bench.locate.measuring import BLIA, BLUIR, BM25, BUGLOCATOR, DNNLOC, GRID, Sheet
from bench.locate.metrics import Ranked, rank
from bench.locate.protocol import Protocol
from netmend.locate.features import FEATURE_NAMES

NETMEND, FIXED = "netmend", "netmend, fixed weights"
FOLDS, INNER = 10, 2
Scores = NDArray[np.floating]
Results = dict[str, Ranked]  # by report


@dataclass(frozen=True)
class Task:
    """What all methods are given."""

    reports: Mapping[str, Report]
    sheets: Mapping[str, Sheet]
    protocol: Protocol

    def project(self, report: str) -> str:
        return self.reports[report].project

    def ranked(self, report: str, scores: Scores) -> Ranked:
        sheet = self.sheets[report]
        return rank(scores, sheet.paths, self.protocol.fixed(self.reports[report]))

    def parts(self, count: int = FOLDS, without: frozenset[str] = frozenset()) -> tuple[frozenset[str], ...]:
        """Projects dealt into parts."""
        sizes = Counter(self.project(report) for report in self.sheets)
        return learning.folds({name: size for name, size in sizes.items() if name not in without}, count)


def untrained(task: Task) -> dict[str, Results]:
    """Methods with nothing to choose."""
    columns: dict[str, Callable[[Sheet], Scores]] = {
        BM25: lambda sheet: sheet.baseline(BM25),
        BUGLOCATOR: lambda sheet: sheet.baseline(BUGLOCATOR),
        FIXED: lambda sheet: sheet.feature("fixed"),
    }
    return {
        method: {name: task.ranked(name, scores(sheet)) for name, sheet in task.sheets.items()}
        for method, scores in columns.items()
    }


def tuned(task: Task) -> tuple[dict[str, Results], dict[str, dict[str, int]]]:
    """BLUiR and BLIA with the settings that were best on the other projects; and how often each was chosen."""
    families = {
        BLUIR: [f"{BLUIR} {k1} {b}" for k1, b in GRID],
        BLIA: [f"{BLIA} {number}" for number in range(len(blia.SHIPPED))],
    }
    results: dict[str, Results] = {}
    chosen: dict[str, dict[str, int]] = {}
    for family, columns in families.items():
        all_of = {
            column: {name: task.ranked(name, sheet.baseline(column)) for name, sheet in task.sheets.items()}
            for column in columns
        }
        results[family], picks = {}, Counter[str]()
        for part in task.parts():
            others = [name for name in task.sheets if task.project(name) not in part] or list(task.sheets)
            best = max(columns, key=lambda column: _mean_precision(all_of[column], others))
            picks[best] += 1
            for name in task.sheets:
                if task.project(name) in part:
                    results[family][name] = all_of[best][name]
        chosen[family] = dict(picks)
    return results, chosen


def network(task: Task) -> Results:
    """DNNLOC's features and network, trained on the whole candidate lists of other projects."""
    rows = {
        name: np.column_stack([sheet.baseline(f"{DNNLOC} {n}") for n in range(5)]).astype(float)
        for name, sheet in task.sheets.items()
    }
    fixed = {example.report: example.fixed for example in examples(task)}
    results: Results = {}
    for part in task.parts():
        others = [name for name in task.sheets if task.project(name) not in part]
        trained = dnnloc.train(
            np.concatenate([rows[name] for name in others]), np.concatenate([fixed[name] for name in others])
        )
        for name in task.sheets:
            if task.project(name) in part:
                results[name] = task.ranked(name, trained.scores(rows[name]))
    return results


def learned(
    task: Task, settings: Sequence[Settings], tell: Callable[[int, int], None] = lambda done, total: None
) -> tuple[Results, dict[str, int]]:
    """The trees, each part ranked by trees of the others; settings are chosen inside those others."""
    everything = examples(task)
    parts = task.parts()
    results: Results = {}
    picks: Counter[str] = Counter()
    for number, part in enumerate(parts):
        tell(number, len(parts))
        others = [example for example in everything if example.project not in part]
        best = choose(task, others, settings, part)
        picks[str(best)] += 1
        model = learning.fit(others, best)
        for example in everything:
            if example.project in part:
                results[example.report] = task.ranked(
                    example.report, model.predict(example.rows, num_threads=1)
                )
    tell(len(parts), len(parts))
    return results, dict(picks)


def examples(task: Task) -> list[Example]:
    """All reports as a learner sees them."""
    columns = [FEATURE_NAMES.index(name) for name in learning.USED]
    made = []
    for name, sheet in task.sheets.items():
        wanted = task.protocol.fixed(task.reports[name])
        fixed = np.array([path in wanted for path in sheet.paths], dtype=bool)
        rows = sheet.features[:, columns]
        made.append(Example(name, task.project(name), rows, fixed, sheet.feature("fixed")))
    return made


def choose(
    task: Task, mine: Sequence[Example], settings: Sequence[Settings], without: frozenset[str] = frozenset()
) -> Settings:
    """The settings with the highest mean precision over inner parts; projects in `without` are not looked at."""
    if len(settings) == 1:
        return settings[0]
    totals = []
    for one in settings:
        results: Results = {}
        for part in task.parts(INNER, without):
            model = learning.fit([example for example in mine if example.project not in part], one)
            for example in mine:
                if example.project in part:
                    results[example.report] = task.ranked(
                        example.report, model.predict(example.rows, num_threads=1)
                    )
        totals.append(_mean_precision(results, list(results)))
    return settings[int(np.argmax(totals))]


def _mean_precision(results: Mapping[str, Ranked], names: Sequence[str]) -> float:
    return float(np.mean([results[name].values[4] for name in names]))
