"""What a recorded run adds to a report: the files it executed, those it is blamed on first, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path, PurePath
from typing import Any

from netmend.vocabulary import Diagnosis, Trace
from netmend.vocabulary.site import Site


def executed_files(trace: Trace, diagnosis: Diagnosis, root: Path | None) -> tuple[str, ...]:
    """Files of the user's that the run touched, most blamed first; relative to `root` where they lie beneath it."""
    found: dict[str, None] = {}
    for site in (*_blamed(trace, diagnosis), *_seen(trace)):
        found.setdefault(_relative(site.file, trace.run.working_directory, root), None)
    return tuple(found)


def report_of_run(trace: Trace, diagnosis: Diagnosis) -> str:
    """A report in the run's own words, for runs that nobody has described yet; empty where nothing went wrong."""
    run = trace.run
    parts = []
    if run.exception:
        parts.append(run.exception)
        if run.exception_site is not None:
            site = run.exception_site
            where = f'File "{site.file}", line {site.line}, in {site.function or "<module>"}'
            parts.append(f"Traceback (most recent call last):\n  {where}\n{run.exception}")
    for fault in diagnosis.faults:
        parts.append(f"{fault.title}. {fault.summary} {fault.reason}")
    return "\n\n".join(parts)


def _blamed(trace: Trace, diagnosis: Diagnosis) -> Iterator[Site]:
    if trace.run.exception_site is not None:
        yield trace.run.exception_site
    for fault in diagnosis.faults:
        if fault.site is not None:
            yield fault.site
        yield from fault.related


def _seen(trace: Trace) -> Iterator[Site]:
    """Every place that a fact of the run names: where layers, losses and optimisers are made and called."""
    for kind in trace.facts.values():
        for fact in kind.values():
            yield from _sites(fact)


def _sites(value: Any) -> Iterator[Site]:
    if isinstance(value, Site):
        yield value
    elif is_dataclass(value):
        for one in fields(value):
            yield from _sites(getattr(value, one.name))


def _relative(file: str, working_directory: str, root: Path | None) -> str:
    path = Path(working_directory, file)  # an absolute file stays what it is
    if root is not None:
        for own, base in ((path, root), (path.resolve(), root.resolve())):
            try:
                return own.relative_to(base).as_posix()
            except ValueError:
                continue
    try:
        return path.relative_to(working_directory).as_posix()
    except ValueError:
        return PurePath(file).as_posix()
