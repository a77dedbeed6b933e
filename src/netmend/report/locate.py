"""Where a bug lies as it is told: files with their evidence and functions, what to look at outside the code; and its JSON (docs/json.md)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.style import Style
from rich.text import Text

from netmend.locate.answer import Located, RankedFile, RankedFunction, Reason
from netmend.locate.classify import NAMES
from netmend.report.content import Document, Remark, clean
from netmend.report.machine import Fields
from netmend.report.numbers import duration, plural, share
from netmend.report.signs import harmless
from netmend.report.terminal import PLACE_STYLE, Remarks

_VAGUE = 2  # words that a report must have in common with the source, so that an order can be trusted
_LEAST_SHARE = 0.01
_NEAR = 0.3  # of what speaks for the first: what puts a file far behind it makes no order
# evidence that every file has, or that rests on the same words
_OF_WORDS = ("words", "change", "import", "report")
_POINTING = ("frame", "line", "message")  # evidence that names one line
_REASONS_SHOWN = 4  # of one file; --json has all
_LATER_REASONS = 2  # of files after the first few
_FULLY_TOLD = 3
_MOST_FUNCTIONS = 3
_INDENT = 5
_CLEAR = 0.4  # probability below which the second type is told too
_MOST_REASONS = 3
_MOST_PROBLEMS = 4


def located_document(result: Located) -> Document:
    """The files first; what lies outside the code before the notes."""
    first = result.files[0] if result.files else None
    entries = [
        FileEntry(rank, file, result.answer.root, standing_words(file, first or file))
        for rank, file in enumerate(result.files, 1)
    ]
    outside = tuple(outside_remarks(result))
    more = (Group(Text("outside the code", "bold"), Remarks(outside, indent=2)),) if outside else ()
    parts = (*entries, *more, tuple(_foot(result)))
    return Document("good" if first else "warn", verdict_words(result), parts, tuple(_head(result)))


def verdict_words(result: Located) -> str:
    """`10 of 812 files, likeliest first`."""
    answer = result.answer
    if not answer.files:
        return f"Nothing in the report points at any of {plural(answer.candidates, 'file')}"
    if len(answer.files) == answer.candidates:
        return f"{plural(answer.candidates, 'file')}, likeliest first"
    return f"{len(answer.files)} of {plural(answer.candidates, 'file')}, likeliest first"


def vague_words(result: Located) -> str:
    """Why the order is hardly worth reading: a report with a word or two, no stack trace and no code. Empty where there is more."""
    report = result.report
    words = sorted({word for file in result.files for reason in file.reasons for word in reason.words})
    near = [file for file in result.files if _part(file, result.files[0]) > _NEAR]
    reasons = [reason for file in near for reason in file.reasons]
    if report.traces or report.code or len(words) > _VAGUE:
        return ""
    if any(reason.kind not in _OF_WORDS for reason in reasons):
        return ""
    shared = f"only {' and '.join(f'“{clean(word)}”' for word in words)} could be compared; " if words else ""
    return f"{shared}add the error message, a stack trace, or names from the code"


def standing_words(file: RankedFile, first: RankedFile) -> str:
    """How much speaks for a file, as a share of what speaks for the first; scores are log-odds."""
    if file is first:
        return ""
    part = _part(file, first)
    return f"{share(part) if part >= _LEAST_SHARE else '< 1 %'} of the first"


def _part(file: RankedFile, first: RankedFile) -> float:
    return math.exp(min(0.0, file.score - first.score))


def searched_words(result: Located) -> str:
    """What was searched: a commit, or the files as they lie in a folder."""
    answer = result.answer
    place = clean(result.name or answer.root or "the repository")
    if answer.revision is not None:
        return f"{place} at {answer.revision[:12]}"
    return f"{place}, files as they are now"


def report_words(result: Located) -> str:
    """What could be used of the report: `2 stack traces (9 frames), 1 code block, 143 words`."""
    report = result.report
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


class FileEntry:
    """One ranked file: its place, the functions to begin with, why it ranks where it does."""

    def __init__(self, rank: int, file: RankedFile, root: str | None, standing: str = "") -> None:
        self.rank, self.file, self.root, self.standing = rank, file, root, standing

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        line = line_of(self.file)
        words = harmless(self.file.path) + (f":{line}" if line is not None else "")
        # Never broken or cut: editors and terminals open `path:line` only where it stands whole.
        place = Text(f"{self.rank:>{_INDENT - 2}}  ", "bold", no_wrap=True, overflow="ignore")
        place.append(words, Style.parse(PLACE_STYLE) + link(self.root, self.file.path))
        yield place.append(f"  {self.standing}", "dim") if self.standing else place
        fully = self.rank <= _FULLY_TOLD
        remarks = [
            Remark("in", function_words(one))
            for one in self.file.functions[: _MOST_FUNCTIONS if fully else 1]
        ]
        reasons = self.file.reasons[: _REASONS_SHOWN if fully else _LATER_REASONS]
        remarks += [_reason(reason) for reason in reasons]
        yield Remarks(remarks, indent=_INDENT)


def link(root: str | None, path: str) -> Style:
    """A link to the file, where it lies on this machine."""
    return Style() if root is None else Style(link=(Path(root).absolute() / path).as_uri())


def _reason(reason: Reason) -> Remark:
    return Remark(clean(reason.kind), reason_words(reason), tone="muted")


def _head(result: Located) -> list[Remark]:
    title = f"{clean(result.report.title)} – " if result.report.title else ""
    vague = vague_words(result)
    return [
        *([Remark("too vague", vague, tone="warn")] if vague and result.files else []),
        Remark("report", f"{title}{report_words(result)}"),
        Remark("searched", searched_words(result)),
        *kind_remarks(result),
    ]


def _foot(result: Located) -> list[Remark]:
    remarks = [Remark("note", clean(note), tone="warn") for note in result.answer.notes]
    if seconds := result.answer.seconds:
        spent = ", ".join(f"{clean(stage)} {duration(value)}" for stage, value in seconds.items())
        remarks.append(Remark("time", spent, tone="muted"))
    return remarks


def kind_remarks(result: Located) -> Iterator[Remark]:
    """`GPU (71 %): the words cuda, device`, and whether the cause lies in the code."""
    kind, outer = result.answer.kind, result.answer.extrinsic
    if kind is not None:
        words = f"{kind.name} ({chance(kind.probability)})"
        if kind.probability < _CLEAR and kind.others:
            words += f" or {NAMES[kind.others[0][0]]} ({chance(kind.others[0][1])})"
        why = "; ".join(clean(reason) for reason in kind.reasons[:_MOST_REASONS])
        yield Remark("type", f"{words}: {why}" if why else words)
    # A hint, no verdict: one in three such hints was right on unseen reports.
    if outer is not None and outer.likely:
        yield Remark("cause", "perhaps outside the code; see the signs below", tone="warn")


def chance(probability: float) -> str:
    """Never a full certainty, which no model of words has."""
    if 0.01 <= probability <= 0.99:
        return f"{round(100 * probability)} %"
    return "> 99 %" if probability > 0.5 else "< 1 %"


def outside_remarks(result: Located) -> Iterator[Remark]:
    """What to look at outside the code, with the report's words; then what this machine says about it."""
    outer = result.answer.extrinsic
    if outer is None or not outer.likely:
        return
    here = {one.name: one for one in result.here.versions} if result.here is not None else {}
    named = {one.what for one in outer.look_at if one.name is not None}
    quotes: set[str] = set()
    for one in outer.look_at:
        if one.name is None and one.what in named:
            continue  # the named ones say it better
        versions = f" {', '.join(one.versions)}" if one.versions else ""
        yield Remark("look at", f"{clean(one.name or one.what)}{versions}: {one.advice}")
        if one.quote not in quotes:
            quotes.add(one.quote)
            yield Remark("because", f"“{clean(one.quote)}”", tone="muted")
    for name, own in here.items():
        yield Remark("here", f"{clean(name)} {own.installed or 'is not installed'}")
    if result.here is not None:
        for problem in result.here.problems[:_MOST_PROBLEMS]:
            bad = problem.level == "bad"
            yield Remark("wrong" if bad else "note", clean(problem.what), tone="bad" if bad else "warn")
            yield Remark("do", clean(problem.do))
    yield Remark("more", "netmend env checks this machine", tone="muted")


