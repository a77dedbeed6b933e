"""What happens in the process of a trial: limits, seeds, the program under observation, the outcome written down."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

from netmend.adapters.start import start_torch, watch_preparation
from netmend.launch.run import Ended, Finished, Observed, user_frame
from netmend.launch.script import load_module, load_script
from netmend.launch.tracebacks import clean
from netmend.observe.options import Options
from netmend.trials import measures, seeds
from netmend.trials.examination import examiner_of
from netmend.trials.guards import Guards, guard_saving
from netmend.trials.measures import of_trace
from netmend.trials.output import Output, Tail, end_of_file
from netmend.trials.racing import Race
from netmend.trials.trial import FAILED, FINISHED, STOPPED, Limits, Outcome, Rule, Target, Trial, to_json
from netmend.trials.workspace import moved
from netmend.vocabulary import Site

# What the interpreter does before and after a program, done for a program in a trial.


def use_copy(directory: str, root: str) -> None:
    """Where Python looks for modules in the program's folder (an editable install, PYTHONPATH), it finds the copy's."""

    def placed(entry: str) -> str:
        copied = moved(entry, directory, root)
        return copied if Path(copied).exists() else entry  # no copy of what holds installed packages

    sys.path[:] = [placed(entry) for entry in sys.path]
    if "PYTHONPATH" in os.environ:
        entries = os.environ["PYTHONPATH"].split(os.pathsep)
        os.environ["PYTHONPATH"] = os.pathsep.join(placed(entry) for entry in entries)
    for name, module in list(sys.modules.items()):
        mapping = getattr(module, "MAPPING", None) if name.startswith("__editable__") else None
        if isinstance(mapping, dict):
            mapping.update({package: placed(str(place)) for package, place in mapping.items()})


def wind_down() -> None:
    """As the interpreter does at its end: threads are waited for, and what was registered is called."""
    with contextlib.suppress(BaseException):
        threading._shutdown()  # type: ignore[attr-defined]
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()


def flush() -> None:
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(Exception):
            if stream is not None:
                stream.flush()


_PAST = 256_000  # bytes at the end of what the program's processes wrote without Python's `sys.stdout`
_TAIL = 4_000

_leave = os._exit


def main(file: str) -> None:
    """Run the trial that a file describes. Never returns: the process ends here, whatever the program left behind."""
    spec = json.loads(Path(file).read_text(encoding="utf-8"))
    os.environ.update(spec["environment"])
    Process(Path(file).parent, trial_of(spec["trial"]), tuple(spec["protected"]), spec["root"]).run()


def trial_of(data: dict[str, Any]) -> Trial:
    target = Target(**{**data["target"], "arguments": tuple(data["target"]["arguments"])})
    rule = data["rule"] and Rule(
        data["rule"]["series"],
        data["rule"]["higher_is_better"],
        tuple((int(step), float(limit)) for step, limit in data["rule"]["limits"]),
    )
    plain = {key: data[key] for key in ("seed", "pattern", "measure_file", "overhead", "keeps_data")}
    texts = tuple((name, text) for name, text in data["texts"])
    module, options = data["examination"]
    limits = Limits(**data["limits"])
    return Trial(target, texts, rule=rule, limits=limits, examination=(module, options), **plain)


class Process:
    """One trial from start to outcome."""

    def __init__(self, folder: Path, trial: Trial, protected: tuple[str, ...], root: str) -> None:
        self.folder, self.trial, self.root = folder, trial, Path(root)
        self.notes: list[str] = []
        self.faults: tuple[str, ...] = ()
        self.watching: Any = None
        self.race = None if trial.rule is None else Race(trial.rule, trial.pattern, self._give_up)
        seen = None if self.race is None else self.race.printed
        self.output = Output(self._step, seen, Tail(folder / "tail").add)
        self.guards = Guards(str(folder), protected, trial.limits.network, self.notes.append)
        self.file = measures.MeasureFile(
            self.root / moved(trial.measure_file, trial.target.directory, str(self.root))
        )
        self.started = time.perf_counter()
        self.process = os.getpid()
        self.lock = threading.Lock()
        self.finishing: int | None = None  # the thread that writes the outcome

    def run(self) -> None:
        self._settle()
        target = self.trial.target
        try:
            program = (load_module if target.is_module else load_script)(target.script, target.arguments)
        except BaseException as problem:  # noqa: BLE001 - whatever it is, it is the outcome
            self._finish(Ended(FAILED, 1, problem))
            return
        observed = Observed(
            program, Options(self.trial.overhead, directory=self.folder), None, start_torch, watch_preparation
        )
        begin = observed._start

        def start() -> None:
            torch: Any = sys.modules["torch"]
            if self.trial.keeps_data:
                seeds.move_from_first_model(self.trial.seed)
            else:
                seeds.move_torch_seeds(self.trial.seed)
            torch.set_num_threads(self.trial.limits.threads)
            guard_saving(torch, self.guards)
            if self.trial.overhead <= 0:  # judged by its examination alone: nothing is recorded
                return
            begin()
            self.watching = observed.watching
            if self.watching is None:
                self.notes.append(f"nothing could be watched: {observed.problem}")
            elif self.race is not None:
                self.race.watch(self.watching.recorder)

        observed._start = start  # type: ignore[method-assign]
        examiner = examiner_of(self.trial.examination, self.folder, self.notes.append)
        examiner.begin()
        ended = observed.run()
        if ended.status == FINISHED:
            examiner.end(Finished(self.folder, self.root, program.module.__dict__, self.watching))
        wind_down()
        self._finish(ended)

    def _settle(self) -> None:
        os.chdir(self.root)
        use_copy(self.trial.target.directory, str(self.root))
        seeds.move_seeds(0 if self.trial.keeps_data else self.trial.seed)
        sys.stdout = sys.stderr = self.output
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123 - stays open as long as the process
        os._exit = self._exit  # type: ignore[assignment]
        self.guards.install()

    def _step(self) -> int:
        return self.watching.recorder.step if self.watching is not None else 0

    # -- the end ---------------------------------------------------------------------------------------------------

    def _give_up(self) -> None:
        self._finish(Ended(STOPPED, 0, None))

    def _exit(self, code: int) -> None:
        """The program leaves without the usual end."""
        self._finish(Ended("failed" if code else "finished", code, None))

    def _finish(self, ended: Ended) -> None:
        """Write the outcome and leave: threads and children of the program do not keep the trial alive."""
        flush()
        if os.getpid() != self.process:  # a fork of the program's that came to its own end
            _leave(ended.exit_code if ended.exit_code >= 0 else 1)
        if self.finishing == threading.get_ident():
            return  # closing the record wrote a row that would have led here
        self.lock.acquire()  # for good: other threads wait for the end
        self.finishing = threading.get_ident()
        try:
            text = to_json(self._outcome(ended))
            temporary = self.folder / "outcome.json.new"
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(self.folder / "outcome.json")
        except BaseException:  # noqa: BLE001 - tells itself in the output of a trial that was lost
            os.write(2, traceback.format_exc().encode(errors="replace"))
            _leave(70)
        _leave(0)

    def _outcome(self, ended: Ended) -> Outcome:
        steps, seconds = self._step(), time.perf_counter() - self.started
        status = {"finished": FINISHED, STOPPED: STOPPED}.get(ended.status, FAILED)
        if isinstance(ended.exception, EOFError) and "when reading a line" in str(ended.exception):
            self.notes.append("reading standard input: a trial has none")
        past = end_of_file(self.folder / "output.txt", _PAST)
        series = measures.printed(self.output.lines(), past, steps, self.trial.pattern)
        value = self.file.value() if self.trial.measure_file else None
        if value is not None:
            series["file"] = [[steps, value]]
        recorded, symptoms, run = self._recorded(ended)
        return Outcome(
            status, steps, seconds, ended.exit_code, _told(ended), series | recorded, symptoms,
            self._tail(ended, past), run, str(self.root), 1, tuple(dict.fromkeys(self.notes)), self.faults,
        )  # fmt: skip

    def _tail(self, ended: Ended, past: str) -> str:
        """The end of the output, and the traceback that the user would see below it."""
        parts = [self.output.tail() or past[-_TAIL:]]
        if ended.exception is not None and not isinstance(ended.exception, SystemExit):
            parts += traceback.format_exception(clean(ended.exception))
        return "\n".join(part.rstrip("\n") for part in parts if part)[-_TAIL:]

    def _recorded(self, ended: Ended) -> tuple[measures.Series, tuple[str, ...], str]:
        if self.watching is None:
            return {}, (), ""
        try:
            self._stop_watching(ended)
            from netmend.localise import diagnose
            from netmend.store import read_trace

            trace = read_trace(self.watching.path)
            diagnosis = diagnose(trace)
            self.faults = tuple(fault.cause for fault in diagnosis.faults)
            symptoms = tuple(dict.fromkeys(symptom.code for symptom in diagnosis.symptoms))
            return of_trace(trace), symptoms, str(self.watching.path)
        except Exception as problem:  # noqa: BLE001 - the trial has run; what it printed is worth keeping
            self.notes.append(f"the recording failed: {type(problem).__name__}: {problem}")
            return {}, (), ""

    def _stop_watching(self, ended: Ended) -> None:
        details: dict[str, Any] = {"exit_code": ended.exit_code}
        if ended.exception is not None and not isinstance(ended.exception, SystemExit):
            place = user_frame(ended.exception.__traceback__)
            details["exception"] = _told(ended)
            details["exception_site"] = None if place is None else Site(*place)
        self.watching.stop("finished" if ended.status == STOPPED else ended.status, **details)


def _told(ended: Ended) -> str:
    problem = ended.exception
    if isinstance(problem, SystemExit) or problem is None:
        code = problem.code if problem is not None else ended.exit_code
        return f"SystemExit: {code}"[:2000] if ended.exit_code else ""
    try:
        return f"{type(problem).__name__}: {problem}"[:2000]
    except Exception:  # noqa: BLE001 - an exception of the program's own may fail at that
        return type(problem).__name__


if __name__ == "__main__":
    if sys.path[0] == str(Path.cwd()):
        del sys.path[0]  # put there for this module's sake
    main(str(Path(sys.argv[1]).resolve()))
