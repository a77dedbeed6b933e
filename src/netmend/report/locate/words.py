"""Where a bug lies, put into words: what terminal and JSON share."""

from __future__ import annotations

import math

from netmend.locate.answer import RankedFile, RankedFunction, Reason
from netmend.locate.located import Located
from netmend.report.content import clean
from netmend.report.numbers import plural, share

_VAGUE = 2  # words that a report must have in common with the source, so that an order can be trusted
_LEAST_SHARE = 0.01
_NEAR = 0.3  # of what speaks for the first: what puts a file far behind it makes no order
# evidence that every file has, or that rests on the same words
_OF_WORDS = ("words", "change", "import", "report")
_POINTING = ("frame", "line", "message")  # evidence that names one line


def verdict_words(found: Located) -> str:
    """`10 of 812 files, likeliest first`."""
    answer = found.answer
    if not answer.files:
        return f"Nothing in the report points at any of {plural(answer.candidates, 'file')}"
    if len(answer.files) == answer.candidates:
        return f"{plural(answer.candidates, 'file')}, likeliest first"
    return f"{len(answer.files)} of {plural(answer.candidates, 'file')}, likeliest first"


def vague_words(found: Located) -> str:
    """Why the order is hardly worth reading: a report with a word or two, no stack trace and no code. Empty where there is more."""
    report = found.report
    words = sorted({word for file in found.files for reason in file.reasons for word in reason.words})
    reasons = [
        reason for file in found.files if _part(file, found.files[0]) > _NEAR for reason in file.reasons
    ]
    if (
        report.traces
        or report.code
        or len(words) > _VAGUE
        or any(reason.kind not in _OF_WORDS for reason in reasons)
    ):
        return ""
    shared = f"only {' and '.join(f'“{clean(word)}”' for word in words)} could be compared; " if words else ""
    return f"{shared}add the error message, a stack trace, or names from the code"


def standing_words(file: RankedFile, first: RankedFile) -> str:
    """How much speaks for a file, as a share of what speaks for the first; scores are log-odds."""
    part = _part(file, first)
    return (
        ""
        if file is first
        else f"{share(part)} of the first"
        if part >= _LEAST_SHARE
        else "< 1 % of the first"
    )


def _part(file: RankedFile, first: RankedFile) -> float:
    return math.exp(min(0.0, file.score - first.score))


def searched_words(found: Located) -> str:
    """What was searched: a commit, or the files as they lie in a folder."""
    answer = found.answer
    place = clean(found.name or answer.root or "the repository")
    if answer.revision is not None:
        return f"{place} at {answer.revision[:12]}"
    return f"{place}, files as they are now"


def report_words(found: Located) -> str:
    """What could be used of the report: `2 stack traces (9 frames), 1 code block, 143 words`."""
    report = found.report
    parts = []
    if report.traces:
        frames = sum(map(len, report.traces))
        parts.append(f"{plural(len(report.traces), 'stack trace')} ({plural(frames, 'frame')})")
    if report.code:
        parts.append(plural(len(report.code), "code block"))
    if count := len(report.prose.split()):
        parts.append(plural(count, "word"))
    return ", ".join(parts) or "its title only"


def line_of(file: RankedFile) -> int | None:
    """The line to open a file at: the one that evidence names, else where its likeliest function begins."""
    first = file.functions[0] if file.functions else None
    # The file's own frames are of the version the report is about: they count where no function was recognised.
    for reasons in (first.reasons,) if first else (file.reasons,):
        for reason in reasons:
            if reason.kind in _POINTING and reason.line is not None:
                return reason.line
    return None if first is None else first.line


def reason_words(reason: Reason) -> str:
    """A frame's line is of the version that the report is about; other lines are of the file as it was searched."""
    if reason.line is None:
        return clean(reason.text)
    whose = " in the report" if reason.kind == "frame" else ""
    return f"{clean(reason.text)} (line {reason.line}{whose})"


def function_words(one: RankedFunction) -> str:
    """`Trainer.fit, lines 40–61: stack frame fit`."""
    lines = f"line {one.line}" if one.end <= one.line else f"lines {one.line}–{one.end}"
    if not one.reasons:
        return f"{clean(one.name)}, {lines}"
    first = one.reasons[0]
    return f"{clean(one.name)}, {lines}: {'words ' if first.kind == 'words' else ''}{clean(first.text)}"
