"""A recording in code, and what a run is judged to be: what `netmend.watch` and `netmend.diagnose` give."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from netmend.errors import UsageError
from netmend.observe.options import Options

if TYPE_CHECKING:
    from netmend.observe.session import Watching
    from netmend.vocabulary import Diagnosis, Fault, Trace

_active: Watch | None = None


class Watch:
    """A recording in code: a context manager, or start/stop calls for notebooks. Made by `watch`."""

    def __init__(self, model: Any, optimizer: Any, options: Options, quiet: bool) -> None:
        self._model, self._optimizer = model, optimizer
        self._options = options
        self._quiet = quiet
        self._watching: Watching | None = None

    def start(self) -> Watch:
        """Begin recording; does nothing when it has begun."""
        global _active
        from netmend.adapters.start import start_torch

        if self._watching is not None:
            return self
        if _active is not None:
            raise UsageError(
                "another netmend.watch is active in this process; stop it first: it sees this model too"
            )
        script = sys.argv[0] if sys.argv and sys.argv[0] else "<interactive>"
        try:
            self._watching = start_torch(
                self._options, script, tuple(sys.argv[1:]), model=self._model, optimizer=self._optimizer
            )
        except Exception as problem:  # noqa: BLE001 - the training must run even if watching it fails
            self._complain("nothing is recorded", problem)
            return self
        _active = self
        return self

    def stop(self, problem: BaseException | None = None) -> Watch:
        """End the recording, remove every hook, and show the summary unless quiet."""
        global _active
        from netmend.launch.run import user_frame
        from netmend.vocabulary import Site

        if self._watching is None:
            return self
        status = "finished"
        details: dict[str, Any] = {}
        if problem is not None:
            status = "interrupted" if isinstance(problem, KeyboardInterrupt) else "failed"
            place = user_frame(problem.__traceback__)
            details = {
                "exception": f"{type(problem).__name__}: {problem}",
                "exception_site": None if place is None else Site(*place),
            }
        if _active is self:
            _active = None
        try:
            if status == "failed" and problem is not None:
                self._watching.crashed(problem)
            self._watching.stop(status, **details)
            if not self._quiet:
                self._show()
        except Exception as own:  # noqa: BLE001 - the training has run; its end must not be changed by our report
            self._complain("the report failed", own)
        return self

    def _complain(self, what: str, problem: Exception) -> None:
        if not self._quiet:
            sys.stderr.write(
                f"netmend: {what} ({type(problem).__name__}: {problem}); the program is not affected\n"
            )

    def pause(self) -> None:
        """Take all hooks away; `resume` puts them back."""
        global _active
        self._recording.pause()
        _active = None

    def resume(self) -> None:
        global _active
        self._recording.resume()
        _active = self

    @property
    def path(self) -> Path:
        """The directory of the run."""
        return self._recording.path

    @property
    def _recording(self) -> Watching:
        if self._watching is None:
            raise UsageError("nothing has been recorded yet; call start(), or use `with netmend.watch():`")
        return self._watching

    @property
    def trace(self) -> Trace:
        """What has been recorded so far."""
        from netmend.store import read_trace

        self._recording.recorder.flush()
        return read_trace(self.path, self._recording.rank)

    def _show(self) -> None:
        from netmend.report.run.diagnosis import diagnosis_text, summary
        from netmend.report.terminal import console

        trace = self.trace
        terminal = console(sys.stderr)
        terminal.print(diagnosis_text(trace, judge(self.path, trace)))
        terminal.print()
        terminal.print(summary(trace, self.path))

    def __enter__(self) -> Watch:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop(problem)

    def _repr_html_(self) -> str:
        if self._watching is None:
            return "<p>netmend: not started</p>"
        return self.diagnosis._repr_html_()

    @property
    def diagnosis(self) -> Report:
        """What is wrong, judged from what has been recorded so far."""
        trace = self.trace
        return Report(trace, judge(self.path, trace))


@dataclass(frozen=True, repr=False)
class Report:
    """A run and what is wrong with it. Shows itself in notebooks; made by `diagnose`."""

    trace: Trace
    diagnosis: Diagnosis

    @property
    def verdict(self) -> str:
        """healthy, faulty, undecided or crashed."""
        return self.diagnosis.verdict

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What is wrong, most likely first."""
        return self.diagnosis.faults

    def json(self) -> str:
        from netmend.report.run.formats import as_json

        return as_json(self.trace, self.diagnosis)

    def html(self) -> str:
        from netmend.report.run.page import run_page

        return run_page(self.trace, diagnosis=self.diagnosis)

    def __str__(self) -> str:
        from netmend.report.run.diagnosis import diagnosis_text
        from netmend.report.terminal import as_text

        return as_text(diagnosis_text(self.trace, self.diagnosis))

    def __repr__(self) -> str:
        run = self.trace.run
        told = ", ".join(f"{fault.cause} {fault.confidence:.0%}" for fault in self.faults)
        return f"<Report {run.name or '(no run)'}: {run.script} {self.verdict}{': ' if told else ''}{told}>"

    def _repr_html_(self) -> str:
        """The page in a frame of its own: its styles are not those of the notebook."""
        from html import escape

        style = "width: 100%; height: 44rem; border: 0"
        return f'<iframe sandbox style="{style}" srcdoc="{escape(self.html())}"></iframe>'


def judge(path: Path | None, trace: Trace) -> Diagnosis:
    """What is wrong with a run; the other processes of a distributed run are compared with this one."""
    from netmend.check.of_run import findings_of_run
    from netmend.diagnose.measures.replicas import with_replicas
    from netmend.localise import diagnose as judge_trace
    from netmend.repair.advise import with_edits
    from netmend.store import read_trace, recorded_ranks

    if path is not None:
        own = trace.environment.rank
        others = [read_trace(path, rank) for rank in recorded_ranks(path) if rank != own]
        trace = with_replicas(trace, others) if others else trace
    findings = findings_of_run(trace.run)
    diagnosis = judge_trace(trace, findings=findings)
    if diagnosis.faults:
        diagnosis = with_edits(diagnosis, trace, findings)
    if path is not None and trace.run.status != "running":
        _keep(path, trace, diagnosis)
    return diagnosis


def _keep(path: Path, trace: Trace, diagnosis: Diagnosis) -> None:
    """The verdict beside the trace, for `netmend runs` and `netmend show`."""
    from netmend.report.content import place
    from netmend.report.run.overview import outcome
    from netmend.store.runs import Judged, KeptFault, write_judged
    from netmend.version import VERSION

    faults = tuple(
        KeptFault(fault.cause, fault.title, fault.confidence, place(fault.site, trace.run))
        for fault in diagnosis.faults
    )
    write_judged(path, Judged(diagnosis.verdict, diagnosis.reason, faults, *outcome(trace), VERSION))
