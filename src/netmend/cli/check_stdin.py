"""`netmend check -`: a program from standard input, as editors send it."""

from __future__ import annotations

import sys
from dataclasses import replace

from netmend.check.discover import absolute
from netmend.check.mend import change
from netmend.check.outcome import Outcome
from netmend.check.reading import Bytes, decode, holds_notebook, is_notebook
from netmend.check.session import Session, shown
from netmend.cli.check import Request, exit_code, tell
from netmend.cli.check_known import without_known
from netmend.cli.check_mend import show_diff, unknown_to

NAME = "<stdin>"


def check_stdin(session: Session, request: Request) -> int:
    """With --fix the mended program goes to standard output, unchanged if nothing is mended, and findings to stderr."""
    data = Bytes(sys.stdin.buffer.read(), 0, 0)
    path = absolute(request.stdin_name or NAME)
    if not is_notebook(path) and holds_notebook(data.content):
        path += ".ipynb"  # read as Python, its JSON would be a program without a fault
    outcome = _outcome(session, path, data, request)
    if not (request.fix or request.diff):
        tell(outcome, request)
        return exit_code(outcome, request)
    mended = change(session, path, data, request.unsafe_fixes, unknown_to(request.baseline))
    if isinstance(mended, str):
        mended = None  # it is among the problems of the outcome
    if request.diff:
        return show_diff([] if mended is None else [mended], outcome, request)
    content = data.content if mended is None else (mended.mark + mended.new).encode(mended.encoding)
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
    if mended is not None:
        outcome = replace(_outcome(session, path, Bytes(content, 0, 0), request), fixed=mended.fixed)
    tell(outcome, request, sys.stderr)
    return exit_code(outcome, request)


def _outcome(session: Session, path: str, data: Bytes, request: Request) -> Outcome:
    source = decode(data.content, is_notebook(path))
    text = "" if isinstance(source, str) else source.text
    results = {path: session.checker.check_bytes(data, path)}
    outcome = replace(session.outcome(results), texts={shown(path): text})
    return outcome if request.baseline is None else without_known(outcome, request.baseline)
