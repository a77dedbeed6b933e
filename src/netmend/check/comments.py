"""Finds the comments that silence findings, with Python's own tokenizer: the same words in a string mean nothing."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Sequence

from netmend.check.select import Known, Selection, matching
from netmend.check.suppress import Item, Suppression
from netmend.errors import UsageError
from netmend.vocabulary.finding import Edit

_WORD = "etmend:"  # whatever the case of its first letter; most files hold none and need no tokens
_COMMENT = re.compile(
    r"#\s*netmend:\s*ignore(?P<file>-file)?(?![\w-])(?:\s*\[(?P<codes>[^\]#]*)(?P<close>\]?))?", re.IGNORECASE
)
_BARE_CODE = re.compile(r"[\s:]*(S\d{1,3})\b")
_LAYOUT = frozenset(
    (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENDMARKER, tokenize.ENCODING)
)


def suppressions(
    text: str, known: Known, selection: Selection, off: frozenset[str] = frozenset()
) -> tuple[Suppression, ...]:
    """Every comment that silences something. `off` are the codes that the configuration leaves out for this file."""
    if _WORD not in text:
        return ()
    comments: list[tokenize.TokenInfo] = []
    spans: list[tuple[int, int]] = []  # first and last line of each statement, in order
    stream = io.StringIO(text, newline=None)
    lines = stream.getvalue().split("\n")
    start = 0
    try:
        for token in tokenize.generate_tokens(stream.readline):
            if token.type == tokenize.COMMENT:
                comments.append(token)
            elif token.type == tokenize.NEWLINE:
                spans.append((start or token.start[0], token.start[0]))
                start = 0
            elif token.type not in _LAYOUT and not start:
                start = token.start[0]
    except (tokenize.TokenError, SyntaxError, RecursionError):
        pass  # the file is reported as unparsable; what was found so far counts
    on = selection.codes - off
    return tuple(
        _suppression(
            token.start, match, lines, spans, _items(match, known, on, selection.defaults and not off)
        )
        for token in comments
        for match in _COMMENT.finditer(token.string)
    )


def _items(match: re.Match[str], known: Known, on: frozenset[str], all_on: bool) -> tuple[Item, ...]:
    if match["codes"] is None:
        return (Item("", (), all_on),)
    return tuple(_item(name.strip(), known, on) for name in match["codes"].split(",") if name.strip())


def _item(name: str, known: Known, on: frozenset[str]) -> Item:
    try:
        codes = tuple(matching(known, name))
    except UsageError:
        return Item(name, (), active=False, known=False)
    # Of a family, the optional rules are never expected to be on.
    expected = [code for code in codes if code not in known.optional] or codes
    return Item(name, codes, active=all(code in on for code in expected))


def _suppression(
    start: tuple[int, int],
    match: re.Match[str],
    lines: Sequence[str],
    spans: Sequence[tuple[int, int]],
    items: tuple[Item, ...],
) -> Suppression:
    line, column = start
    text = lines[line - 1]
    begin, end = column + match.start(), column + match.end()
    alone = not text[:begin].strip()
    codes = match.span("codes")
    return Suppression(
        line,
        begin,
        end,
        *_span(line, alone, spans),
        match["file"] is not None,
        items,
        _removal(line, begin, end, text, alone and line < len(lines)),
        (column + codes[0], column + codes[1]),
        _note(match),
    )


def _span(line: int, alone: bool, spans: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The lines of the statement that a comment stands in, or of the next one for a comment alone on its line."""
    for first, last in spans:
        if first <= line <= last or (alone and first > line):
            return first, last
    return line, line


def _removal(line: int, begin: int, end: int, text: str, whole_line: bool) -> Edit:
    """Takes the comment and its reason away, but not another comment behind it (`# noqa`)."""
    other = text.find("#", end)
    if other >= 0:
        return Edit(line, begin, line, other, "")
    if whole_line:
        return Edit(line, 0, line + 1, 0, "")
    return Edit(line, len(text[:begin].rstrip()), line, len(text), "")


def _note(match: re.Match[str]) -> str:
    if match["codes"] is None:
        bare = _BARE_CODE.match(match.string, match.end())
        if bare is not None:
            return f"Without brackets every rule is silenced; write # netmend: ignore[{bare[1]}]"
    elif not match["close"]:
        return "The closing bracket is missing; write # netmend: ignore[S201]"
    return ""
