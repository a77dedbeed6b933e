"""A real agent in a real trial: trained, saved as plain numbers, played again from where it was trained."""

from __future__ import annotations

import json

import numpy as np
import pytest

from netmend.mutate.agents.examining import FACTS, Orders
from netmend.mutate.agents.trained import Agent, playing, run, training
from netmend.trials.local import LocalExecutor
from netmend.trials.runner import Runner
from netmend.trials.trial import Limits, Target

pytest.importorskip("stable_baselines3")

SCRIPT = """
import gymnasium as gym
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import SubprocVecEnv, VecNormalize


class Doubled(gym.RewardWrapper):
    def reward(self, reward):
        return 2 * reward


class NoEnd(gym.Wrapper):
    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, False, terminated or truncated, info


if __name__ == "__main__":
    venv = VecNormalize(SubprocVecEnv([lambda: NoEnd(Doubled(gym.make("CartPole-v1")))] * 2))
    model = PPO("MlpPolicy", venv, n_steps=32, batch_size=32, n_epochs=1, seed=3)
    for part in range(2):
        model.learn(total_timesteps=64, reset_num_timesteps=False)
    venv.close()
"""
HANDED_OVER = (
    SCRIPT
    + """
    model.set_env(VecNormalize(SubprocVecEnv([lambda: gym.make("CartPole-v1")] * 2), norm_obs=False))
    print("handed over")
"""
)


@pytest.fixture(scope="module", params=[SCRIPT, HANDED_OVER], ids=["trained", "handed over"])
def agents(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Agent]:
    folder = tmp_path_factory.mktemp("program")
    (folder / "train.py").write_text(request.param)
    target = Target("train.py", (), False, str(folder))
    runner = Runner(target, folder / ".netmend" / "trials", LocalExecutor(1), Limits())
    try:
        (trained,) = run(runner, [training(target, (), Orders(seed=2, replay=6, random=8, wide=4))])
        assert not trained.problem, trained.outcome.output
        starts = {"again": trained.episodes["random"].starts, "far": np.array([[2.3, 1.0, 0.0, 0.0]] * 3)}
        (played,) = run(runner, [playing(target, (), 2, trained, starts)])
        assert not played.problem, played.outcome.output
        return [trained, played]
    finally:
        runner.close()


def test_an_agent_plays_its_starts_through_its_own_wrappers(agents: list[Agent]) -> None:
    trained = agents[0]
    facts, seen = trained.facts, trained.episodes
    assert facts["algorithm"] == "PPO" and facts["environment"] == "CartPole-v1" and facts["repeats"]
    assert facts["steps"] == 128 and facts["environments"] == 2
    assert {name: len(each) for name, each in seen.items()} == {
        "random": 8,
        "wide": 4,
        "replay": 6,
    }
    assert np.abs(seen["replay"].starts).max() <= 0.05
    # Reward and end are the environment's own, though the program doubles the one and hides the other.
    assert np.array_equal(seen["random"].returns, seen["random"].lengths)
    assert seen["random"].terminated.any() == bool((seen["random"].lengths < 500).any())
    assert ((seen["random"].quality >= 0) & (seen["random"].quality <= 1)).all()


def test_a_saved_agent_does_the_same_again_without_training(agents: list[Agent]) -> None:
    trained, played = agents
    assert played.facts["steps"] == 0
    for name in ("returns", "lengths", "terminated", "quality"):
        assert np.array_equal(
            getattr(played.episodes["again"], name), getattr(trained.episodes["random"], name)
        ), name
    assert (played.episodes["far"].lengths < 20).all()  # the cart runs off the track


def test_nothing_of_an_agent_needs_unpickling(agents: list[Agent]) -> None:
    with np.load(agents[0].folder / "agent.npz", allow_pickle=False) as data:
        handed_over = "handed over" in agents[0].outcome.output
        assert int(data["calls"]) == 2 and bool(data["moved"]) is handed_over
        assert any(name.startswith("statistics/0/") for name in data.files) is not handed_over
    assert json.loads((agents[0].folder / FACTS).read_text())["cpu_seconds"] > 0
