"""A diagnosis on the terminal: the verdict, then each fault with its line, what was seen, why, and what to change."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from netmend.localise.source import Sources
from netmend.report.code import CodeLine, excerpt
from netmend.report.content import Remark, clean, place
from netmend.report.fault_edit import changed_lines
from netmend.report.terminal import STYLES, Remarks
from netmend.vocabulary import FAULTY, HEALTHY, Diagnosis, Fault, Trace
from netmend.vocabulary.change import Patch

_MOST_SHOWN = 5  # faults told in full; the rest in one line each
_MOST_LINES = 6  # of a change
_DIFF_STYLES = {"file": "dim", "old": "red", "new": "green", "gap": "dim"}


def diagnosis_text(trace: Trace, diagnosis: Diagnosis) -> RenderableType:
    """Verdict first; one fault fills at most one screen."""
    parts: list[RenderableType] = [_verdict(diagnosis)]
    sources = Sources(trace.run.working_directory, trace.run.script)
    for rank, fault in enumerate(diagnosis.faults[:_MOST_SHOWN], start=1):
        parts.append(_fault(trace, sources, fault, rank if len(diagnosis.faults) > 1 else 0))
    for fault in diagnosis.faults[_MOST_SHOWN:]:
        where = place(fault.site, trace.run)
        parts.append(Text(f"  also {fault.title}, {fault.cause}, {where}", "dim"))
    if diagnosis.failures:
        parts.append(Text(f"  not judged: {clean('; '.join(diagnosis.failures))}", "dim"))
    return Group(*parts)


def _verdict(diagnosis: Diagnosis) -> Text:
    title = Text("netmend  ", style="bold")
    if diagnosis.verdict == FAULTY:
        count = len(diagnosis.faults)
        return title.append(
            "1 fault found" if count == 1 else f"{count} faults found, most likely first", STYLES["bad"]
        )
    if diagnosis.verdict == HEALTHY:
        return title.append("no fault found", STYLES["good"])
    return title.append(f"undecided: {clean(diagnosis.reason)}", STYLES["warn"])


def _fault(trace: Trace, sources: Sources, fault: Fault, rank: int) -> RenderableType:
    head = Text(f"{rank}. " if rank else "").append(f"{fault.title[:1].upper()}{fault.title[1:]}", "bold")
    head.append(f"  {fault.cause}, {fault.confidence:.0%} sure", "dim")
    parts: list[RenderableType] = [head]
    where = place(fault.site, trace.run)
    if where:
        parts.append(Text(where, "cyan"))
    if fault.site is not None:
        parts.extend(_code(excerpt(sources, fault.site)))
    words = tuple(_words(trace, fault))
    until = next(index for index, remark in enumerate(words) if remark.label == "change") + 1
    parts.append(Remarks(words[:until], indent=0))
    if fault.edit is not None:
        parts.extend(_edit(fault.edit))
    parts.append(Remarks(words[until:], indent=0))
    return Padding(Group(*parts), (1, 0, 0, 2))


def _code(lines: tuple[CodeLine, ...]) -> Iterator[Text]:
    width = len(str(lines[-1].number)) if lines else 0
    for line in lines:
        text = Text(
            "▸ " if line.marked else "  ",
            "bold red" if line.marked else "dim",
            no_wrap=True,
            overflow="ellipsis",
        )
        text.append(f"{line.number:>{width}} │ ", "dim")
        if line.marked:
            text.append(line.text[: line.start]).append(line.text[line.start : line.end], "bold red")
            text.append(line.text[line.end :])
        else:
            text.append(line.text, "dim")
        yield text


def _edit(edit: Patch) -> Iterator[Text]:
    """The change as lines that go and lines that come."""
    lines = changed_lines(edit)
    files = sum(line.kind == "file" for line in lines) > 1
    shown = [line for line in lines if files or line.kind != "file"]
    for line in shown[:_MOST_LINES]:
        yield Text(f"        {line.text}", _DIFF_STYLES[line.kind], no_wrap=True, overflow="ellipsis")
    if len(shown) > _MOST_LINES:
        yield Text(f"        … and {len(shown) - _MOST_LINES} more lines: see the page (--html)", "dim")


def _words(trace: Trace, fault: Fault) -> Iterator[Remark]:
    yield Remark("seen", clean(fault.summary))
    told = {clean(fault.summary)}
    more = [item for item in sorted(fault.evidence, key=lambda item: -item.weight) if item.weight > 0]
    for item in more[:3]:
        if clean(item.message) not in told:
            told.add(clean(item.message))
            yield Remark("and", clean(item.message))
    yield Remark("why", clean(fault.reason))
    yield Remark("change", clean(fault.remedy))
    yield Remark("unless", clean(fault.refutation), tone="muted")
    for site in fault.related[:2]:
        yield Remark("see", place(site, trace.run), tone="muted")
