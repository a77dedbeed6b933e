"""A program without processes: its source is executed, and how well it "trains" is a function of what it asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from netmend.neutral.neutrality import Neutrality, Node
from netmend.neutral.options import NeutralOptions
from netmend.neutral.session import neutral
from netmend.program.text.positions import Lines
from netmend.repair.options import Budget
from netmend.repair.problem import Problem
from netmend.trials.trial import FAILED, FINISHED, Outcome, Target, Trial
from netmend.vocabulary.change import Change, FileEdit

Settings = dict[str, Any]
Make = Callable[[str, str], list[Change]]  # folder and text of the program → changes
PROGRAM = "a = 0\nb = 0\nc = 0\ntrain(a=a, b=b, c=c)\n"


@dataclass
class World:
    """`judge`: settings → accuracy (with how many steps), or None where the program crashes. `seed` is among the settings."""

    folder: Path
    judge: Callable[[Settings], Any]
    offers: Sequence[Make]
    source: str = PROGRAM
    jobs: int = 1
    higher: bool = True
    trials: list[Settings] = field(default_factory=list)  # in the order in which they were run
    visible: bool = True  # every setting shows in the loss, whether it matters or not
    interrupt_after: int | None = None

    def analyse(self, budget: float | Budget = 200.0, **options: Any) -> Neutrality:
        program = self.folder / "program"
        program.mkdir(exist_ok=True, parents=True)
        (program / "train.py").write_text(self.source)
        chosen = NeutralOptions(
            budget if isinstance(budget, Budget) else Budget(budget),
            directory=self.folder / "kept",
            **options,
        )
        target = Target("train.py", (), False, str(program))
        found = neutral(target, chosen, None, self, self._neighbours, _Problem)
        assert (program / "train.py").read_text() == self.source
        return found

    def run(
        self, folder: Path, trial: Trial, protected: tuple[str, ...], stopping: Callable[[], bool]
    ) -> Outcome:
        if self.interrupt_after is not None and len(self.trials) >= self.interrupt_after:
            raise KeyboardInterrupt
        root = folder / "program"
        root.mkdir(parents=True, exist_ok=True)
        text = dict(trial.texts).get("train.py", self.source)
        (root / "train.py").write_text(text)
        settings: Settings = {"seed": trial.seed}
        exec(text, {"train": lambda **given: settings.update(given)})
        self.trials.append(settings)
        found = self.judge(settings)
        recorded = folder / "runs" / "one"
        recorded.mkdir(parents=True, exist_ok=True)
        places: dict[str, Any] = {"run": str(recorded), "root": str(root), "seconds": 1.0}
        if found is None:
            return Outcome(FAILED, exception="ValueError: no\nmore", **places)
        value, steps = found if isinstance(found, tuple) else (found, 100)
        name = "printed:val acc" if self.higher else "printed:val loss"
        series = {name: [[0.0, 0.1], [float(steps), value]]}
        if self.visible:
            sums = sum(weight * settings[key] for key, weight in (("a", 1), ("b", 10), ("c", 100)))
            series["training:loss"] = [[float(steps), float(sums)]]
        return Outcome(FINISHED, steps=steps, series=series, **places)

    def close(self) -> None:
        pass

    def _neighbours(
        self, problem: Problem, version: Any, outcome: Outcome, problems: list[str]
    ) -> list[Change]:
        text = (Path(outcome.root) / "train.py").read_text()
        return [change for make in self.offers for change in make(outcome.root, text)]


class _Problem(Problem):
    def trace(self, outcome: Outcome) -> Any:
        return SimpleNamespace(root=outcome.root)


def sets(name: str, *values: int, cost: float = 1.0) -> Make:
    """`a = 0` → `a = 1`, whatever stands there."""

    def make(root: str, text: str) -> list[Change]:
        start = text.index(f"{name} = ") + len(name) + 3
        end = text.index("\n", start)
        now = text[start:end]
        return [
            Change(
                "N",
                f"CAUSE-{name}",
                f"{name} {now} → {value}",
                (FileEdit(str(Path(root) / "train.py"), Lines(text).edit(start, end, str(value))),),
                knob=name,
                cost=cost,
            )
            for value in values
            if str(value) != now
        ]

    return make


def settings_of(node: Node) -> Settings:
    settings: Settings = {}
    text = node.version.texts.get("train.py", node.version.originals.get("train.py", PROGRAM))
    exec(text, {"train": lambda **given: settings.update(given)})
    return settings


def sets_of(found: Neutrality, minimal: bool = False) -> list[str]:
    """The alternatives as "a+b"."""
    return ["+".join(one.knobs) for one in found.alternatives if one.minimal or not minimal]
