"""The agents of a study: trained or played through the trial runner, read back from the folders of their trials."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from netmend.errors import UsageError
from netmend.mutate.agents import episodes
from netmend.mutate.agents.environments import Rows
from netmend.mutate.agents.episodes import Episodes
from netmend.mutate.agents.examining import EPISODES, FACTS, PLAY, Orders
from netmend.trials.runner import Runner
from netmend.trials.trial import FINISHED, Outcome, Target, Trial

_MODULE = "netmend.mutate.agents.examining"
Texts = tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class Agent:
    """One training of one version of the program."""

    folder: Path
    outcome: Outcome

    @property
    def problem(self) -> str:
        """Why there is nothing to read; "" where there is."""
        if self.outcome.status != FINISHED:
            return (
                f"{self.outcome.status}: {self.outcome.exception}"
                if self.outcome.exception
                else self.outcome.status
            )
        if not (self.folder / EPISODES).is_file():
            notes = [note for note in self.outcome.notes if note.startswith("the examination failed")]
            return notes[0] if notes else "the agent was not examined"
        return ""

    @cached_property
    def episodes(self) -> dict[str, Episodes]:
        return episodes.read(self.folder / EPISODES)

    @cached_property
    def facts(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / FACTS).read_text(encoding="utf-8"))
        return found

    @property
    def candidates(self) -> tuple[Rows, Rows] | None:
        file = self.folder / "candidates.npz"
        if not file.is_file():
            return None
        with np.load(file, allow_pickle=False) as data:
            return data["starts"], data["features"]


def training(target: Target, texts: Texts, orders: Orders) -> Trial:
    return Trial(target, texts, seed=orders.seed, overhead=0.0, examination=(_MODULE, orders.to_json()))


def playing(target: Target, texts: Texts, seed: int, agent: Agent, sets: dict[str, Rows]) -> Trial:
    """The same version with the same seed, up to where the trained agent takes its place."""
    orders = Orders(
        mode=PLAY,
        seed=seed,
        agent=agent.folder.name,
        sets={name: rows.tolist() for name, rows in sets.items()},
    )
    return Trial(target, texts, seed=seed, overhead=0.0, examination=(_MODULE, orders.to_json()))


def playable(agents: list[Agent]) -> list[Agent]:
    """The same agents, once all of them could be played."""
    for agent in agents:
        if agent.problem:
            raise UsageError(f"a trained agent could not be played again: {agent.problem}")
    return agents


def run(runner: Runner, trials: list[Trial]) -> list[Agent]:
    """All of them, several at once; what was run before is read."""
    outcomes = runner.run(trials)
    return [Agent(runner.place(trial), outcome) for trial, outcome in zip(trials, outcomes, strict=True)]
