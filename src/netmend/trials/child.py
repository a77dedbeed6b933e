"""What happens in the process of a trial: limits, seeds, the program under observation, the outcome written down."""

from __future__ import annotations

import json
import math
import os
import re
import sys
import threading
import time
from pathlib import Path
from typing import Any

from netmend.launch.run import Ended, Observed
from netmend.launch.script import load_module, load_script
from netmend.observe.options import Options
from netmend.trials import guards, seeds
from netmend.trials.output import Output
from netmend.trials.printed import labelled, numbers_in
from netmend.trials.series import of_trace, thinned
from netmend.trials.trial import FAILED, FINISHED, STOPPED, Limits, Outcome, Rule, Target, Trial, to_json

_NONFINITE = 30  # looks in a row with a non-finite loss, before a trial that others survive is given up
_MOST_LABELS = 200


def main(file: str) -> None:
    """Run the trial that a file describes. Never returns: the process ends here, whatever the program left behind."""
    folder = Path(file).parent
    spec = json.loads(Path(file).read_text(encoding="utf-8"))
    Process(folder, trial_of(spec["trial"]), tuple(spec["protected"]), spec["root"]).run()


def trial_of(data: dict[str, Any]) -> Trial:
    target = Target(**{**data["target"], "arguments": tuple(data["target"]["arguments"])})
    rule = data["rule"] and Rule(
        data["rule"]["series"],
        data["rule"]["higher_is_better"],
        tuple((int(step), float(limit)) for step, limit in data["rule"]["limits"]),
    )
    plain = {key: data[key] for key in ("seed", "pattern", "measure_file", "overhead")}
    texts = tuple((name, text) for name, text in data["texts"])
    return Trial(target, texts, rule=rule, limits=Limits(**data["limits"]), **plain)


