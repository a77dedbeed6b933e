"""Where RL programs make their agent and environment, in the ways people write them."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from netmend.changes.case import Case
from netmend.mutate.agents.environment_source import made_at
from netmend.mutate.agents.ladders import Ladder, RlOperator
from netmend.mutate.agents.places import ALGORITHMS, training
from netmend.mutate.mutation import OPERATORS, texts_of
from netmend.program.text.sources import Sources
from netmend.vocabulary import LEAVES, Trace

PARSED = """
import argparse
import gymnasium
from stable_baselines3 import SAC
parser = argparse.ArgumentParser()
parser.add_argument("--gamma", type=float, default=0.95)
parser.add_argument("--steps", type=int, default=4000)
args = parser.parse_args()

class Swing(gymnasium.Env):
    pass

env = Swing()
SAC("MlpPolicy", env, gamma=args.gamma).learn(args.steps)
"""
WRAPPED = """
from stable_baselines3 import DQN
from stable_baselines3.common.env_util import make_vec_env
class Clip:
    pass
class Trainer:
    def __init__(self):
        self.model = DQN(policy="MlpPolicy", env=make_vec_env("CartPole-v1", 2, wrapper_class=Clip))
    def run(self):
        self.model.learn(total_timesteps=int(1e4))
"""
PARALLEL = """
import gymnasium as gym
from stable_baselines3 import A2C
from stable_baselines3.common.vec_env import SubprocVecEnv, VecNormalize
def make(rank):
    def _init():
        env = gym.make("LunarLander-v3")
        return env
    return _init
if __name__ == "__main__":
    venv = VecNormalize(SubprocVecEnv([make(i) for i in range(4)]))
    model = A2C("MlpPolicy", venv)
    model.learn(1_000_000)
"""
BY_ID = """
from stable_baselines3 import PPO
model = PPO("MlpPolicy", "CartPole-v1", 0.01)
model.learn(2000)
"""


def case_of(folder: Path, source: str, arguments: tuple[str, ...] = ()) -> Case:
    (folder / "train.py").write_text(source.lstrip("\n"), encoding="utf-8")
    return Case(Trace(), Sources(str(folder), str(folder / "train.py")), arguments=arguments)


def ladders(case: Case, code: str) -> list[Ladder]:
    (operator,) = [each for each in OPERATORS.all() if each.code == code]
    assert isinstance(operator, RlOperator)
    return list(operator.ladders(case))


def first_text(case: Case, folder: Path, code: str) -> str:
    texts = texts_of(ladders(case, code)[0].steps[0].edits, str(folder))
    assert texts is not None
    return texts["train.py"]


def test_settings_are_found_where_they_are_set(tmp_path: Path) -> None:
    case = case_of(tmp_path, PARSED)
    found = training(case)
    assert found is not None and found.algorithm.name == "SAC"
    setting, steps = found.setting(case, "gamma"), found.steps(case)
    assert setting is not None and setting.value == 0.95
    assert steps is not None and steps.value == 4000
    assert "default=0.9)" in first_text(case, tmp_path, "M701")
    assert "default=3800)" in first_text(case, tmp_path, "M706")


def test_a_value_of_the_command_line_is_changed_where_it_is_used(tmp_path: Path) -> None:
    case = case_of(tmp_path, PARSED, ("--gamma", "0.8"))
    assert "gamma=0.7" in first_text(case, tmp_path, "M701")


def test_an_existing_wrapper_is_kept_within_the_new_one(tmp_path: Path) -> None:
    text = first_text(case_of(tmp_path, WRAPPED), tmp_path, "M710")
    assert "wrapper_class=lambda env: ScaledReward(Clip(env))" in text
    compile(text, "train.py", "exec")


def test_parallel_environments_are_followed_to_what_makes_one(tmp_path: Path) -> None:
    case = case_of(tmp_path, PARALLEL)
    here = training(case)
    assert here is not None
    place = made_at(case, here)
    assert place is not None and place.kind == "make"
    assert 'env = OneFlag(gym.make("LunarLander-v3"))' in first_text(case, tmp_path, "M725")
    assert "VecNormalize(SubprocVecEnv([make(i) for i in range(4)]), norm_obs=False)" in first_text(
        case, tmp_path, "M713"
    )


def test_an_id_becomes_an_environment_that_can_be_wrapped(tmp_path: Path) -> None:
    text = first_text(case_of(tmp_path, BY_ID), tmp_path, "M726")
    assert "import gymnasium as gym" in text and 'NoEnd(gym.make("CartPole-v1"))' in text
    case = case_of(tmp_path, BY_ID)
    here = training(case)
    assert here is not None
    rate = here.setting(case, "learning_rate")
    assert rate is not None and rate.value == 0.01


def test_what_may_come_from_elsewhere_is_left_alone(tmp_path: Path) -> None:
    source = BY_ID.replace(", 0.01)", ", **load())").replace(
        "model =", "from settings import load\nmodel =", 1
    )
    case = case_of(tmp_path, source)
    assert ladders(case, "M701") == [] and ladders(case, "M706") != []


def test_a_ladder_climbs_away_from_the_present_value(tmp_path: Path) -> None:
    down, up = ladders(case_of(tmp_path, BY_ID), "M701")
    assert down.values == (0.98, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.45) and up.values == (0.995, 0.999, 0.9999)
    assert list(up.grades) == pytest.approx([1 / 3, 2 / 3, 1])


def test_every_operator_that_was_proposed_is_here() -> None:
    operators = [each for each in OPERATORS.classes().values() if issubclass(each, RlOperator)]
    published = {name for each in operators for name in each.published}
    proposed = [
        "SDF",
        "SEC",
        "SMR",
        "SLS",
        "SNR",
        "NEI",
        "SNU",
        "SPV",
        "SPR",
        "SRS",
        "NRS",
        "MNA",
        "MNO",
        "SBS",
        "SER",
    ]
    assert set(proposed) <= published
    for each in operators:
        assert each.needs and each.title and all(cause in LEAVES for cause in each.causes)
    seeded = {cause for each in operators for cause in each.causes}
    assert {"RL-REW-SUBOPT", "RL-NORM-OBS", "RL-ENV-STATE", "RL-ENV-FLAGS", "RL-ENV-DONES"} <= seeded


def test_the_defaults_are_those_of_the_algorithms() -> None:
    sb3, contrib = pytest.importorskip("stable_baselines3"), pytest.importorskip("sb3_contrib")
    for algorithm in ALGORITHMS.values():
        package = sb3 if algorithm.package == "stable_baselines3" else contrib
        parameters = inspect.signature(getattr(package, algorithm.name).__init__).parameters
        assert {name: parameters[name].default for name in algorithm.defaults} == algorithm.defaults, (
            algorithm.name
        )