def _outside_data(result: Located) -> dict[str, Any] | None:
    outer, here = result.answer.extrinsic, result.here
    if outer is None:
        return None
    there: tuple[object, object] = ((), ()) if here is None else (here.versions, here.problems)
    return {**_OUTSIDE(outer), **dict(zip(("here", "problems"), there, strict=True))}


_REASON = Fields("kind", "text", "line", "weight")
_FUNCTION = Fields("name", "line", "end_line=end", "score", ("reasons", _REASON))
_FILE = Fields("path", ("line", line_of), "score", ("reasons", _REASON), ("functions", _FUNCTION))
_FRAME = Fields("path", "line", "function")
_KIND = Fields(
    "name",
    "probability",
    "reasons",
    ("others", lambda kind: [{"name": NAMES[code], "probability": share} for code, share in kind.others]),
)
_OUTSIDE = Fields("likely", "probability", "reasons", "look_at")
_REPOSITORY = Fields("name", "root=answer.root", "revision=answer.revision")
_REPORT = Fields(
    "title",
    ("failures", Fields("kind", "message")),
    ("traces", lambda report: [_FRAME.of(trace) for trace in report.traces]),
    ("code_blocks", lambda report: len(report.code)),
    "paths",
    "modules",
    ("versions", lambda report: [{"name": name, "version": version} for name, version in report.versions]),
)
LOCATED = Fields(
    ("report", _REPORT),
    ("repository", lambda result: _REPOSITORY(result)),
    "candidates=answer.candidates",
    ("files", lambda result: [{"rank": rank, **_FILE(file)} for rank, file in enumerate(result.files, 1)]),
    ("kind=answer.kind", _KIND),
    ("extrinsic", _outside_data),
    "notes=answer.notes",
    "seconds=answer.seconds",
)
