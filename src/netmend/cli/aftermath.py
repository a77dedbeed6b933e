"""What `netmend run` does once the program has ended: close the trace, judge it, write and tell. Nothing in here changes how the program ends."""

from __future__ import annotations

import signal
import sys
import threading
from dataclasses import replace
from time import perf_counter
from types import FrameType, TracebackType
from typing import Any

from netmend.cli.run_options import RunOptions
from netmend.launch.run import Ended, Observed, user_frame
from netmend.observe.unhindered import unhindered


class Aftermath:
    """`close` comes first; `tell` when whatever the program's end prints has been printed."""

    def __init__(self, observed: Observed, ended: Ended, options: RunOptions) -> None:
        self.faulty = False
        self._watching: Any = observed.watching
        self._reason = observed.problem or f"{observed.program.target} never imported torch"
        self._ended = ended
        self._options = options
        self._judged: tuple[Any, Any] | None = None
        self._over = False
        self._patience = Patience(asked=ended.status == "interrupted", quiet=options.quiet)

    def close(self) -> None:
        """Close the trace; write page and JSON if asked, and judge if the exit code depends on it."""
        self._safely(self._close)

    def tell(self) -> None:
        """Print the diagnosis and the summary."""
        self._safely(self._tell)

    def _safely(self, action: Any) -> None:
        if self._over:
            return
        with self._patience, unhindered():
            try:
                action()
            except Exception as problem:  # noqa: BLE001 - the program has run; its end must not be changed by our report
                self._over = True
                if not self._options.quiet:
                    sys.stderr.write(
                        f"netmend: the report failed ({type(problem).__name__}: {problem}); the program was not affected\n"
                    )
        self._over = self._over or self._patience.skipped

    def _close(self) -> None:
        watching, ended, options = self._watching, self._ended, self._options
        if watching is None:
            return
        details: dict[str, Any] = {"exit_code": ended.exit_code}
        if ended.exception is not None and not isinstance(ended.exception, SystemExit):
            if ended.status == "failed":
                watching.crashed(ended.exception)
            details |= _exception(ended.exception)
        watching.stop(ended.status, **details)
        if options.html is None and options.json is None and not options.exit_on_fault:
            return
        from netmend.report.run.formats import as_json
        from netmend.report.run.page import run_page

        if (judged := self._judge()) is None:
            return
        trace, diagnosis = judged
        if options.html is not None:
            options.html.write_text(run_page(trace, diagnosis=diagnosis), encoding="utf-8")
        if options.json is not None:
            options.json.write_text(as_json(trace, diagnosis), encoding="utf-8")

    def _judge(self) -> tuple[Any, Any] | None:
        """The trace and its diagnosis; None where nothing could be stored."""
        if self._judged is None:
            self._patience.begin()
            started = perf_counter()
            from netmend.store import read_trace
            from netmend.watching import judge

            watching = self._watching
            if watching.problem is not None and not watching.path.exists():
                sys.stderr.write(f"netmend: {watching.problem}\n")
                return None
            trace = read_trace(watching.path, watching.rank)
            diagnosis = judge(watching.path, trace)
            run = replace(trace.run, judge_seconds=perf_counter() - started)
            self._judged = replace(trace, facts={**trace.facts, "run": {run.name: run}}), diagnosis
            self.faulty = bool(self._judged[1].faults)
        return self._judged

    def _tell(self) -> None:
        if self._options.quiet:
            return
        if self._watching is None:
            sys.stderr.write(f"netmend: nothing was recorded: {self._reason}\n")
            return
        if (judged := self._judge()) is None:
            return
        from netmend.report.run.diagnosis import diagnosis_text, summary
        from netmend.report.terminal import console

        trace, diagnosis = judged
        sys.stdout.flush()
        terminal = console(sys.stderr)
        if self._ended.exception is not None:
            terminal.print()
        terminal.print(diagnosis_text(trace, diagnosis))
        terminal.print()
        from netmend.cli.next_step import next_command

        path = self._watching.path if self._options.kept else None
        words = summary(trace, path, self._options.html, next_command(trace, diagnosis) if path else "")
        terminal.print(words, crop=False)


def _exception(problem: BaseException) -> dict[str, Any]:
    from netmend.vocabulary import Site

    place = user_frame(problem.__traceback__)
    return {
        "exception": f"{type(problem).__name__}: {problem}",
        "exception_site": Site(place[0], place[1]) if place is not None else None,
    }


class Patience:
    """A context in which Ctrl-C means netmend, not the program. `asked`: the user has pressed it already; `skipped`: and once more."""

    def __init__(self, *, asked: bool, quiet: bool) -> None:
        self.skipped = False
        self._asked = asked
        self._quiet = quiet
        self._told = False
        self._before: Any = None

    def __enter__(self) -> Patience:
        own = threading.current_thread() is threading.main_thread()
        self._before = signal.getsignal(signal.SIGINT) if own else None
        if self._before not in (None, signal.SIG_IGN):  # nobody's, or one who wants to hear nothing
            signal.signal(signal.SIGINT, self._pressed)
        else:
            self._before = None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        self.skipped = self.skipped or (kind is not None and issubclass(kind, KeyboardInterrupt))
        return kind is not None and issubclass(kind, KeyboardInterrupt)

    def _pressed(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
        self._tell()

    def begin(self) -> None:
        """Something that takes a while begins: whoever has just pressed Ctrl-C should know what is going on."""
        if self._asked and self._before is not None:
            self._tell()

    def _tell(self) -> None:
        if self._told or self._quiet:
            return
        self._told = True
        sys.stderr.write("netmend: judging; Ctrl-C again to skip\n")
        sys.stderr.flush()
