"""Checker: one file after the other through the same rules. Nothing that a file holds can stop it.

Deep nesting, a rule that fails, a file that takes too long: each becomes the message of that file.
"""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType

from netmend.check.comments import suppressions
from netmend.check.listing import rules
from netmend.check.notebook import Notebook, read_notebook
from netmend.check.reading import (
    SOURCE_LIMIT,
    Bytes,
    decode,
    digest,
    is_notebook,
    read_bytes,
    size_words,
    syntax_problem,
)
from netmend.check.results import FileResult
from netmend.check.run import Checked, check_text
from netmend.check.select import UNKNOWN, Selection, known_rules
from netmend.check.suppress import Suppression, complaints, settle
from netmend.program.engine.project import Project
from netmend.vocabulary.finding import Edit, Finding

_DEPTH = 3000  # of Python's own recursion: enough for long sums and chains, far from the end of an 8 MB stack
# Objects made before cyclic garbage is collected, between two files. Python's own way, after every 700 and in the middle
# of a file, makes checking more than twice as slow: syntax trees are long and are freed without it.
_YOUNG_OBJECTS = 1_000_000
_LINE = re.compile(r"^line (\d+): ")


class Checker:
    """Rules, chosen once, and the project files that they follow."""

    def __init__(self, selection: Selection, seconds: float) -> None:
        listed = rules()
        self.known = known_rules()
        self._selection = selection
        self._seconds = seconds
        self._rules = [listed[code] for code in sorted(selection.codes & listed.keys())]
        self._project = Project()

    def forget_project(self) -> None:
        """Before another round: the files that are followed may have changed."""
        self._project = Project()

    def check(self, path: str) -> FileResult:
        """What a file on disk shows."""
        data = read_bytes(Path(path))
        if isinstance(data, str):
            return FileResult(problem=data, lasting=False)
        return self.check_bytes(data, path)

    def check_bytes(self, data: Bytes, path: str) -> FileResult:
        stamp = {"size": data.size, "modified": data.modified, "digest": digest(data.content)}
        try:
            with _undisturbed(), _limited(self._seconds):
                return replace(self._checked(data.content, path), **stamp)  # type: ignore[arg-type]
        except _TookTooLong:
            self.forget_project()  # it may have been left half-way
            why = f"gave up after {self._seconds:g} seconds"
        except RecursionError:
            why = "is nested too deeply to be checked"
        except MemoryError:
            why = "needs more memory than there is"
        return FileResult(problem=why, lasting=False)

    def _checked(self, content: bytes, path: str) -> FileResult:
        source = decode(content, is_notebook(path))
        if isinstance(source, str):
            return FileResult(problem=source)
        if not is_notebook(path):
            return self._examined(source.text, path)
        notebook = read_notebook(source.text)
        if isinstance(notebook, str):
            return FileResult(problem=notebook)
        if len(notebook.text) > SOURCE_LIMIT:
            return FileResult(problem=f"{size_words(len(notebook.text))} of code is too large")
        result = self._examined(notebook.text, path)
        return replace(
            result,
            findings=tuple(notebook.placed(finding, path) for finding in result.findings),
            comments=tuple(_in_cell(comment, notebook) for comment in result.comments),
            problem=_placed_problem(result.problem, notebook) or "; ".join(notebook.broken),
            partly=not result.problem and len(notebook.broken) < len(notebook.cells),
        )

    def _examined(self, text: str, path: str) -> FileResult:
        off = self._selection.off(path)
        comments = suppressions(text, self.known, self._selection, off)
        rules = [rule for rule in self._rules if rule.code not in off]
        # Without a rule it would take all of them.
        found = (
            check_text(text, path, rules, self._project) if rules else Checked(problem=syntax_problem(text))
        )
        findings = found.findings
        if comments and UNKNOWN in self._selection.codes - off:
            findings += tuple(complaints(path, comments, self.known))
        reads = tuple(os.path.abspath(name) for name in found.reads)  # noqa: PTH100 - links stay as written
        return FileResult(findings, comments, found.problem, reads, found.failures)

    def findings_of(self, text: str, path: str, unused: bool) -> list[Finding]:
        """Findings in a text as if it stood in a file, comments weighed. The text of a notebook is its joined text."""
        with _undisturbed():
            result = self._examined(text, path)
        own = [finding for finding in result.findings if finding.file == path]
        return settle(own, {path: result.comments}, (path,), unused)

    def comments_of(self, path: str) -> tuple[Suppression, ...]:
        """The comments of a file that is not checked itself but holds a finding."""
        data = read_bytes(Path(path))
        source = decode(data.content) if isinstance(data, Bytes) else data
        if isinstance(source, str):
            return ()
        return suppressions(source.text, self.known, self._selection, self._selection.off(path))


def _in_cell(comment: Suppression, notebook: Notebook) -> Suppression:
    cell, line = notebook.place(comment.line)
    first_cell, first = notebook.place(comment.first)
    shift = line - comment.line
    removal = comment.removal
    return replace(
        comment,
        line=line,
        cell=cell,
        # A comment at the end of a cell means nothing in the next one.
        first=first if first_cell == cell else line,
        last=comment.last + shift if first_cell == cell else line,
        removal=Edit(
            removal.line + shift, removal.column, removal.end_line + shift, removal.end_column, removal.text
        ),
    )


def _placed_problem(problem: str, notebook: Notebook) -> str:
    found = _LINE.match(problem)
    if found is None:
        return problem
    cell, line = notebook.place(int(found[1]))
    return f"cell {cell}, line {line}: {problem[found.end() :]}"


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Python's warnings about the checked text are not for us to show, and its depth is a little raised."""
    depth = sys.getrecursionlimit()
    sys.setrecursionlimit(max(depth, _DEPTH))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.setrecursionlimit(depth)


@contextmanager
def rare_collections() -> Iterator[Callable[[], None]]:
    """For checking many files: cyclic garbage is collected only when the given function is called, and there is much."""
    enabled = gc.isenabled()
    gc.disable()
    gc.freeze()
    try:
        yield _collect_if_much
    finally:
        gc.unfreeze()
        if enabled:
            gc.enable()


def _collect_if_much() -> None:
    if gc.get_count()[0] > _YOUNG_OBJECTS:
        gc.collect(0)


class _TookTooLong(BaseException):
    """Not an Exception: a rule that guards itself against its own failures must not swallow it."""


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Ends what runs inside after a time, where the system can: on POSIX, in the main thread, if the timer is free."""
    usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not usable or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        raise _TookTooLong

    before = signal.signal(signal.SIGALRM, end)
    # Again each second: the first may fall where Python ignores exceptions, in a destructor.
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
