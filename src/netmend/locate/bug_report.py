"""A bug report taken apart: title, prose, code, stack traces, failures, paths, modules and versions it names."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from netmend.errors import UsageError
from netmend.locate.bug_report_markup import code_like, lines_of, split_title
from netmend.locate.bug_report_mentions import (
    NO_REFERENCES,
    Place,
    References,
    modules_in,
    paths_in,
    places_in,
    references_in,
)
from netmend.locate.bug_report_versions import versions_in
from netmend.locate.frames import Failure, Frame, read_traces

LONGEST_REPORT = 2_000_000  # characters; whole logs get pasted, and what matters stands at their ends
LONGEST_LINE = 20_000  # a trace on one line still fits; longer ones are data


@dataclass(frozen=True)
class BugReport:
    """What a report says, part by part. `text` is all of it, as given."""

    title: str
    prose: str
    code: tuple[str, ...]
    traces: tuple[tuple[Frame, ...], ...]
    failures: tuple[Failure, ...]
    paths: tuple[str, ...]
    modules: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]
    text: str
    places: tuple[Place, ...] = ()  # lines of files that links and "file.py:12" point at
    references: References = NO_REFERENCES  # commits, issues and pull requests that title and prose name


def read_report(text: str, title: str | None = None) -> BugReport:
    """Take a report apart: Markdown, plain text, Denchmark's markup or a stack trace alone."""
    if not text.strip() and not (title or "").strip():
        raise UsageError(
            "the bug report is empty. Give its text: --report issue.md, or --report - and paste it, or a stack trace."
        )
    whole = _shortened(text.replace("\r\n", "\n").replace("\r", "\n"))
    if title is None:
        title, body = split_title(whole)
    else:
        body = whole
    lines, fenced = lines_of(body)
    found = read_traces(lines)
    prose, code = _parts(lines, fenced, found.used)
    named = read_traces([title.strip()]).failures  # many titles are the failure itself
    failures = found.failures + tuple(one for one in named if not _told(one, found.failures))
    if not title.strip():
        title = _title_of_trace(failures, prose)
    everything = f"{title}\n{body}"
    return BugReport(
        title=title.strip(),
        prose=prose,
        code=code,
        traces=found.traces,
        failures=failures,
        paths=paths_in(everything),
        modules=modules_in(code, f"{title}\n{prose}"),
        versions=versions_in(everything),
        text=text,
        places=places_in(everything),
        references=references_in(f"{title}\n{prose}"),
    )


def _shortened(text: str) -> str:
    if len(text) > LONGEST_REPORT:
        half = LONGEST_REPORT // 2
        text = text[:half] + "\n" + text[-half:]
    if len(text) > LONGEST_LINE:
        text = "\n".join(line[:LONGEST_LINE] for line in text.split("\n"))
    return text


def _parts(lines: list[str], fenced: list[bool], used: frozenset[int]) -> tuple[str, tuple[str, ...]]:
    """Prose, and blocks of code: fenced ones and runs of lines that can only be code."""
    looks = code_like(lines)
    prose: list[str] = []
    blocks: list[list[str]] = [[]]
    for number, line in enumerate(lines):
        if number in used:
            continue
        if fenced[number] or looks[number]:
            blocks[-1].append(line)
            continue
        if line.strip() and blocks[-1]:
            blocks.append([])
        prose.append(line)
    code = (textwrap.dedent("\n".join(block)).strip("\n").rstrip() for block in blocks)
    return "\n".join(prose).strip(), tuple(block for block in code if block.strip())


def _told(failure: Failure, others: tuple[Failure, ...]) -> bool:
    start = failure.message[:60]
    return any(one.name == failure.name and one.message.startswith(start) for one in others)


def _title_of_trace(failures: tuple[Failure, ...], prose: str) -> str:
    if failures:
        last = failures[-1]
        return f"{last.kind}: {last.message}".rstrip(": ")[:200]
    return next((line.strip() for line in prose.splitlines() if line.strip()), "")[:200]
