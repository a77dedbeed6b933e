"""A repair put into words: the verdict, what went wrong, what changes; terminal, page and JSON say it alike."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import PurePath

from netmend.repair.result import Result
from netmend.report.content import Remark, clean, first_line
from netmend.report.numbers import plural
from netmend.report.repair.patch import places
from netmend.trials.trial import FAILED, LOST, OUT_OF_MEMORY, STOPPED, TIMED_OUT
from netmend.vocabulary import UNDECIDED, Site
from netmend.vocabulary.verification import PROMISING, PROVEN

ENDINGS = {
    STOPPED: "stopped early (no gain alone)",
    FAILED: "fails",
    TIMED_OUT: "takes too long",
    OUT_OF_MEMORY: "runs out of memory",
    LOST: "was killed",
}


def verdict_words(result: Result) -> tuple[str, str]:
    """The tone (good, warn, bad) and the verdict in a few words."""
    if result.verdict == PROVEN:
        return "good", "A fix is proven"
    if result.verdict == PROMISING:
        return "warn", "A change looks promising, but is not proven"
    if result.version.parts:
        return "bad", "No fix found: what helped once does not hold across seeds"
    if is_healthy(result):
        return _healthy_words(result)
    ending = ENDINGS.get(result.baseline.status)
    return "bad", f"No fix found; the program {ending}" if ending else "No fix found"


def is_healthy(result: Result) -> bool:
    """Nothing is told of the program, and nothing was found that makes it better."""
    told = result.diagnosis is None or bool(result.diagnosis.faults)
    return result.baseline.ran and not told and not result.version.parts


def _healthy_words(result: Result) -> tuple[str, str]:
    tried = len(result.attempts)
    more = f"none of {plural(tried, 'change')} helped" if tried else "nothing was tried"
    if result.diagnosis is not None and result.diagnosis.verdict == UNDECIDED:
        return "warn", f"Undecided: {clean(result.diagnosis.reason).rstrip('.')}; {more}"
    return "good", f"No fault found, and {more}"


def place_words(result: Result, site: Site | None) -> str:
    """`file:line` as the user knows the file: trials ran in a copy."""
    if site is None:
        return ""
    return clean(f"{file_words(result, site.file)}:{site.line}")


def file_words(result: Result, file: str) -> str:
    """A file relative to the program's folder, or to the copy that a trial had of it."""
    path = PurePath(file)
    for root in (result.baseline.root, os.path.realpath(result.baseline.root), result.directory):
        if root and path.is_relative_to(root):
            return str(path.relative_to(root))
    return file


def change_remarks(result: Result) -> Iterator[Remark]:
    """Each change with its line in the original."""
    for part, place in zip(result.version.parts, places(result.version), strict=True):
        where = "" if place is None else clean(f"{place[0]}:{place[1]}")
        yield Remark("change", clean(part.change.title), where)


def failure_remarks(result: Result) -> Iterator[Remark]:
    """How the program as it is went wrong, when it did not run to its end."""
    baseline = result.baseline
    if baseline.ran:
        return
    text = first_line(baseline.exception) or ENDINGS.get(baseline.status, baseline.status)
    yield Remark("original", text, tone="bad")
    for note in baseline.notes[:3]:
        yield Remark("refused", clean(note), tone="warn")
