"""Whole studies over agents that are made up: what a version of the program does is written down, nothing is trained."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from netmend.errors import UsageError
from netmend.mutate.agents.environments import space_of
from netmend.mutate.agents.episodes import Episodes, write
from netmend.mutate.agents.examining import EPISODES, FACTS, PLAY
from netmend.mutate.agents.options import RlOptions
from netmend.mutate.agents.result import RlStudy
from netmend.mutate.agents.session import INTERRUPTED, ladders_of, study, target_of
from netmend.report.agents import STUDY, study_document, study_page
from netmend.report.terminal import draw
from netmend.trials.trial import FAILED, FINISHED, Outcome, Target, Trial

SCRIPT = """\
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

env = make_vec_env("CartPole-v1", n_envs=8, seed=0)
model = PPO("MlpPolicy", env, n_steps=32, gamma=0.98, seed=0)
model.learn(total_timesteps=10000)
"""
Failing = Callable[[str, np.ndarray[Any, Any], int], np.ndarray[Any, Any]]  # source, starts, seed → failed


class MadeUp:
    """An executor that plays by rule instead of training."""

    jobs = 1

    def __init__(self, failing: Failing, crashing: str = "never", interrupt_at: int = -1) -> None:
        self.failing, self.crashing, self.interrupt_at, self.count = failing, crashing, interrupt_at, 0

    def run(
        self, folder: Path, trial: Trial, protected: tuple[str, ...], stopping: Callable[[], bool]
    ) -> Outcome:
        self.count += 1
        if self.count == self.interrupt_at:
            raise KeyboardInterrupt
        source = dict(trial.texts).get("train.py", SCRIPT)
        if self.crashing in source:
            return Outcome(
                FAILED, exception="ValueError: no such thing", output="Traceback …\nValueError: no such thing"
            )
        orders = json.loads(trial.examination[1])
        space, random = space_of("CartPole-v1"), np.random.default_rng(3)
        sets = {name: np.array(rows) for name, rows in orders["sets"].items()}
        for name, wide in (("random", False), ("wide", True), ("replay", False)):
            if orders[name]:
                sets[name] = space.sample(orders[name], random, wide)
        if orders["mode"] == PLAY:
            assert (folder.parent / orders["agent"]).is_dir()
        write(
            folder / EPISODES, {name: self._played(source, rows, trial.seed) for name, rows in sets.items()}
        )
        facts = {
            "algorithm": "PPO", "environment": "CartPole-v1", "known": True, "threshold": 475.0, "repeats": True,
            "train_seconds": 1.0, "play_seconds": 0.5,
        }  # fmt: skip
        (folder / FACTS).write_text(json.dumps(facts))
        return Outcome(FINISHED, seconds=2.0)

    def _played(self, source: str, rows: np.ndarray[Any, Any], seed: int) -> Episodes:
        failed = self.failing(source, rows, seed)
        length = np.where(failed, 50.0, 500.0)
        quality = np.where(failed, 0.0, 1 - np.abs(rows).max(axis=1))
        return Episodes(rows, rows, length, length, failed, quality, quality, np.ones(len(rows)))

    def close(self) -> None:
        pass


def number(source: str, name: str) -> float:
    return float(source.split(f"{name}=")[1].split(",")[0].split(")")[0])


def leaning(source: str, rows: np.ndarray[Any, Any], seed: int) -> np.ndarray[Any, Any]:
    """Lower discounts fail where the pole leans: the lower, the less it takes. Half a budget fails everywhere."""
    steps, gamma = number(source, "total_timesteps"), number(source, "gamma")
    if steps <= 5000:
        return np.ones(len(rows), dtype=bool)
    limit = 0.09 if gamma >= 0.9 else 0.04 if gamma >= 0.7 else 0.02
    return np.asarray(np.abs(rows[:, 2]) > limit)


@pytest.fixture
def target(tmp_path: Path) -> Target:
    (tmp_path / "train.py").write_text(SCRIPT)
    return Target("train.py", (), False, str(tmp_path))


def options(tmp_path: Path, **changed: Any) -> RlOptions:
    return RlOptions(operators=("SDF", "NEI"), directory=tmp_path / "work", **changed)


def studied(target: Target, executor: MadeUp, tmp_path: Path, **changed: Any) -> RlStudy:
    return study(target, options(tmp_path, **changed), executor=executor)


def test_the_mildest_killed_value_is_found_and_scored(target: Target, tmp_path: Path) -> None:
    found = studied(target, MadeUp(leaning), tmp_path, looks=5)
    gamma, budget = found.operators
    assert (
        gamma.chosen is not None
        and gamma.chosen.title == "gamma 0.98 → 0.8"
        and gamma.chosen.cause == "RL-GAMMA"
    )
    assert gamma.lines == (("train.py", 5),)
    assert gamma.rates["strong"] == 1.0 and gamma.killed["edge"]
    assert budget.chosen is None and budget.verdict == "only trivially" and budget.trivial > 0
    assert found.score("strong") == 1.0 and found.sensitivity() == pytest.approx(1 - gamma.rates["weak"])
    lean = [abs(each.start[2]) for each in gamma.revealing]
    assert lean and min(lean) > 0.04
    assert found.covering and found.covering[0].reveals == ("gamma 0.98 → 0.8",)


def test_what_was_run_is_kept_and_an_interruption_loses_nothing(target: Target, tmp_path: Path) -> None:
    first = studied(target, MadeUp(leaning, interrupt_at=12), tmp_path)
    assert first.stopped == INTERRUPTED and first.runs == 5
    second = MadeUp(leaning)
    whole = studied(target, second, tmp_path)
    third = MadeUp(leaning)
    again = studied(target, third, tmp_path)
    assert whole.cached >= 11 and third.count == 0
    assert again.operators == whole.operators and not whole.stopped


def test_a_mutant_that_crashes_is_a_kill_of_its_own_kind(target: Target, tmp_path: Path) -> None:
    found = studied(target, MadeUp(leaning, crashing="gamma=0.45"), tmp_path, looks=1)
    gamma = found.operators[0]
    assert gamma.tried[0].status == "crash" and gamma.chosen is None and gamma.verdict == "crashes"


def test_programs_that_cannot_be_studied_are_told(target: Target, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such thing"):
        studied(target, MadeUp(leaning, crashing="PPO"), tmp_path)
    always = studied(target, MadeUp(lambda s, rows, seed: np.ones(len(rows), dtype=bool)), tmp_path / "b")
    assert "fails at most starts in all of its 5 trainings" in always.problems[0] and not always.scored
    with pytest.raises(UsageError, match="there is no operator XYZ"):
        ladders_of(target, ("XYZ",))
    with pytest.raises(UsageError, match="at least 3"):
        studied(target, MadeUp(leaning), tmp_path, runs=2)
    with pytest.raises(UsageError, match="there is no file"):
        target_of("missing.yaml")
    (tmp_path / "other.py").write_text("import stable_baselines3\n")
    with pytest.raises(UsageError, match="makes no agent"):
        ladders_of(Target("other.py", (), False, str(tmp_path)))


def test_the_estimate_comes_before_the_work(target: Target, tmp_path: Path) -> None:
    executor = MadeUp(leaning)
    found = studied(target, executor, tmp_path, estimate_only=True)
    assert executor.count == 5 and found.estimate is not None
    assert {each.verdict for each in found.operators} == {"not tried"}
    low, high = found.estimate.trainings
    whole = MadeUp(leaning)
    studied(target, whole, tmp_path / "c")
    trained = whole.count - 5 - 5 - 5  # originals, and who plays the generators' starts
    assert low <= trained <= high


def test_a_generator_of_the_users_own_is_judged_beside_the_others(target: Target, tmp_path: Path) -> None:
    file = tmp_path / "tests.py"
    file.write_text(
        "def upright(count, seed):\n    return [[0.01 * i / count, 0, 0, 0] for i in range(count)]\n"
    )
    found = studied(target, MadeUp(leaning), tmp_path, generators=(f"{file}:upright",))
    assert found.operators[0].rates["upright"] == 0.0 and found.score("upright") == 0.0


def test_the_reports_say_what_was_found(target: Target, tmp_path: Path) -> None:
    found = studied(target, MadeUp(leaning), tmp_path)
    data = json.loads(STUDY.json(found))
    assert (
        data["published"]["rows"]["mean"]["sensitivity"] == 0.18
        and data["operators"][0]["kill_rates"]["strong"] == 1.0
    )
    page = study_page(found)
    assert "gamma 0.98 → 0.8" in page and "<script" not in page
    for width in (60, 120):
        console = Console(width=width, record=True, file=io.StringIO())
        console.print(draw(study_document(found)))
        text = console.export_text()
        assert (
            "published for this pair 0.18" in " ".join(text.split())
            and max(map(len, text.splitlines())) <= width
        )
