"""Small literal runs of agents, for the examples of detectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from netmend.diagnose.examples.curves import flat, trace_of
from netmend.vocabulary import (
    AgentFact,
    ModelFact,
    OptimizerFact,
    ProbeFact,
    RunFact,
    Site,
    Table,
    Trace,
    WorldFact,
)
from netmend.vocabulary.facts import Fact

WORLD, AGENT = "CartPole-v1@train.py:30", "PPO@train.py:12"
# sources that examples of causes point to
PROGRAMS = Path(__file__).parents[2] / "localise" / "lines" / "acting_programs"
_ROW = dict.fromkeys(
    (
        "entropy",
        "policy_loss",
        "value_loss",
        "explained_variance",
        "divergence",
        "value_rms",
        "value_highest",
    ),
    float("nan"),
)


def a_world(**changes: Any) -> WorldFact:
    """A healthy CartPole of 5,000 steps."""
    settings: dict[str, Any] = {
        "kind": "CartPole-v1",
        "chain": ("TimeLimit", "CartPoleEnv"),
        "created": Site("train.py", 5),
        "stepped": Site("train.py", 30),
        "reset": Site("train.py", 35),
        "copies": 1,
        "steps": 5000,
        "resets": 150,
        "episodes": 150,
        "terminated": 150,
        "time_limit": 500,
        "actions": 2,
        "observation_shape": (4,),
        "observation_type": "float32",
        "feature_rms": (0.1, 0.5, 0.1, 0.8),
        "reward_mean": 1.0,
        "reward_std": 0.0,
        "reward_low": 1.0,
        "reward_high": 1.0,
        "reward_ranges": (("TimeLimit", 1.0, 1.0), ("CartPoleEnv", 1.0, 1.0)),
    }
    return WorldFact(WORLD, **(settings | changes))


def an_agent(kind: str = "PPO", settings: Mapping[str, Any] | None = None, **changes: Any) -> AgentFact:
    """A healthy agent of a library."""
    known: dict[str, Any] = {
        "settings": {"gamma": 0.99, "learning_rate": 3e-4, **(settings or {})},
        "created": Site("train.py", 12),
        "learned": Site("train.py", 30),
        "planned": 5000,
        "timesteps": 5000,
        "trainings": 40,
        "updates": 400,
        "actions": 2,
    }
    return AgentFact(AGENT, kind, **(known | changes))


def twins(changes: int, equal: int = 0, trained: bool = False) -> tuple[ProbeFact, ...]:
    """A trained network and a second one of the same make."""
    what = "weights while acting"
    online = {"looks": 40, "changes": 38, "twins": ["target"], "equal": equal, "trained": True}
    target = {"looks": 40, "changes": changes, "twins": ["q_net"], "equal": equal, "trained": trained}
    return (
        ProbeFact(f"{what}@q_net", what, "q_net", values=online),
        ProbeFact(f"{what}@target", what, "target", values=target),
    )


def acted(
    *facts: Fact,
    returns: Sequence[float] = (),
    behaviour: Sequence[float] = (),
    looks: Sequence[Mapping[str, float]] = (),
    steps: int = 400,
    script: str = "train.py",
    more: Sequence[Table] = (),
) -> Trace:
    """A run with these facts, on a CartPole unless they name a world; `returns` per episode, `behaviour` the share of the commonest
    action, `looks` rows of the agent.
    """
    folder = str(PROGRAMS) if script != "train.py" else ""
    world = [] if any(isinstance(fact, WorldFact) for fact in facts) else [a_world()]
    run = RunFact("example", script, working_directory=folder, steps=steps, status="finished")
    known: list[Fact] = [run, *world, *facts]
    if steps and not any(isinstance(fact, OptimizerFact) for fact in facts):
        known.append(OptimizerFact("optimizer", "Adam", (), Site(script, 8), Site(script, 50)))
    if not any(isinstance(fact, ModelFact) for fact in facts):
        known.append(ModelFact("q_net", "Sequential", parameters=100, trainable=100))
    episodes = {40 * (n + 1): (value, 40.0, 1.0, 0.0) for n, value in enumerate(returns or _rising(60))}
    tables = [
        Table.of("episode", WORLD, episodes),
        Table.of(
            "behaviour",
            WORLD,
            {256 * (n + 1): (share, 1.0, 0.0) for n, share in enumerate(behaviour or [0.6] * 12)},
        ),
        Table.of("step", "optimizer", {n: (value, 1.0) for n, value in enumerate(flat(steps))}),
        *more,
    ]
    if looks:
        columns = Table.of("agent", AGENT, {}).columns
        rows = {
            128 * (n + 1): tuple((_ROW | dict(look)).get(c, float("nan")) for c in columns)
            for n, look in enumerate(looks)
        }
        tables.append(Table.of("agent", AGENT, rows))
    return trace_of(*known, *tables)


def stepped_at(line: int, script: str, *facts: Fact, returns: Sequence[float] = (), **world: Any) -> Trace:
    """A run of one of the `PROGRAMS`, which steps its environment at a line."""
    return acted(a_world(stepped=Site(script, line), **world), *facts, script=script, returns=returns)


def _rising(count: int) -> list[float]:
    """Returns of an agent that gets better, with a regular ripple in place of noise."""
    return [20.0 + number + 6.0 * (-1) ** number for number in range(count)]
