"""Findings for people: a line as compilers write it, the code it is about, other places, and what would mend it."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import TYPE_CHECKING

from netmend.report.check.excerpt import AROUND, MOST_MARKED, code_line, excerpt
from netmend.report.check.look import Look
from netmend.report.check.shared import Sources, cell_of, many
from netmend.report.signs import cells, harmless, wrapped
from netmend.vocabulary.finding import SAFE, Finding, Related

if TYPE_CHECKING:
    from netmend.check.outcome import Outcome

_HEAD_SHARE = 0.6  # convention: a longer place leaves too little of the first line to the message
_INDENT = "  "
_RESULT = re.compile(r"Found \d+ problems?|No problems( left)?")
_LABEL = 5  # columns of "see" and "fix" with the blanks behind


def as_text(outcome: Outcome, look: Look) -> str:
    """Every finding, with a blank line between when the code is shown."""
    sources = Sources(outcome.source)
    blocks = ["\n".join(_block(finding, sources, look)) for finding in outcome.findings]
    return "".join(f"{block}\n\n" if look.excerpts else f"{block}\n" for block in blocks)


def closing(outcome: Outcome, look: Look, unsafe: bool) -> str:
    """The closing lines: how much was found, what can be done about it, what was left out."""
    lines = [_found(outcome, unsafe)]
    if outcome.problems:
        lines.append(f"{many(len({file for file, _ in outcome.problems}), 'file')} could not be checked.")
    if outcome.hidden:
        lines.append(f"The baseline hides {many(outcome.hidden, 'known problem')}.")
    if outcome.stale:
        verb = "occurs" if outcome.stale == 1 else "occur"
        lines.append(
            f"{many(outcome.stale, 'entry')} of the baseline no longer {verb}; --write-baseline brings it up to date."
        )
    if look.width is not None:
        lines = [part for line in lines for part in wrapped(line, look.width, look.width)]
    tone = "code" if outcome.findings else "good"
    # Painted last: words are wrapped by their width, and colours have none.
    lines = [_RESULT.sub(lambda found: look.paint(found[0], tone), line) for line in lines]
    return "".join(f"{line}\n" for line in lines)


def _found(outcome: Outcome, unsafe: bool) -> str:
    fixed = f"Fixed {many(len(outcome.fixed), 'problem')}. " if outcome.fixed else ""
    left = " left" if fixed else ""
    count = len(outcome.findings)
    if not count and not outcome.files:
        return f"{fixed}No Python files were found to check."
    if not count:
        checked = outcome.files - len({file for file, _ in outcome.problems})
        if checked < 1:
            return f"{fixed}Nothing was checked."
        return f"{fixed}No problems{left} in {many(checked, 'file')}."
    files = len({finding.file for finding in outcome.findings})
    return f"{fixed}Found {many(count, 'problem')}{left} in {many(files, 'file')}{_fixable(outcome, unsafe)}."


def _fixable(outcome: Outcome, unsafe: bool) -> str:
    fixes = [finding.fix for finding in outcome.findings if finding.fix is not None]
    safe = sum(fix.applicability == SAFE for fix in fixes)
    more = len(fixes) - safe
    if unsafe:
        return f" ({len(fixes)} fixable with --fix)" if fixes else ""
    if safe and more:
        return f" ({safe} fixable with --fix, {more} more with --unsafe-fixes)"
    if more:
        return f" ({more} fixable with --fix --unsafe-fixes)"
    return f" ({safe} fixable with --fix)" if safe else ""


def _block(finding: Finding, sources: Sources, look: Look) -> list[str]:
    lines = _head(finding, look)
    if not look.excerpts:
        return lines
    room = _gutter(finding)
    shown = excerpt(sources.lines(finding.file, finding.cell), finding, room, look)
    lines += [line for _, line in shown]
    for related in finding.related:
        lines += _related(finding, related, sources, room, look, {number for number, _ in shown})
    if finding.fix is not None and finding.fix.edits:
        option = "--fix" if finding.fix.applicability == SAFE else "--unsafe-fixes"
        lines += _labelled("fix", f"{harmless(finding.fix.title).rstrip('.')} ({option})", "fix", look)
    return lines


def _head(finding: Finding, look: Look) -> list[str]:
    """`train.py:14:9: S101 message`, wrapped where there is a width."""
    file = harmless(finding.file)
    place = f":{cell_of(finding)}{finding.line}:{finding.column + 1}:"
    mark = " [*]" if finding.fix is not None and finding.fix.applicability == SAFE else ""
    message = harmless(" ".join(finding.message.split()))
    head = look.paint(file, "path") + look.paint(place, "place")
    head += f" {look.paint(finding.code, 'code')}{look.paint(mark, 'fix')}"
    used = cells(f"{file}{place} {finding.code}{mark} ")
    if look.width is None:
        return [f"{head} {message}"]
    room = look.width - len(_INDENT)
    if used > _HEAD_SHARE * look.width and used + cells(message) > look.width:
        return [head, *(f"{_INDENT}{line}" for line in wrapped(message, room, room))]
    first, *others = wrapped(message, look.width - used, room)
    return [f"{head} {first}", *(f"{_INDENT}{line}" for line in others)]


def _related(
    finding: Finding, related: Related, sources: Sources, room: int, look: Look, shown: Container[int]
) -> list[str]:
    cell: int | None = getattr(related, "cell", None)
    is_here = related.file == finding.file and cell in (None, finding.cell)
    where = f"line {related.line}"
    if not is_here:
        file = "" if related.file == finding.file else f"{harmless(related.file)}:"
        where = f"{file}{cell_of(related)}{related.line}"
    lines = _labelled("see", f"{where}: {harmless(' '.join(related.message.split()))}", "label", look)
    source = sources.lines(related.file, finding.cell if is_here else cell).content(related.line)
    if source.strip() and not (is_here and related.line in shown):
        lines.append(code_line(source, related.line, room, look))
    return lines


def _gutter(finding: Finding) -> int:
    """Columns for line numbers."""
    last = min(max(finding.line, finding.end_line), finding.line + MOST_MARKED - 1) + AROUND
    return len(str(max([last, *(related.line for related in finding.related)])))


def _labelled(label: str, text: str, style: str, look: Look) -> list[str]:
    head = f"{_INDENT}{look.paint(label, style)}{' ' * (_LABEL - len(label))}"
    if look.width is None:
        return [head + text]
    room = look.width - len(_INDENT) - _LABEL
    first, *others = wrapped(text, room, room)
    return [head + first, *(f"{_INDENT}{' ' * _LABEL}{line}" for line in others)]
