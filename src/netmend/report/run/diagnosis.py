"""A diagnosis on the terminal: the verdict, then each fault with its line, what was seen, why, and what to change; what was checked; the closing summary."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.style import Style
from rich.text import Text

from netmend.diagnose.checked import FAILED, NOT_APPLICABLE, PASSED, SPOKE, TOO_SHORT, Check, by_outcome
from netmend.program.text.positions import Lines
from netmend.program.text.sources import Sources
from netmend.report.check.excerpt import AROUND, excerpt, span_of
from netmend.report.check.look import Look
from netmend.report.code import changed_lines, told_once
from netmend.report.content import DiffLine, Document, Remark, clean, doubt, place
from netmend.report.numbers import alike, plural, share, sure
from netmend.report.run.overview import advice_when_untrained, alarms, headline, remarks
from netmend.report.run.wording import verdict_words
from netmend.report.signs import cells, cropped
from netmend.report.terminal import STYLES, Indented, Remarks, blank, draw, title
from netmend.store import runs_root
from netmend.store.places import spare
from netmend.vocabulary import Diagnosis, Fault, Site, Trace
from netmend.vocabulary.change import Patch

_MOST_SHOWN = 5  # faults told in full; the rest in one line each
_MOST_LINES = 6  # of a change
_BEFORE = 12  # columns kept before what differs in a line that is cut
_DIFF_STYLES = {"file": "dim", "old": "red", "new": "green", "gap": "dim", "same": "dim"}


def diagnosis_text(trace: Trace, diagnosis: Diagnosis) -> RenderableType:
    """Verdict first; one fault fills at most one screen."""
    parts: list[RenderableType] = [title(*verdict_words(diagnosis))]
    parts.extend(Indented(Text(alike(clean(sentence)))) for sentence in diagnosis.story)
    sources = Sources.of(trace)
    for rank, fault in enumerate(told_once(diagnosis.faults[:_MOST_SHOWN]), start=1):
        number = rank if len(diagnosis.faults) > 1 else 0
        parts.append(_fault(trace, sources, fault, number, diagnosis.story))
    for fault in diagnosis.faults[_MOST_SHOWN:]:
        where = place(fault.site, trace.run)
        parts.append(Text(f"  also {fault.title}, {fault.cause}, {where}", "dim"))
    if diagnosis.failures:
        parts.append(Text(f"  not judged: {clean('; '.join(diagnosis.failures))}", "dim"))
    return Group(*parts)


def _fault(trace: Trace, sources: Sources, fault: Fault, rank: int, story: Sequence[str]) -> RenderableType:
    head = Text(f"{rank}. " if rank else "").append(f"{fault.title[:1].upper()}{fault.title[1:]}", "bold")
    parts: list[RenderableType] = [blank(), _Heading(head, f"{fault.cause}, {sure(fault.confidence)}")]
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

    def _differs(self, line: DiffLine) -> int:
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


_TONES = {SPOKE: "bad", FAILED: "warn", PASSED: "good", TOO_SHORT: "muted", NOT_APPLICABLE: "muted"}

_OUTCOME_HEADS = {PASSED: "  problems that were looked for and not found"}


def checked_text(found: Iterable[Check], diagnosis: Diagnosis) -> RenderableType:
    """Counts first, then every check by outcome, then the causes that were weighed."""
    groups = by_outcome(found)
    counts = ", ".join(f"{len(group)} {outcome}" for outcome, group in groups.items())
    total = plural(sum(map(len, groups.values())), "check")
    parts: list[RenderableType] = [Text("netmend  ", "bold").append(f"{total}: {counts}", "bold")]
    for outcome, group in groups.items():
        parts += [
            blank(),
            Text(outcome, STYLES[_TONES[outcome]]).append(_OUTCOME_HEADS.get(outcome, ""), "dim"),
        ]
        parts.append(Remarks([Remark(check.code, _check_words(check)) for check in group], indent=2))
    if causes := tuple(_causes(diagnosis)):
        parts += [blank(), Text("causes", "bold"), Remarks(causes, indent=2)]
    parts += [blank(), Text("netmend explain CODE says what a check looks for.", "dim")]
    return Group(*parts)


def _check_words(check: Check) -> str:
    if check.outcome == SPOKE:
        return alike(clean(check.why))
    return alike(clean(f"{check.title}{f': {check.why}' if check.why else ''}"))


def _causes(diagnosis: Diagnosis) -> Iterator[Remark]:
    for fault in diagnosis.faults:
        yield Remark("reported", clean(f"{fault.title} ({fault.cause}, {sure(fault.confidence)})"))
    for fault in diagnosis.suspects:
        words = f"{fault.title} ({fault.cause}, {share(fault.confidence)})"
        yield Remark("ruled out", clean(words), tone="muted")


_WARNING, _PROBE = "warning: ", "--probe "  # how sentences begin that are no gap in what was seen
_MOST_MISSING = 3  # the page of the run lists all


def summary(
    trace: Trace, run_path: Path | None, page: Path | None = None, next_command: str = ""
) -> RenderableType:
    """What was seen, in some ten lines, where to look further (unless the run is not kept), and the one command that helps."""
    bad = trace.run.status == "failed" or any(remark.tone == "bad" for remark in alarms(trace))
    tone = "bad" if bad else "plain" if trace.run.steps else "warn"
    lines = [*_lines(trace), *(_places(trace, run_path, page) if run_path is not None else ())]
    if next_command:
        lines.append(Remark("next", next_command, tone="good", whole=True))
    return draw(Document(tone, headline(trace), opening=tuple(lines)))


def _lines(trace: Trace) -> Iterator[Remark]:
    yield from alarms(trace)
    yield from remarks(trace)
    if not trace.run.steps:
        yield from (Remark("to do", text, tone="warn") for text in advice_when_untrained(trace))
    warnings = [text for text in trace.run.missing if text.startswith(_WARNING)]
    missing = [text for text in trace.run.missing if not text.startswith((_WARNING, _PROBE))]
    yield from (Remark("warning", clean(text.removeprefix(_WARNING)), tone="warn") for text in warnings)
    yield from (Remark("not seen", clean(text), tone="warn") for text in missing[:_MOST_MISSING])
    if len(missing) > _MOST_MISSING:
        yield Remark("not seen", f"and {len(missing) - _MOST_MISSING} more", tone="muted")


def _places(trace: Trace, run_path: Path, page: Path | None) -> Iterator[Remark]:
    # Places and commands are copied: they are never broken in the middle.
    yield Remark("recorded", clean(str(_from_here(run_path))), whole=True)
    if page is not None:
        yield Remark("page", clean(str(_from_here(page))), whole=True)
    root = runs_root()
    at_home = run_path.parent.resolve() in (root.resolve(), spare(root).resolve())
    name = clean(trace.run.name or run_path.name) if at_home else shlex.quote(clean(str(run_path)))
    yield Remark("more", f"netmend show {name}", whole=True)


def _from_here(path: Path) -> Path:
    try:
        return path.resolve().relative_to(Path.cwd().resolve())
    except (ValueError, OSError):
        return path
