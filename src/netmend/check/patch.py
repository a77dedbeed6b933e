"""One pass of fixes over a text: whole fixes or none, none touching another, never a broken text or a lost comment."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from netmend.program.text.spans import Span, carried_out, meet, moved, spans_of
from netmend.vocabulary.finding import Finding

# A suppression is ours, so a fix may take it away; the words around it are the user's.
_SUPPRESSION = re.compile(r"#\s*netmend:\s*ignore(-file)?(\s*\[[^\]#]*\]?)?", re.IGNORECASE)


@dataclass(frozen=True)
class Patched:
    """A text with several fixes in it, and the way from old offsets to new ones."""

    text: str
    fixed: tuple[Finding, ...] = ()
    spans: tuple[Span, ...] = ()  # in order, none touching another

    def moved(self, offset: int) -> tuple[int, int]:
        return moved(self.spans, offset)


def patched(text: str, findings: Sequence[Finding]) -> Patched:
    """As many of the fixes as fit beside one another and leave the text whole."""
    comments = _comments(text)
    if comments is None or not findings:
        return Patched(text)
    chosen, spans = _side_by_side(text, findings)
    if chosen:
        whole = _carried_out(text, chosen, spans)
        if _is_whole(whole.text, comments):
            return whole
    # One of them breaks the text: add them one by one and leave out those that do.
    result = Patched(text)
    kept: list[Finding] = []
    for finding in chosen:
        together, spans = _side_by_side(text, [*kept, finding])
        attempt = _carried_out(text, together, spans)
        if _is_whole(attempt.text, comments):
            result, kept = attempt, together
    return result


def _side_by_side(text: str, findings: Iterable[Finding]) -> tuple[list[Finding], list[Span]]:
    chosen: list[Finding] = []
    taken: list[Span] = []
    placed = [(spans, finding) for finding in findings if (spans := _spans(text, finding))]
    for spans, finding in sorted(placed, key=lambda item: (item[0][0].start, item[0][-1].end)):
        # The same edit may serve two findings: an import that both need.
        fresh = [span for span in spans if span not in taken]
        if not any(meet(one, other) for one in fresh for other in taken):
            chosen.append(finding)
            taken.extend(fresh)
    return chosen, sorted(taken, key=lambda span: (span.start, span.end))


def _spans(text: str, finding: Finding) -> list[Span]:
    """The edits of a finding's fix in offsets and in order; none where one lies outside the text or meets another."""
    return spans_of(text, finding.fix.edits if finding.fix is not None else ())


def _carried_out(text: str, fixed: Sequence[Finding], spans: Sequence[Span]) -> Patched:
    return Patched(carried_out(text, spans), tuple(fixed), tuple(spans))


def _is_whole(text: str, comments: Counter[str]) -> bool:
    kept = _comments(text)
    return kept is not None and not comments - kept


def _comments(text: str) -> Counter[str] | None:
    """The comments of a text with their numbers; None for a text that is no Python."""
    try:
        ast.parse(text)
        return Counter(_comment_tokens(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        return None


def _comment_tokens(text: str) -> Iterator[str]:
    # Lines end as in the parser, so that a lone "\r" does not lengthen a comment.
    for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
        if token.type == tokenize.COMMENT:
            words = _SUPPRESSION.sub("", token.string).strip("# \t\f")
            if words or _SUPPRESSION.search(token.string) is None:
                yield words
