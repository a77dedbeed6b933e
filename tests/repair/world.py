"""A program without processes: its source is executed, and how well it "trains" is a function of what it asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from netmend.program.text.positions import Lines
from netmend.repair import search as search_module
from netmend.repair.candidates import Candidates
from netmend.repair.options import Budget, Measure
from netmend.repair.problem import Problem
from netmend.repair.search import Search
from netmend.repair.version import Version
from netmend.trials.runner import Runner
from netmend.trials.trial import FAILED, FINISHED, STOPPED, Limits, Outcome, Target, Trial
from netmend.vocabulary.change import FREE, Change, FileEdit

Settings = dict[str, Any]
PROGRAM = "a = 0\nb = 0\nc = 0\ntrain(a=a, b=b, c=c)\n"


@dataclass
class World:
    """What becomes of the program with given settings: an accuracy (with how many steps, or with what is told of it),
    None (it crashes) or "stopped" (it is given up)."""

    folder: Path
    judge: Callable[[Settings], Any]
    called_for: Sequence[Callable[[View], Change | None]] = ()
    suspected: Sequence[Callable[[View], Change | None]] = ()
    exploratory: Sequence[Callable[[View], Change | None]] = ()
    certain: Sequence[Callable[[View], Change | None]] = ()  # of those that are called for
    source: str = PROGRAM
    arguments: tuple[str, ...] = ()
    jobs: int = 1
    trials: list[tuple[Settings, Trial]] = field(default_factory=list)  # in the order in which they were run
    unseen: bool = False  # nothing is recorded of any run
    healthy: bool = False  # nothing is told of any run
    measure: Measure = field(default_factory=Measure)

    def search(
        self, monkeypatch: pytest.MonkeyPatch, budget: float = 20.0
    ) -> tuple[Search, Version, Outcome]:
        program = self.folder / "program"
        program.mkdir(exist_ok=True, parents=True)
        (program / "train.py").write_text(self.source)
        target = Target("train.py", self.arguments, False, str(program))
        runner = Runner(target, self.folder / "trials", self, Limits())
        problem = _Problem(runner, Budget(budget), self.measure)
        problem.healthy = self.healthy
        monkeypatch.setattr(search_module, "findings_of", lambda sources, files: [])
        monkeypatch.setattr(search_module, "candidates", self._candidates)
        made = Search(problem)
        version, best = made.run()
        return made, version, best

    # -- an executor ---------------------------------------------------------------------------------------------

    def run(
        self, folder: Path, trial: Trial, protected: tuple[str, ...], stopping: Callable[[], bool]
    ) -> Outcome:
        root = folder / "program"
        root.mkdir(parents=True, exist_ok=True)
        text = dict(trial.texts).get("train.py", self.source)
        (root / "train.py").write_text(text)
        settings: Settings = {"seed": trial.seed, "arguments": trial.target.arguments}
        exec(text, {"train": lambda **given: settings.update(given), "arguments": trial.target.arguments})
        self.trials.append((settings, trial))
        found = self.judge(settings)
        recorded = folder / "runs" / "one"
        recorded.mkdir(parents=True, exist_ok=True)
        places = {"run": "" if self.unseen else str(recorded), "root": str(root), "seconds": 1.0}
        if found is None:
            return Outcome(FAILED, exception="ValueError: no", **places)
        if found == STOPPED:
            return Outcome(STOPPED, steps=50, **places)
        accuracy, more = found if isinstance(found, tuple) else (found, 100)
        steps, faults = (more, ()) if isinstance(more, int) else (100, (more,))
        points = [[float(step), accuracy] for step in range(0, steps, 10)]
        series = {"printed:val acc": points}
        return Outcome(FINISHED, steps=steps, series=series, faults=faults, **places)

    def close(self) -> None:
        pass

    # -- candidates --------------------------------------------------------------------------------------------------

    def _candidates(
        self, trace: Any, diagnosis: Any, sources: Any, findings: Any, arguments: tuple[str, ...], *more: Any
    ) -> Candidates:
        view = View(trace.root, (Path(trace.root) / "train.py").read_text(), arguments)
        groups = [
            tuple(change for make in group if (change := make(view)) is not None)
            for group in (self.called_for, self.suspected, self.exploratory, self.certain)
        ]
        *others, certain = groups
        return Candidates(*others, certain=certain)


class _Problem(Problem):
    """Traces hold nothing but where the program lay."""

    healthy = False

    def trace(self, outcome: Outcome) -> Any:
        run = SimpleNamespace(working_directory=outcome.root, script="train.py")
        return SimpleNamespace(root=outcome.root, run=run) if outcome.run else None

    def diagnosis(self, trace: Any) -> Any:
        return SimpleNamespace(faults=() if self.healthy else ("one",), suspects=())

    def sources(self, trace: Any) -> Any:
        return SimpleNamespace(files=lambda near: [])


@dataclass(frozen=True)
class View:
    """The program as a round sees it."""

    root: str
    text: str
    arguments: tuple[str, ...]

    def edit(self, old: str, new: str) -> FileEdit | None:
        start = self.text.find(old)
        if start < 0:
            return None
        return FileEdit(
            str(Path(self.root) / "train.py"), Lines(self.text).edit(start, start + len(old), new)
        )


def sets(
    name: str, value: int, *, force: bool = False, old: int = 0, **more: Any
) -> Callable[[View], Change | None]:
    """Sets `a = 1`; with `force` the trial gives it to the call instead, and the assignment is the patch."""

    def make(view: View) -> Change | None:
        edit = view.edit(f"{name} = {old}\n", f"{name} = {value}\n")
        forced = view.edit(f"{name}={name}", f"{name}={value}") if force else None
        if edit is None or (force and forced is None):
            return None
        return Change(
            more.get("repair", "R"),
            f"CAUSE-{name}",
            f"{name} {old} → {value}",
            (edit,),
            (forced,) if forced is not None else (),
            knob=name,
            effort=more.get("effort", FREE),
            cost=more.get("cost", 1.0),
        )

    return make


def gives(*arguments: str) -> Callable[[View], Change | None]:
    """Other arguments for the program."""
    return lambda view: (
        None
        if view.arguments == arguments
        else Change("R", "CAUSE", "arguments", arguments=arguments, knob="x")
    )
