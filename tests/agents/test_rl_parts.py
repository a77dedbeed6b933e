"""The pure parts: what is an RL program, settings, criteria, generators, climbing, revealing starts."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from netmend.errors import UsageError
from netmend.mutate.agents import is_rl
from netmend.mutate.agents.comparison import covering, most_revealing, told_apart
from netmend.mutate.agents.environments import Space, space_of
from netmend.mutate.agents.episodes import (
    FELL,
    NOT_LANDED,
    Criterion,
    Episodes,
    parse_criterion,
    read,
    spread_criterion,
    write,
)
from netmend.mutate.agents.generators import easiest, fitted, hardest_passed, most_telling, parse_own
from netmend.mutate.agents.pair_verdicts import EVERY, mildest
from netmend.mutate.agents.settings import read_settings, script_of


def episodes(returns: list[float], **changed: list[float]) -> Episodes:
    count = len(returns)
    values = {"quality": [0.5] * count, "final": [0.5] * count, "last_reward": [0.0] * count, **changed}
    return Episodes(
        starts=np.arange(count, dtype=float)[:, None],
        features=np.arange(count, dtype=float)[:, None],
        returns=np.array(returns, dtype=float),
        lengths=np.array(changed.get("lengths", returns), dtype=float),
        terminated=np.array(changed.get("terminated", [0] * count), dtype=bool),
        quality=np.array(values["quality"], dtype=float),
        final=np.array(values["final"], dtype=float),
        last_reward=np.array(values["last_reward"], dtype=float),
    )


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.py", "from stable_baselines3 import PPO\n", True),
        ("a.py", "import sb3_contrib as c\n", True),
        ("a.py", "# stable_baselines3\nimport torch\n", False),
        ("a.py", "import stable_baselines3 (\n", False),
        ("a.yaml", "algorithm: PPO\nenvironment: CartPole-v1\n", True),
        ("a.yaml", "model: resnet\n", False),
        ("a.txt", "from stable_baselines3 import PPO\n", False),
    ],
)
def test_rl_programs_are_told_from_others(tmp_path: Path, name: str, text: str, expected: bool) -> None:
    (tmp_path / name).write_text(text)
    assert is_rl(tmp_path / name) is expected
    assert not is_rl(tmp_path / "missing.py")


def test_a_yaml_becomes_an_ordinary_script(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(
        "algorithm: tqc\nenvironment: Pendulum-v1\nsteps: 1e4\nenvironments: 2\nnormalize: true\n"
        "settings: {learning_rate: 1e-3, policy_kwargs: {net_arch: [32, 32]}, ent_coef: auto, tau: lin_1e-2}\nfails: return < -400\n"
    )
    settings = read_settings(file)
    text = script_of(settings)
    compile(text, "train.py", "exec")
    assert settings.steps == 10_000 and settings.fails == "return < -400"
    assert (
        "from sb3_contrib import TQC" in text
        and "learning_rate=0.001," in text
        and "tau=lambda left: 1e-2 * left," in text
        and "VecNormalize(env)" in text
        and "env_kwargs={'render_mode': None}" in text
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("algorithm: PPO\nenvironment: X\n", "steps is missing"),
        ("algorithm: QLEARN\nenvironment: X\nsteps: 10\n", "not known; choose PPO"),
        ("algoritm: PPO\n", "did you mean algorithm?"),
        ("algorithm: PPO\nenvironment: X\nsteps: many\n", "whole number of at least 1, got 'many'"),
        ("algorithm: PPO\nenvironment: X\nsteps: 10\nsettings: [1]\n", "names and values"),
        ("- 1\n", "must hold keys"),
        ("a: [\n", "is no YAML"),
    ],
)
def test_mistakes_in_a_yaml_are_told(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(text)
    with pytest.raises(UsageError, match=words.replace("?", r"\?").replace("[", r"\[")):
        read_settings(file)


def test_an_episode_fails_by_the_goal_of_its_environment() -> None:
    seen = episodes([500, 80, float("nan")], terminated=[0, 1, 0], last_reward=[1, 100, 1])
    assert FELL.failed(seen).tolist() == [False, True, True]
    assert NOT_LANDED.failed(seen).tolist() == [True, False, True]
    assert parse_criterion(" return < 2e2").failed(seen).tolist() == [False, True, True]
    with pytest.raises(UsageError, match="cannot be read"):
        parse_criterion("reward is low")


def test_without_a_goal_the_originals_say_what_failing_is() -> None:
    seen = [episodes([100.0 + i for i in range(20)])]
    assert spread_criterion(seen, 105.0) == Criterion("return", "<", 105.0)
    assert spread_criterion(seen, 500.0) == Criterion("return", "<", 101.9)
    with pytest.raises(UsageError, match="same return"):
        spread_criterion([episodes([7, 7, 7])], None)


def test_episodes_are_kept_as_they_are(tmp_path: Path) -> None:
    write(tmp_path / "e.npz", {"a b": episodes([1, 2]), "c": episodes([3])})
    again = read(tmp_path / "e.npz")
    assert list(again) == ["a b", "c"] and again["a b"].returns.tolist() == [1, 2]


def test_weak_takes_the_easiest_and_edge_the_hardest_that_are_passed() -> None:
    originals = [
        episodes([1, 1, 1, 1], quality=[0.9, 0.1, 0.5, 0.0]),
        episodes([1, 1, 1, 1], quality=[0.8, 0.2, 0.6, 0.7]),
    ]
    failed = [np.array([False, False, False, True]), np.array([False, False, False, True])]
    assert easiest(originals, failed, 2).tolist() == [0, 2]
    assert hardest_passed(originals, failed, 2).tolist() == [1, 2]
    by_return = [episodes([3, 9, 5], quality=[np.nan] * 3)]
    assert easiest(by_return, [np.zeros(3, dtype=bool)], 3).tolist() == [1, 2, 0]


def test_strong_finds_the_corner_where_only_the_mutant_fails() -> None:
    random = np.random.default_rng(0)
    space = space_of("CartPole-v1")
    starts = space.sample(400, random)
    mutant = fitted(starts, starts[:, 2] > 0.02)  # fails where the pole leans right
    original = fitted(starts, starts[:, 0] > 0.02)  # fails where the cart is on the right
    chosen = most_telling(space, mutant, original, 40, 200, None, random)
    assert chosen.shape == (40, 4)
    assert np.mean(chosen[:, 2] > 0.02) > 0.95 and np.mean(chosen[:, 0] < 0.02) > 0.95
    never = fitted(starts, np.zeros(400, dtype=bool))
    assert never.probability(starts).max() == 0.0


def test_strong_takes_seeds_from_those_whose_first_observation_is_known() -> None:
    random = np.random.default_rng(0)
    seeds, seen = np.arange(100.0)[:, None], random.normal(size=(100, 3))
    mutant = fitted(seen, seen[:, 0] > 0)
    chosen = most_telling(
        Space(), mutant, fitted(seen, np.zeros(100, dtype=bool)), 20, 500, (seeds, seen), random
    )
    assert len({float(each[0]) for each in chosen}) == 20
    assert np.mean(seen[chosen[:, 0].astype(int), 0] > 0) > 0.9


def test_a_generator_of_the_users_own_is_checked(tmp_path: Path) -> None:
    file = tmp_path / "tests.py"
    file.write_text(
        "def good(count, seed):\n    return [[0, 0, 0.01 * i, 0] for i in range(count)]\n"
        "def short(count, seed):\n    return [[0, 0]]\n"
        "def bad(count, seed):\n    return 1 / 0\n"
        "def endless(count, seed):\n    return [[0, 0, float('inf'), 0]]\n"
    )
    space = space_of("CartPole-v1")
    assert parse_own(f"lean={file}:good").starts(3, 0, space).shape == (3, 4)
    for name, words in (
        ("short", "4 numbers"),
        ("bad", "ZeroDivisionError"),
        ("endless", "finite"),
        ("none", "no function"),
    ):
        with pytest.raises(UsageError, match=words):
            parse_own(f"{file}:{name}").starts(3, 0, space)
    with pytest.raises(UsageError, match="is taken"):
        parse_own(f"weak={file}:good")
    with pytest.raises(UsageError, match="NAME=FILE"):
        parse_own("nonsense")


@pytest.mark.parametrize("count", [1, 2, 5, 12])
def test_halving_finds_the_mildest_that_is_killed(count: int) -> None:
    for first in range(count + 1):
        search, asked = mildest(count, 5), []
        try:
            index = next(search)
            while True:
                asked.append(index)
                index = search.send(index >= first)
        except StopIteration as end:
            assert end.value == (first if first < count else None)
        assert len(asked) <= 5 and len(set(asked)) == len(asked) and asked[0] == count - 1
    assert list(_asked(mildest(count, EVERY))) == list(range(count))


def _asked(search: Generator[int, bool, int | None]) -> Iterator[int]:
    """All that is asked where everything is killed."""
    yield next(search)
    with contextlib.suppress(StopIteration):
        while True:
            yield search.send(True)


def test_starts_that_reveal_mutants_are_found() -> None:
    old: list[NDArray[np.bool_]] = [np.array([False, False, True]), np.array([False, False, True])]
    new = [np.array([True, False, True]), np.array([True, True, True])]
    apart = told_apart(old, new)
    assert apart.tolist() == [1.0, 0.5, 0.0]
    space, rows = space_of("CartPole-v1"), np.arange(12.0).reshape(3, 4)
    best = most_revealing({"strong": (rows, apart)}, space)
    assert [each.share for each in best] == [1.0, 0.5] and best[
        0
    ].words == "env.unwrapped.state = [0, 1, 2, 3]"
    chosen = covering({"edge": (rows, {"a": apart, "b": np.array([0.0, 1.0, 0.0]), "c": np.zeros(3)})}, space)
    assert [each.reveals for each in chosen] == [("a", "b")]
    assert space_of("Other-v0").words(np.array([17.0])) == "env.reset(seed=17)"
