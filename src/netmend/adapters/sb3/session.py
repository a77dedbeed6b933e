"""Agents: every algorithm object of Stable-Baselines3 (and of packages built on it) that the program trains."""

from __future__ import annotations

import math
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from netmend.adapters.gymnasium.twins import prints_of
from netmend.adapters.torch.guard import RAISED, around, guarded
from netmend.adapters.torch.watch.known import Known
from netmend.adapters.watched_classes import WatchedClasses
from netmend.launch.import_hook import AfterImport
from netmend.vocabulary import AgentFact, Site
from netmend.vocabulary.table import COLUMNS

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession


NAMES = (
    "learning_rate", "gamma", "n_steps", "batch_size", "n_epochs", "gae_lambda", "ent_coef", "vf_coef", "max_grad_norm",
    "clip_range", "normalize_advantage", "buffer_size", "learning_starts", "tau", "gradient_steps", "train_freq",
    "target_update_interval", "exploration_initial_eps", "exploration_final_eps", "exploration_fraction", "use_sde",
    "policy_delay", "action_noise",
)  # fmt: skip


def settings_of(agent: Any) -> dict[str, Any]:
    """Numbers, words and booleans; schedules that do not change become their value, others are left out."""
    found: dict[str, Any] = {}
    held = vars(agent)
    for name in NAMES:
        if name not in held:
            continue
        value = _plain(held[name])
        if value is not None or name == "action_noise":
            found[name] = value
    return found


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if hasattr(value, "frequency"):  # TrainFreq(4, TrainFrequencyUnit.STEP)
        unit = getattr(getattr(value, "unit", None), "value", "step")
        return int(value.frequency) if unit == "step" else None
    sigma = getattr(value, "_sigma", None)  # noise on actions
    if sigma is not None:
        return float(abs(sigma).max()) if hasattr(sigma, "max") else float(abs(sigma))
    if callable(value):
        return _constant(value)
    return None


def _constant(schedule: Any) -> float | None:
    try:
        start, middle, end = (float(schedule(left)) for left in (1.0, 0.5, 0.0))
    except Exception:  # noqa: BLE001 - a schedule of the program's own may do anything
        return None
    return start if start == middle == end else None


def spaces_of(agent: Any) -> tuple[int, bool]:
    """How many actions there are (0: continuous), and whether observations are images that the library scales itself."""
    space = getattr(agent, "action_space", None)
    count: Any = getattr(space, "n", None)
    seen = getattr(agent, "observation_space", None)
    image = str(getattr(seen, "dtype", "")) == "uint8"
    whole = isinstance(count, int) or hasattr(
        count, "item"
    )  # several choices at once have an array of counts
    return (int(count) if whole and getattr(count, "ndim", 0) == 0 else 0), image


_LOGGED = {
    "policy_loss": ("train/policy_gradient_loss", "train/policy_loss", "train/actor_loss"),
    "value_loss": ("train/value_loss", "train/critic_loss", "train/loss"),
    "explained_variance": ("train/explained_variance",),
    "divergence": ("train/approx_kl",),
}
NAN = float("nan")


def logged(agent: Any) -> dict[str, float]:
    """What the library has written down in this training."""
    values = getattr(getattr(agent, "_logger", None), "name_to_value", None) or {}
    found: dict[str, float] = {}
    for name, keys in _LOGGED.items():
        value = next((values[key] for key in keys if key in values), NAN)
        found[name] = _number(value)
    entropy = _number(values.get("train/entropy_loss", NAN))
    found["entropy"] = -entropy
    return found


def gathered(agent: Any) -> dict[str, float]:
    """The sizes of what lies in the rollout buffer, as the agent is given it."""
    buffer = getattr(agent, "rollout_buffer", None)
    if buffer is None:
        return {}
    found: dict[str, float] = {}
    values, returns = _array(buffer, "values"), _array(buffer, "returns")
    if values is not None:
        found["value_rms"] = _rms(values)
        found["value_highest"] = float(np.abs(values).max()) if values.size else NAN
    if returns is not None:
        found["return_rms"] = _rms(returns)
    rewards = _array(buffer, "rewards")
    if rewards is not None:
        found["reward_rms"] = _rms(rewards)
    seen = _array(buffer, "observations")
    if seen is not None and seen.dtype.kind == "f" and seen.ndim >= 2 and seen[..., 0].size:
        flat = seen.reshape(-1, seen.shape[-1])[:2048].astype(np.float64)
        found["observation_rms"] = float(np.sqrt((flat * flat).mean(axis=0)).max())
    return found


def target_of(agent: Any) -> tuple[Any, Any] | None:
    """The trained network and its target, where the algorithm has one."""
    for online, target in (("q_net", "q_net_target"), ("critic", "critic_target")):
        pair = getattr(agent, online, None), getattr(agent, target, None)
        if pair[0] is not None and pair[1] is not None:
            return pair
    return None


def _array(buffer: Any, name: str) -> Any:
    found = getattr(buffer, name, None)
    return found if isinstance(found, np.ndarray) else None


def _rms(values: Any) -> float:
    return math.sqrt(float(np.square(values.astype(np.float64)).mean())) if values.size else NAN


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return NAN


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
