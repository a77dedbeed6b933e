"""A diagnosis on the terminal: the verdict, then each fault with its line, what was seen, why, and what to change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.style import Style
from rich.text import Text

from netmend.program.text.positions import Lines
from netmend.program.text.sources import Sources
from netmend.report.check.excerpt import AROUND, excerpt, span_of
from netmend.report.check.look import Look
from netmend.report.content import Remark, clean, doubt, place
from netmend.report.fault_edit import ChangedLine, changed_lines, told_once
from netmend.report.numbers import alike, sure
from netmend.report.signs import cells, cropped
from netmend.report.terminal import STYLES, Indented, Remarks, blank
from netmend.report.wording import verdict_words
from netmend.vocabulary import Diagnosis, Fault, Site, Trace
from netmend.vocabulary.change import Patch

_MOST_SHOWN = 5  # faults told in full; the rest in one line each
_MOST_LINES = 6  # of a change
_BEFORE = 12  # columns kept before what differs in a line that is cut
_DIFF_STYLES = {"file": "dim", "old": "red", "new": "green", "gap": "dim", "same": "dim"}


def diagnosis_text(trace: Trace, diagnosis: Diagnosis) -> RenderableType:
    """Verdict first; one fault fills at most one screen."""
    parts: list[RenderableType] = [_verdict(diagnosis)]
    parts.extend(Indented(Text(alike(clean(sentence)))) for sentence in diagnosis.story)
    sources = Sources(trace.run.working_directory, trace.run.script)
    for rank, fault in enumerate(told_once(diagnosis.faults[:_MOST_SHOWN]), start=1):
        number = rank if len(diagnosis.faults) > 1 else 0
        parts.append(_fault(trace, sources, fault, number, diagnosis.story))
    for fault in diagnosis.faults[_MOST_SHOWN:]:
        where = place(fault.site, trace.run)
        parts.append(Text(f"  also {fault.title}, {fault.cause}, {where}", "dim"))
    if diagnosis.failures:
        parts.append(Text(f"  not judged: {clean('; '.join(diagnosis.failures))}", "dim"))
    return Group(*parts)


def _verdict(diagnosis: Diagnosis) -> Text:
    title = Text("netmend  ", style="bold")
    tone, words = verdict_words(diagnosis)
    return title.append(words, STYLES[tone])


def _fault(trace: Trace, sources: Sources, fault: Fault, rank: int, story: Sequence[str]) -> RenderableType:
    title = Text(f"{rank}. " if rank else "").append(f"{fault.title[:1].upper()}{fault.title[1:]}", "bold")
    parts: list[RenderableType] = [blank(), _Heading(title, f"{fault.cause}, {sure(fault.confidence)}")]
    where = place(fault.site, trace.run)
    if where and fault.site is not None:
        parts.append(Indented(Text(where, Style.parse("cyan") + _link(fault.site))))
        parts.append(_Code(sources, fault.site))
    words = tuple(_words(trace, fault, story))
    until = next(index for index, remark in enumerate(words) if remark.label == "change") + 1
    width = max(len(remark.label) for remark in words)
    parts.append(Remarks(words[:until], 2, width))
    if fault.edit is not None:
        parts.append(_Change(fault.edit, width + 4))
    parts.append(Remarks(words[until:], 2, width))
    return Group(*parts)


def _link(site: Site) -> Style:
    """Opens the file where the terminal can."""
    path = Path(site.file)
    return Style(link=path.as_uri()) if path.is_absolute() else Style()


class _Heading:
    """What is wrong, and behind it, or below it where that is too long, the code and how sure it is."""

    def __init__(self, title: Text, more: str) -> None:
        self._title, self._more = title, Text(more, "dim")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self._title.cell_len + self._more.cell_len + 4 <= options.max_width:
            yield Indented(Text.assemble(self._title, "  ", self._more))
        else:
            yield Indented(self._title)
            yield Indented(self._more)


class _Code:
    """The lines of a site as `netmend check` shows them: a window that holds what is meant, and marks beneath it."""

    def __init__(self, sources: Sources, site: Site) -> None:
        self._lines = Lines(sources.text(site.file))
        self._span = span_of(site, self._lines)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        look = Look(options.max_width, color=True)  # the console drops colours where there are none
        room = len(str(self._span.line + AROUND))
        for _, line in excerpt(self._lines, self._span, room, look):
            yield Text.from_ansi(line, no_wrap=True, overflow="ignore")


class _Change:
    """The change as lines that go and lines that come; of long ones the part around what differs."""

    def __init__(self, edit: Patch, indent: int) -> None:
        self._indent = " " * indent
        lines = changed_lines(edit)
        files = sum(line.kind == "file" for line in lines) > 1
        self._lines = [line for line in lines if files or line.kind != "file"]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        indent = self._indent
        for line in self._lines[:_MOST_LINES]:
            sign, code = line.text[:2], line.text[2:]
            width = max(10, options.max_width - len(indent) - len(sign))
            begin = min(max(0, self._differs(line) - _BEFORE), max(0, cells(code) - width))
            yield Text(f"{indent}{sign}{cropped(code, begin, begin + width)[0]}", _DIFF_STYLES[line.kind])
        if len(self._lines) > _MOST_LINES:
            yield Text(
                f"{indent}… and {len(self._lines) - _MOST_LINES} more lines: see the page (--html)", "dim"
            )

    def _differs(self, line: ChangedLine) -> int:
        """Where a line begins to differ from the one that it replaces or that replaces it; 0 where there is none."""
        others = [other for other in self._lines if {line.kind, other.kind} == {"old", "new"}]
        pairs = (zip(line.text[2:], other.text[2:], strict=False) for other in others)
        return max(
            (sum(1 for _ in takewhile(lambda two: two[0] == two[1], pair)) for pair in pairs), default=0
        )


def _words(trace: Trace, fault: Fault, story: Sequence[str]) -> Iterator[Remark]:
    above = [clean(sentence) for sentence in story]  # what stands above all faults is not said again
    summary = clean(fault.summary)
    for sentence in above:
        summary = summary.replace(sentence, "").strip() or summary
    yield Remark("seen", alike(summary))
    told = {summary, *above}
    more = [item for item in sorted(fault.evidence, key=lambda item: -item.weight) if item.weight > 0]
    for item in more[:3]:
        if not any(clean(item.message).removesuffix(".") in sentence for sentence in told):
            told.add(clean(item.message))
            yield Remark("and", alike(clean(item.message)))
    yield Remark("why", alike(clean(fault.reason)))
    yield Remark("change", alike(clean(fault.remedy)))
    yield from doubt(fault)
    places = dict.fromkeys(place(site, trace.run) for site in fault.related)
    places.pop(place(fault.site, trace.run), None)
    for where in list(places)[:2]:
        yield Remark("see also", where, tone="muted")
