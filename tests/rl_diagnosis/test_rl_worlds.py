"""What is recorded of environments, against counts made by hand."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
torch = pytest.importorskip("torch")

import netmend  # noqa: E402
from netmend.adapters.start import start_torch  # noqa: E402
from netmend.observe.options import Options  # noqa: E402
from netmend.store import read_trace  # noqa: E402
from netmend.vocabulary import ProbeFact, WorldFact  # noqa: E402


class Count(gymnasium.Env):
    """Ends by itself after `end` steps, or is cut off after `limit`."""

    observation_space = gymnasium.spaces.Box(-100, 100, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, end=4, limit=100):
        self.end, self.limit, self.t = end, limit, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return np.zeros(2, np.float32), {}

    def step(self, action):
        self.t += 1
        return (
            np.array([self.t, 10.0], np.float32),
            float(self.t),
            self.t >= self.end,
            self.t >= self.limit,
            {},
        )


class Joined(gymnasium.Wrapper):
    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, 0.0 * reward, terminated or truncated, False, info


def _recorded(tmp_path: Path, program) -> WorldFact:
    (world,) = _recorded_worlds(tmp_path, program)
    return world


def _recorded_worlds(tmp_path: Path, program) -> list[WorldFact]:
    watch = netmend.watch(directory=tmp_path, quiet=True).start()
    program()
    watch.stop()
    trace = read_trace(next(iter((tmp_path / "runs").iterdir())))
    assert not trace.run.missing
    return list(trace.all(WorldFact))


def _play(env, steps, reset=True, seed=None):
    env.reset(seed=seed)
    for n in range(steps):
        *_, terminated, truncated, _ = env.step(n % 2)
        if reset and (terminated or truncated):
            env.reset(seed=seed)


def test_steps_episodes_rewards_and_features(tmp_path):
    world = _recorded(tmp_path, lambda: _play(Count(), 12))
    assert (world.steps, world.episodes, world.terminated, world.truncated) == (12, 3, 3, 0)
    assert (world.reward_low, world.reward_high, world.reward_mean) == (1.0, 4.0, 2.5)
    assert world.feature_rms == pytest.approx((np.sqrt((1 + 4 + 9 + 16) / 4), 10.0))
    assert world.after_end == world.merged == world.same_starts == 0
    assert world.actions == 2 and world.kind == "Count"
    assert world.stepped is not None and world.stepped.file == __file__
    assert [site.function for site in world.own] == ["Count.step", "Count.reset"]


def test_steps_after_the_end(tmp_path):
    assert _recorded(tmp_path, lambda: _play(Count(), 12, reset=False)).after_end == 8


def test_truncation_that_a_wrapper_calls_termination(tmp_path):
    world = _recorded(tmp_path, lambda: _play(Joined(Count(end=50, limit=5)), 20))
    assert (world.merged, world.terminated, world.truncated) == (4, 4, 0)
    assert world.reward_ranges == (("Joined", 0.0, 0.0), ("Count", 1.0, 5.0))


def test_flags_that_are_passed_on_are_not_merged(tmp_path):
    world = _recorded(tmp_path, lambda: _play(gymnasium.wrappers.TimeLimit(Count(end=50), 5), 20))
    assert (world.merged, world.terminated, world.truncated, world.time_limit) == (0, 0, 4, 5)


def test_the_same_seed_for_every_episode(tmp_path):
    world = _recorded(tmp_path, lambda: _play(Count(), 12, seed=3))
    assert (world.resets, world.seeded_resets, world.same_starts) == (3, 3, 3)


def test_lanes_of_a_vector_environment_are_steps_of_one_world(tmp_path):
    def program():
        envs = gymnasium.vector.SyncVectorEnv([Count, Count, Count])
        envs.reset()
        for _ in range(10):
            envs.step(np.zeros(3, dtype=np.int64))

    world = _recorded(tmp_path, program)
    assert (world.steps, world.copies, world.after_end) == (30, 1, 0)
    assert world.episodes == 6 and world.observation_shape == (2,)


def test_the_first_update_is_placed_among_the_steps_and_a_target_that_stands_still_is_seen(tmp_path):
    online, target = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(online.parameters(), lr=0.1)

    def program():
        env = Count()
        env.reset()
        for n in range(400):
            observation, *_, terminated, truncated, _ = env.step(0)
            if n >= 99:
                with torch.no_grad():
                    wanted = target(torch.as_tensor(observation))
                loss = (online(torch.as_tensor(observation)) - wanted).pow(2).mean() * 1e-3
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            if terminated or truncated:
                env.reset()

    watch = netmend.watch(directory=tmp_path, quiet=True).start()
    program()
    watch.stop()
    trace = read_trace(next(iter((tmp_path / "runs").iterdir())))
    (world,) = trace.all(WorldFact)
    assert world.steps_before_learning == 100
    probes = {
        probe.component: probe.values
        for probe in trace.all(ProbeFact)
        if probe.what == "weights while acting"
    }
    assert probes["online"]["trained"] and not probes["target"]["trained"]
    assert probes["target"]["changes"] == 0 < probes["online"]["changes"]
    assert probes["target"]["twins"] == ("online",)


def test_a_reward_that_is_none_counts_as_bad_and_harms_nothing(tmp_path):
    class Forgetful(Count):
        def step(self, action):
            observation, reward, *rest = super().step(action)
            return observation, None if reward == 2.0 else reward, *rest

    world = _recorded(tmp_path, lambda: _play(Forgetful(), 12))
    assert (world.steps, world.bad_rewards, world.reward_high) == (12, 3, 4.0)


def test_what_happens_while_the_adapter_rests_is_not_the_programs(tmp_path):
    options = Options(directory=tmp_path)
    watching = start_torch(options, "train.py")
    _play(Count(), 4)
    watching._adapter.alive = False
    _play(Count(), 40)
    watching._adapter.alive = True
    watching.stop()
    (world,) = read_trace(watching.path).all(WorldFact)
    assert world.steps == 4


def test_nothing_stays_on_the_classes(tmp_path):
    before = vars(Count)["step"], vars(gymnasium.Wrapper)["step"], gymnasium.make
    _recorded(tmp_path, lambda: _play(Count(), 12))
    assert (vars(Count)["step"], vars(gymnasium.Wrapper)["step"], gymnasium.make) == before
    assert not any(type(finder).__name__ == "AfterImport" for finder in sys.meta_path)


def test_an_exception_of_the_environment_passes_and_later_steps_count(tmp_path):
    class Fragile(Count):
        def step(self, action):
            if action == 9:
                raise ValueError("9")
            return super().step(action)

    def program():
        env = Fragile(end=500)
        env.reset()
        with pytest.raises(ValueError, match="9"):
            env.step(9)
        for _ in range(7):
            env.step(0)

    assert _recorded(tmp_path, program).steps == 7


def test_what_cannot_be_afforded_is_taken_off_and_every_step_still_counts(tmp_path, monkeypatch):
    from netmend.adapters.gymnasium import session
    from netmend.observe.budget import Purse

    before = vars(Count)["step"], vars(Joined)["step"]
    monkeypatch.setattr(session, "_DENSE", 64)
    monkeypatch.setattr(Purse, "holds", lambda self, seconds=0.0: False)
    inside = []

    def program():
        environment = Joined(Count(end=10))
        for _ in range(50):
            environment.reset()
            ended = False
            while not ended:
                ended = environment.step(0)[2]
        inside.append((vars(Count)["step"] is before[0], vars(Joined)["step"] is before[1]))

    world = _recorded(tmp_path, program)
    assert inside == [(True, False)]  # the inner one is free again, the outer one counts
    assert (world.steps, world.episodes, world.resets, world.terminated) == (
        500,
        50,
        49,
        50,
    )  # the first reset comes before the loop is known
    assert (vars(Count)["step"], vars(Joined)["step"]) == before


def test_loops_stay_apart_and_resets_are_cheap_while_steps_are_only_counted(tmp_path, monkeypatch):
    from netmend.adapters.gymnasium import session
    from netmend.observe.budget import Purse

    monkeypatch.setattr(session, "_DENSE", 64)
    monkeypatch.setattr(Purse, "holds", lambda self, seconds=0.0: False)
    looked_at = []
    note = session.Worlds._note_reset
    monkeypatch.setattr(
        session.Worlds, "_note_reset", lambda self, *args: (looked_at.append(args), note(self, *args))[1]
    )

    def episode(environment):
        environment.reset()
        while not environment.step(0)[2]:
            pass

    def program():
        environment = Joined(Count(end=10))
        for _ in range(30):
            episode(environment)
        for _ in range(4):  # another loop, as of an evaluation
            environment.reset()
            while not environment.step(0)[2]:
                pass
        for _ in range(30):
            episode(environment)

    worlds = sorted((world.steps, world.episodes) for world in _recorded_worlds(tmp_path, program))
    assert worlds == [(40, 4), (600, 60)]
    assert len(looked_at) < 40


def test_what_was_taken_off_is_put_back_when_it_can_be_afforded(tmp_path, monkeypatch):
    from netmend.adapters.gymnasium import session
    from netmend.observe.budget import Purse

    original, affordable, seen = vars(Count)["step"], [False], []
    monkeypatch.setattr(session, "_DENSE", 64)
    monkeypatch.setattr(Purse, "holds", lambda self, seconds=0.0: affordable[0])

    def program():
        environment = Joined(Count(end=1000, limit=1000))
        environment.reset()
        for number in range(600):
            affordable[0] = number >= 300
            environment.step(0)
            if number in (299, 599):
                seen.append(vars(Count)["step"] is original)

    assert _recorded(tmp_path, program).steps == 600
    assert seen == [True, False]


def test_wrappers_are_not_asked_for_what_they_pass_on_with_a_warning(tmp_path):
    asked = []

    class Old(gymnasium.Wrapper):
        def __getattr__(self, name):
            asked.append(name)
            raise AttributeError(name)

    def program():
        environment = Old(Count())
        environment.reset()
        for _ in range(3):
            environment.step(0)

    assert _recorded(tmp_path, program).steps == 3
    assert "num_envs" not in asked
