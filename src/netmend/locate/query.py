"""A bug report as the signals see it: words by part, names, and what else is known at the time of asking."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from netmend.locate.words import spellings, words

if TYPE_CHECKING:
    from netmend.locate.bug_report import BugReport

_NAME = re.compile(r"[A-Za-z_]\w*")
_CALLED = re.compile(r"([A-Za-z_]\w*)\s*\(")
TITLE_WEIGHT, PROSE_WEIGHT, CODE_WEIGHT = 2.0, 1.0, 0.5


@dataclass(frozen=True)
class EarlierReport:
    """A report that was closed before this one was opened, with the files that its fix changed."""

    words: Mapping[str, int]
    files: tuple[str, ...]
    closed: float  # seconds since the epoch


@dataclass(frozen=True)
class Query:
    report: BugReport
    title: Mapping[str, int]  # stemmed words with how often they occur
    prose: Mapping[str, int]
    code: Mapping[str, int]  # code blocks and the code shown in stack traces
    names: Mapping[str, int]  # identifiers as written, anywhere in the report
    title_names: Mapping[str, int]
    called: Mapping[str, int]  # names that code in the report calls
    opened: float | None = None
    earlier: tuple[EarlierReport, ...] = ()
    executed: tuple[str, ...] = ()  # files that a watched run executed or blamed, most blamed first
    shown: Mapping[str, str] = field(default_factory=dict)  # stemmed word -> a spelling to show to people
    repository: str = ""  # the name of what is searched, where it is known

    @property
    def weighted(self) -> dict[str, float]:
        """One bag of words: a title is short and chosen with care, pasted code is long and often the user's own."""
        bag: dict[str, float] = {}
        parts = ((self.title, TITLE_WEIGHT), (self.prose, PROSE_WEIGHT), (self.code, CODE_WEIGHT))
        for part, weight in parts:
            for term, count in part.items():
                bag[term] = bag.get(term, 0.0) + weight * count
        return bag


def make_query(
    report: BugReport,
    opened: float | None = None,
    earlier: Sequence[EarlierReport] = (),
    executed: Sequence[str] = (),
    repository: str = "",
) -> Query:
    code = "\n".join([*report.code, *(frame.code for trace in report.traces for frame in trace)])
    messages = "\n".join(f"{failure.kind} {failure.message}" for failure in report.failures)
    shown: dict[str, str] = {}
    for name in _NAME.findall(report.text):
        for term, spelling in spellings(name).items():
            shown.setdefault(term, spelling)
    return Query(
        report=report,
        title=Counter(words(report.title)),
        prose=Counter(words(f"{report.prose}\n{messages}")),
        code=Counter(words(code)),
        names=Counter(_NAME.findall(report.text)),
        title_names=Counter(_NAME.findall(report.title)),
        called=Counter(_CALLED.findall(code)),
        opened=opened,
        earlier=tuple(earlier),
        executed=tuple(executed),
        shown=shown,
        repository=repository,
    )
