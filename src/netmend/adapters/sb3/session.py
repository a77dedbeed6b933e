"""Agents: every algorithm object of Stable-Baselines3 (and of packages built on it) that the program trains."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from netmend.adapters.sb3.looks import NAN, gathered, logged, prints_of, settings_of, spaces_of, target_of
from netmend.adapters.torch.guard import RAISED, around, guarded
from netmend.adapters.torch.watch.known import Known
from netmend.adapters.watched_classes import WatchedClasses
from netmend.launch.import_hook import AfterImport
from netmend.vocabulary import AgentFact, Site
from netmend.vocabulary.table import COLUMNS

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession

PART = "agents of Stable-Baselines3"
_DENSE = 24  # looks after which the distance between two doubles


class Agent:
    """What is known of one agent while it learns."""

    def __init__(self, agent: Any, name: str, created: Site | None) -> None:
        self.reference = weakref.ref(agent)
        self.name = name
        self.created = created
        self.learned: Site | None = None
        self.planned = self.trainings = self.looks = 0
        self.next_look, self.distance = 1, 1
        self.target_looks = self.target_changes = self.target_equal = 0
        self.target: tuple[float, ...] = ()
        self.fact: AgentFact | None = None

    def due(self) -> bool:
        """Whether this training is one to look at."""
        if self.trainings < self.next_look:
            return False
        self.looks += 1
        if self.looks % _DENSE == 0:
            self.distance *= 2
        self.next_look = self.trainings + self.distance
        return True


class Agents:
    """The part of a session that watches agents; nothing is imported before the program does."""

    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self._classes = WatchedClasses()
        self._hook = AfterImport("stable_baselines3.common.base_class", self._imported)
        self._agents: list[Agent] = []
        self._by_object: Known[Agent] = Known()
        self._created: Known[Site] = Known()
        self._depth = 0

    def install(self) -> None:
        self._hook.install()

    def remove(self) -> None:
        self._hook.remove()
        self._classes.undo()

    def finish(self) -> None:
        for agent in self._agents:
            self._tell(agent)

    @guarded(PART)
    def _imported(self) -> None:
        from stable_baselines3.common.base_class import BaseAlgorithm

        session = self.session
        self._classes.watch(
            BaseAlgorithm,
            {
                "__init__": around(session, PART, self._making, always=True),
                "learn": around(session, PART, self._learning, self._has_learned, always=True),
                "train": around(session, PART, None, self._note_training, always=True),
            },
        )

    # -- calls of the program -----------------------------------------------------------------------------------

    @guarded(PART)
    def _making(self, args: Any, kwargs: Any) -> None:
        if args[0] not in self._created:
            site = self.session.sites.of_creation(args[0])
            if site is not None:
                self._created.put(args[0], site)

    def _learning(self, args: Any, kwargs: Any) -> tuple[bool]:
        self._depth += 1
        if self._depth == 1:
            self._note_learning(args, kwargs)
        return (self._depth == 1,)

    @guarded(PART)
    def _note_learning(self, args: Any, kwargs: Any) -> None:
        agent = self._agent(args[0])
        agent.learned = self.session.sites.here()
        planned = args[1] if len(args) > 1 else kwargs.get("total_timesteps", 0)
        agent.planned += int(planned)
        self._tell(agent)

    def _has_learned(self, token: tuple[bool], args: Any, kwargs: Any, result: Any) -> None:
        self._depth -= 1
        if token[0]:
            self._note_end(args[0])

    @guarded(PART)
    def _note_end(self, algorithm: Any) -> None:
        self._tell(self._agent(algorithm))

    @guarded(PART)
    def _note_training(self, token: Any, args: Any, kwargs: Any, result: Any) -> None:
        if result is RAISED:
            return
        algorithm = args[0]
        agent = self._agent(algorithm)
        agent.trainings += 1
        if not agent.due():
            return
        self._look_at_target(agent, algorithm)
        found = logged(algorithm) | gathered(algorithm)
        found["exploration"] = float(getattr(algorithm, "exploration_rate", NAN))
        found["updates"] = float(getattr(algorithm, "_n_updates", NAN))
        row = tuple(found.get(column, NAN) for column in COLUMNS["agent"])
        self.session.recorder.row("agent", agent.name, int(algorithm.num_timesteps), row)

    def _look_at_target(self, agent: Agent, algorithm: Any) -> None:
        pair = target_of(algorithm)
        if pair is None:
            return
        online, target = prints_of(pair[0]), prints_of(pair[1])
        if not target:
            return
        if agent.target:
            agent.target_looks += 1
            agent.target_changes += agent.target != target
            agent.target_equal += online == target
        agent.target = target

    # -- facts --------------------------------------------------------------------------------------------------

    def _agent(self, algorithm: Any) -> Agent:
        agent = self._by_object.get(algorithm)
        if agent is None:
            created = self._created.get(algorithm)
            place = f"@{created.short}" if created is not None else ""
            agent = Agent(algorithm, self.session.unique_name(f"{type(algorithm).__name__}{place}"), created)
            self._by_object.put(algorithm, agent)
            self._agents.append(agent)
        return agent

    def _tell(self, agent: Agent) -> None:
        """The fact as it stands; an agent that is gone has told its own when it had learned."""
        algorithm = agent.reference()
        if algorithm is None:
            return
        actions, image = spaces_of(algorithm)
        replay = getattr(algorithm, "replay_buffer", None)
        normaliser = algorithm.get_vec_normalize_env()
        self.session.recorder.fact(
            AgentFact(
                agent.name,
                kind=type(algorithm).__name__,
                settings=settings_of(algorithm),
                created=agent.created,
                learned=agent.learned,
                planned=agent.planned,
                timesteps=int(getattr(algorithm, "num_timesteps", 0)),
                trainings=agent.trainings,
                updates=int(getattr(algorithm, "_n_updates", 0)),
                copies=int(getattr(algorithm, "n_envs", 1) or 1),
                actions=actions,
                buffer_filled=None if replay is None else int(replay.size()),
                target_looks=agent.target_looks,
                target_changes=agent.target_changes,
                target_equal=agent.target_equal,
                observations_normalised=image or bool(getattr(normaliser, "norm_obs", False)),
                rewards_normalised=bool(getattr(normaliser, "norm_reward", False)),
            )
        )
