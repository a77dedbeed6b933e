"""What is recorded of an agent of Stable-Baselines3, and that its training is the same as unwatched."""

from __future__ import annotations

from pathlib import Path

import pytest

gymnasium = pytest.importorskip("gymnasium")
sb3 = pytest.importorskip("stable_baselines3")

import netmend  # noqa: E402
from netmend.localise import diagnose  # noqa: E402
from netmend.store import read_trace  # noqa: E402
from netmend.vocabulary import AgentFact  # noqa: E402


def _weights(model) -> float:
    return sum(float(p.detach().double().abs().sum()) for p in model.policy.parameters())


def _train(kind, steps, **settings):
    model = kind("MlpPolicy", gymnasium.make("CartPole-v1"), seed=0, device="cpu", **settings)
    return model.learn(total_timesteps=steps)


def _watched(tmp_path, kind, steps, **settings):
    watch = netmend.watch(directory=tmp_path, quiet=True).start()
    model = _train(kind, steps, **settings)
    watch.stop()
    return model, read_trace(next(iter((tmp_path / "runs").iterdir())))


def test_ppo_is_seen_and_trains_as_it_would_unwatched(tmp_path):
    settings = {"n_steps": 64, "n_epochs": 2, "gamma": 0.97}
    plain = _train(sb3.PPO, 256, **settings)
    model, trace = _watched(tmp_path, sb3.PPO, 256, **settings)
    assert _weights(model) == _weights(plain)
    (agent,) = trace.all(AgentFact)
    assert (agent.kind, agent.planned, agent.timesteps, agent.trainings, agent.updates) == (
        "PPO",
        256,
        256,
        4,
        8,
    )
    assert agent.settings["gamma"] == 0.97 and agent.settings["n_steps"] == 64
    assert agent.created is not None and agent.created.file == __file__ and agent.actions == 2
    entropies = trace.series("agent", agent.name, "entropy")[1]
    assert len(entropies) == 4 and 0.6 < entropies[0] < 0.694


def test_dqn_that_never_learns_is_told_so_at_its_setting(tmp_path):
    watch = netmend.watch(directory=tmp_path, quiet=True).start()
    env = gymnasium.make("CartPole-v1")
    waiting = 5000
    sb3.DQN("MlpPolicy", env, learning_starts=waiting, buffer_size=1000, device="cpu").learn(300)
    watch.stop()
    trace = read_trace(next(iter((tmp_path / "runs").iterdir())))
    (agent,) = trace.all(AgentFact)
    assert (agent.updates, agent.buffer_filled) == (0, 300)
    (told,) = diagnose(trace).faults
    assert told.cause == "RL-FA-LEARN-START" and told.site is not None
    lines = Path(told.site.file).read_text(encoding="utf-8").splitlines()
    assert lines[told.site.line - 1].strip() == "waiting = 5000"


def test_changes_of_the_target_network_are_counted(tmp_path):
    _, trace = _watched(
        tmp_path, sb3.DQN, 260, learning_starts=20, train_freq=4, target_update_interval=100, buffer_size=1000
    )
    (agent,) = trace.all(AgentFact)
    assert agent.target_looks > 20 and 1 <= agent.target_changes <= 3 and agent.target_equal <= 3
