"""The language of a file by its name, and its text by its bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from netmend.locate.bug_report import BugReport

# Whether a report's prose is English, which is what source is mostly written in; if not, what of it can be used.

# Frequent words of English reports; hardly one of them is a frequent word of another language.
_FREQUENT = """
the and of to that it is for you with this be are have not from when but if they can there will which would i my your
its has been does how what then than use using after should just only same some any also because by at into out error
fails expected get run running try tried see code version bug issue following works work
"""
_ENGLISH = frozenset(_FREQUENT.split())
_WORD = re.compile(r"[^\W\d_]+")
_NAME_LIKE = re.compile(r"[a-z0-9][A-Z]|_|[\w)]\.\w|/|\\|::|=")
_LEAST_WORDS = 12  # of prose; fewer tell nothing about a language
_LEAST_SHARE = 0.04  # of English words; three of 2,700 English reports fall below (logs, lists of versions)
_LEAST_FOREIGN = 0.3  # share of letters that are not Latin


def language_note(report: BugReport) -> str:
    """A sentence where the prose is not English, saying what of the report was usable; else nothing."""
    prose = " ".join(word for word in f"{report.title} {report.prose}".split() if not _NAME_LIKE.search(word))
    letters = [letter for letter in prose if letter.isalpha()]
    foreign = sum(not _latin(letter) for letter in letters)
    words = [word.lower() for word in _WORD.findall(prose)]
    if letters and foreign / len(letters) >= _LEAST_FOREIGN:
        what = "is not written in Latin letters"
    elif len(words) >= _LEAST_WORDS and sum(word in _ENGLISH for word in words) / len(words) < _LEAST_SHARE:
        what = "does not read like English"
    else:
        return ""
    return f"The report {what}, so its sentences match the source only by chance. {_usable(report)}"


def _latin(letter: str) -> bool:
    return letter < "\u0250" or "\u1e00" <= letter <= "\u1eff"


def _usable(report: BugReport) -> str:
    frames = sum(map(len, report.traces))
    parts = [
        f"{count} {noun}{'' if count == 1 else 's'}"
        for count, noun in (
            (frames, "stack frame"),
            (len(report.failures), "error message"),
            (len(report.code), "code block"),
            (len(report.paths), "file name"),
            (len(report.modules), "dotted name"),
        )
        if count
    ]
    if not parts:
        return "Nothing else was in it; add the error with its stack trace, or an English summary."
    return f"What counts is the rest: {', '.join(parts)}."


# Bytes of a source file as text: declared encodings, wrong encodings, huge and generated files.

LARGEST = 1_000_000  # bytes that are looked into; hand-written files are far smaller
_LONG_LINE = 5_000  # characters; such lines are data or generated code
_DECLARED = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


@dataclass(frozen=True)
class SourceText:
    text: str
    cut: bool  # only a part of the file


def decode(content: bytes) -> SourceText:
    """The text of a file; binary content gives no text at all."""
    cut = len(content) > LARGEST
    if cut:
        content = content[: content.rfind(b"\n", 0, LARGEST) + 1 or LARGEST]
    if b"\0" in content[:8_000]:
        return SourceText("", True)
    text = _text(content)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if len(text) > _LONG_LINE and max(map(len, text.split("\n"))) > _LONG_LINE:
        kept = [line for line in text.split("\n") if len(line) <= _LONG_LINE]
        return SourceText("\n".join(kept), True)
    return SourceText(text, cut)


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    for line in content.split(b"\n", 2)[:2]:
        declared = _DECLARED.match(line)
        if declared:
            try:
                return content.decode(declared.group(1).decode(), "replace")
            except (LookupError, UnicodeError, ValueError):
                break
    return content.decode("latin-1")