class Process:
    """One trial from start to outcome."""

    def __init__(self, folder: Path, trial: Trial, protected: tuple[str, ...], root: str) -> None:
        self.folder, self.trial, self.protected, self.root = folder, trial, protected, Path(root)
        self.notes: list[str] = []
        self.faults: tuple[str, ...] = ()
        self.watching: Any = None
        self.output = Output(self._step, self._printed if trial.rule is not None else None)
        self.started = time.perf_counter()
        self.nonfinite = 0
        self.lock = threading.Lock()
        self.done = False

    def run(self) -> None:
        self._settle()
        arguments = self.trial.target.arguments
        try:
            target = self.trial.target
            load = load_module if target.is_module else load_script
            program = load(target.script, arguments)
        except BaseException as problem:  # noqa: BLE001 - whatever it is, it is the outcome
            self._finish(Ended(FAILED, 1, problem))
        observed = Observed(program, Options(self.trial.overhead, directory=self.folder), None)
        begin = observed._start

        def start() -> None:
            seeds.move_torch_seeds(self.trial.seed)
            self._threads()
            begin()
            self.watching = observed.watching
            if self.watching is not None and self.trial.rule is not None:
                self._watch_rows(self.watching.recorder)

        observed._start = start  # type: ignore[method-assign]
        ended = observed.run()
        self._finish(ended)

    def _settle(self) -> None:
        os.chdir(self.root)
        seeds.move_seeds(self.trial.seed)
        sys.stdout = sys.stderr = self.output
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123 - stays open as long as the process
        guards.install(
            str(self.folder), self.protected, self.trial.limits.network, lambda what: self.notes.append(what)
        )

    def _threads(self) -> None:
        torch: Any = sys.modules["torch"]
        torch.set_num_threads(self.trial.limits.threads)

    # -- giving up early -----------------------------------------------------------------------------------------

    def _step(self) -> int:
        return self.watching.recorder.step if self.watching is not None else 0

    def _printed(self, step: int, line: str) -> None:
        rule = self.trial.rule
        if rule is None:
            return
        if rule.series == "pattern":
            for text in re.findall(self.trial.pattern, line)[-1:]:
                self._judge(step, _number(text))
        elif rule.series.startswith("printed:"):
            label = rule.series.removeprefix("printed:")
            if label.split()[-1] in line.lower():
                for name, value in numbers_in(line):
                    if name == label:
                        self._judge(step, value)

    def _watch_rows(self, recorder: Any) -> None:
        rule, plain = self.trial.rule, recorder.row
        seen: list[str] = []  # evaluation components in the order in which they came

        def row(kind: str, component: str, step: int, values: Any) -> None:
            plain(kind, component, step, values)
            if kind == "evaluation" and rule is not None and rule.series.startswith("evaluation:"):
                if component not in seen:
                    seen.append(component)
                _, index, column = rule.series.split(":")
                if str(seen.index(component)) == index:
                    relative = values[0] / values[1] if values[1] and values[1] > 0 else math.nan
                    self._judge(step, {"loss": values[0], "relative": relative, "metric": values[2]}[column])
            elif kind == "step":
                self.nonfinite = 0 if math.isfinite(values[0]) else self.nonfinite + 1
                if self.nonfinite > _NONFINITE:
                    self._give_up()

        recorder.row = row

    def _judge(self, step: int, value: float) -> None:
        """Give up when the measure is no better than what the program as it was had at this step."""
        rule = self.trial.rule
        limit = None
        for first, bound in rule.limits if rule is not None else ():
            if step >= first:
                limit = bound
        if rule is None or limit is None or math.isnan(limit):
            return
        better = value > limit if rule.higher_is_better else value < limit
        if not better:
            self._give_up()

    def _give_up(self) -> None:
        self._finish(Ended(STOPPED, 0, None))

    # -- the end ---------------------------------------------------------------------------------------------------

    def _finish(self, ended: Ended) -> None:
        """Write the outcome and leave: threads and children of the program do not keep the trial alive."""
        with self.lock:
            if self.done:
                return
            self.done = True
        steps, seconds = self._step(), time.perf_counter() - self.started
        exception = ""
        if ended.exception is not None and not isinstance(ended.exception, SystemExit):
            exception = f"{type(ended.exception).__name__}: {ended.exception}"[:2000]
        elif ended.exit_code:
            exception = f"SystemExit: {ended.exit_code}"
        status = {"finished": FINISHED, STOPPED: STOPPED}.get(ended.status, FAILED)
        series, symptoms, run = self._recorded(ended)
        outcome = Outcome(
            status, steps, seconds, ended.exit_code, exception, series, symptoms, self.output.tail(), run,
            str(self.root), 1, tuple(dict.fromkeys(self.notes)), self.faults,
        )  # fmt: skip
        temporary = self.folder / "outcome.json.new"
        temporary.write_text(to_json(outcome), encoding="utf-8")
        temporary.replace(self.folder / "outcome.json")
        os._exit(0)

    def _recorded(self, ended: Ended) -> tuple[dict[str, list[list[float]]], tuple[str, ...], str]:
        series = {
            f"printed:{label}": thinned(points)
            for label, points in list(labelled(self.output.lines()).items())[:_MOST_LABELS]
        }
        series |= self._own_measure()
        if self.watching is None:
            return series, (), ""
        try:
            self._stop_watching(ended)
            from netmend.localise import diagnose
            from netmend.store import read_trace

            trace = read_trace(self.watching.path)
            series |= of_trace(trace)
            diagnosis = diagnose(trace)
            self.faults = tuple(fault.cause for fault in diagnosis.faults)
            symptoms = tuple(dict.fromkeys(symptom.code for symptom in diagnosis.symptoms))
            return series, symptoms, str(self.watching.path)
        except Exception as problem:  # noqa: BLE001 - the trial has run; what it printed is worth keeping
            self.notes.append(f"the recording failed: {type(problem).__name__}: {problem}")
            return series, (), ""

    def _stop_watching(self, ended: Ended) -> None:
        from netmend.cli.run import _exception

        details: dict[str, Any] = {"exit_code": ended.exit_code}
        if ended.exception is not None and not isinstance(ended.exception, SystemExit):
            details |= _exception(ended.exception)
        self.watching.stop("finished" if ended.status == STOPPED else ended.status, **details)

    def _own_measure(self) -> dict[str, list[list[float]]]:
        found: dict[str, list[list[float]]] = {}
        if self.trial.pattern:
            points = [
                [step, _number(text)]
                for step, line in self.output.lines()
                for text in re.findall(self.trial.pattern, line)
            ]
            if points:
                found["pattern"] = thinned(points)
        if self.trial.measure_file:
            path = self.root / self.trial.measure_file
            if path.is_file():
                numbers = re.findall(
                    r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?|nan|inf", path.read_text(errors="replace")
                )
                if numbers:
                    found["file"] = [[self._step(), float(numbers[-1])]]
        return found


def _number(text: Any) -> float:
    first = text[0] if isinstance(text, tuple) else text
    try:
        return float(first)
    except ValueError:
        return math.nan


if __name__ == "__main__":
    main(sys.argv[1])
