"""Worlds: every environment that the program steps, found on its methods' classes; the outermost call is what counts."""

from __future__ import annotations

import threading
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from netmend.adapters.gymnasium.counting import BATCH, Counting
from netmend.adapters.gymnasium.describe import about, chain_of, is_vector, kind_of
from netmend.adapters.gymnasium.twins import Twins
from netmend.adapters.gymnasium.world import MOST_LEVELS, Copy, World
from netmend.adapters.patches import Patches
from netmend.adapters.torch.guard import RAISED, around, guarded
from netmend.adapters.torch.watch.known import Known
from netmend.adapters.watched_classes import WatchedClasses
from netmend.launch.import_hook import AfterImport
from netmend.observe.budget import Purse
from netmend.vocabulary import Site

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession

PART = "environments"
_MOST_WORLDS = 50
_DENSE, _DISTANCE = 500, 16  # outermost steps within which all wrappers are looked at; later every n-th
_FREE = 0.03  # seconds that watching environments may take whatever it slows down
_STRETCH = 0.005  # seconds that must be there before watching begins again: some hundred steps


class Worlds:
    """The part of a session that watches environments; nothing is imported before the program does."""

    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self.twins = Twins(session)
        self._classes = WatchedClasses()
        self._patches = Patches()
        self._hook = AfterImport("gymnasium", self._imported)
        self._worlds: dict[tuple[str, Site | None], World] = {}
        self._copies: Known[Copy] = Known()
        self._created: Known[Site] = Known()
        self._steps = 0  # of outermost environments
        self._inside = True  # rewards of wrapped environments are looked at in the step that comes
        self._outermost: Any = None  # the environment whose step or reset is in progress
        self._thread: int | None = None
        self._purse: Purse | None = None
        self._counting = Counting(self._counted, session.sites.is_user_file)
        self._passes = 0  # calls through a wrapper since the purse was last asked
        self._resting = False  # steps are counted; nothing else is looked at, and wrapped environments are not wrapped by us

    def install(self) -> None:
        self._hook.install()

    def remove(self) -> None:
        self._hook.remove()
        self._patches.undo()
        self._classes.undo()

    def finish(self) -> None:
        self._resume()
        for world in self._worlds.values():
            self.session.recorder.fact(world.fact())
        self.twins.finish()

    @guarded(PART)
    def _imported(self) -> None:
        import gymnasium
        from gymnasium.vector import VectorEnv

        stepping = around(self.session, PART, self._begin, self._stepped, always=True)
        resetting = around(self.session, PART, self._begin, self._was_reset, always=True)
        for base in (gymnasium.Env, VectorEnv):
            self._classes.watch(base, {"step": stepping, "reset": resetting})
        making = around(self.session, PART, None, self._made, always=True)
        for name in ("make", "make_vec"):
            if hasattr(gymnasium, name):
                self._patches.wrap(gymnasium, name, making)

    # -- calls of the program -----------------------------------------------------------------------------------

    @guarded(PART)
    def _made(self, token: Any, args: Any, kwargs: Any, result: Any) -> None:
        site = self.session.sites.here()
        self._resume()  # its classes may be others
        if result is not RAISED and site is not None:
            self._created.put(result, site)
            inner = getattr(result, "unwrapped", None)
            if inner is not None and inner is not result:
                self._created.put(inner, site)

    def _begin(self, args: Any, kwargs: Any) -> tuple[bool] | None:
        """A call of step or reset begins; what is called within it belongs to wrapped environments."""
        self._passes += 1
        thread = threading.get_ident()
        if self._thread is None:
            self._thread = thread
        elif thread != self._thread:
            return None
        if self._outermost is None:
            self._outermost = args[0]
            copy = self._copies.get(args[0])
            if copy is not None:
                copy.truncated_inside = copy.terminated_inside = False
            return (True,)
        return (False,)

    def _stepped(self, token: tuple[bool], args: Any, kwargs: Any, result: Any) -> None:
        outermost = self._outermost
        if token[0]:
            self._outermost = None
            self._inside = self._steps % _DISTANCE == 0 or self._steps < _DENSE
            self._steps += 1
        if result is RAISED or not isinstance(result, tuple) or len(result) != 5:
            return
        if token[0] or self._inside or _ends(result):  # else within a wrapper: looked at now and then
            action = args[1] if len(args) > 1 else kwargs.get("action")
            self._note_step(outermost, args[0], token[0], action, result)
        if token[0]:
            if self._resting:
                self._go_on_counting(outermost)
            elif self._steps % BATCH == 0:
                self._ask_purse(outermost)

    def _ask_purse(self, outermost: Any) -> None:
        """Every few steps: can it be afforded to look at each, and into the wrappers?"""
        if self._purse is None:
            self._purse = Purse(self.session.recorder.budget.share, _FREE)
        self._purse.spent += self._passes * self.session.pass_cost
        self._passes = 0
        if self.session.recorder.schedule.every is not None:
            return
        if self._resting:
            if self._purse.holds(_STRETCH):
                self._resume()
        elif self._steps > _DENSE and not self._purse.holds():
            chain = chain_of(outermost)
            kept = _defining(type(outermost), ("step", "reset"))
            # A class that stands twice in the chain would count each step twice.
            if not self._is_vector(outermost) and not any(
                kept & _defining(type(link), ("step",)) for link in chain[1:]
            ):
                self._resting = True
                self._classes.rest(kept, {"step": self._counting.stepping, "reset": self._counting.resetting})

    def _go_on_counting(self, outermost: Any) -> None:
        """While resting, steps after a reset come here once: the loop that makes them is known now."""
        copy = self._copies.get(outermost)
        if copy is not None and copy.world is not None and not copy.vector:
            self._counting.begin(outermost, copy)

    @guarded(PART, inside=True)
    def _counted(self, copy: Copy, results: list[tuple[Any, ...]]) -> None:
        """Steps of which only rewards and flags were kept."""
        self._steps += len(results)
        self._passes += len(results)
        self.session.passes += len(results)
        if copy.world is not None:
            copy.world.count_all(copy, results)
        if self.twins.due(len(results)):
            self.twins.look()
        if self._resting:
            self._ask_purse(None)

    def _resume(self) -> None:
        if self._resting:
            self._resting = False
            self._counting.end()
            self._classes.resume()

    @guarded(PART)
    def _note_step(self, outermost: Any, environment: Any, whole: bool, action: Any, result: Any) -> None:
        started = perf_counter()
        copy = self._copy(outermost)
        vector = _lanes(copy if whole else self._copy(environment), environment)
        if not vector and len(copy.levels) < MOST_LEVELS:
            copy.levels.append((type(environment).__name__, result[1]))
        if not whole:
            if not _lanes(copy, outermost):
                # Inner environments return first: what comes after a truncation is what wrappers make of it.
                copy.terminated_inside |= bool(result[2]) and not copy.truncated_inside
                copy.truncated_inside |= bool(result[3]) and not result[2]
            return
        if copy.world is None:
            copy.world = self._world(environment)
            if copy.world is None:
                return
        for kind, reward in copy.levels:
            copy.world.level(kind, reward)
        copy.levels.clear()
        copy.world.step(copy, action, result, vector)
        if self.twins.due():
            self.twins.look()
        if self._purse is not None:
            self._purse.spent += perf_counter() - started

    def _was_reset(self, token: tuple[bool], args: Any, kwargs: Any, result: Any) -> None:
        outermost = self._outermost
        if token[0]:
            self._outermost = None
        if result is not RAISED:
            self._note_reset(outermost, token[0], kwargs, result)

    @guarded(PART)
    def _note_reset(self, outermost: Any, whole: bool, kwargs: Any, result: Any) -> None:
        copy = self._copy(outermost)
        if not whole:
            copy.reset_inside = True
            return
        self._counting.end()
        copy.ended = False
        copy.begin(0)
        site = self.session.sites.here()
        seed = kwargs.get("seed")
        start = _bytes(result[0]) if isinstance(result, tuple) and result else b""
        world = copy.world
        copy.world = None  # the next step says which loop this is
        if world is not None:
            world.resets += 1
            world.seeded_resets += seed is not None
            world.same_starts += seed is not None and bool(start) and (seed, start) == (copy.seed, copy.start)
            if world.reset_site is None or site is not None:
                world.reset_site = site
        copy.seed, copy.start = seed, start

    # -- who is who ---------------------------------------------------------------------------------------------

    def _copy(self, environment: Any) -> Copy:
        copy = self._copies.get(environment)
        if copy is None:
            copy = Copy()
            self._copies.put(environment, copy)
        return copy

    def _is_vector(self, environment: Any) -> bool:
        return _lanes(self._copy(environment), environment)

    def _world(self, environment: Any) -> World | None:
        site = self.session.sites.here()
        key = (kind_of(environment), site)
        world = self._worlds.get(key)
        if world is None and len(self._worlds) < _MOST_WORLDS:
            place = f"@{site.short}" if site is not None else ""
            created = self._created.get(environment) or self._created.get(
                getattr(environment, "unwrapped", environment)
            )
            name = self.session.unique_name(f"{key[0]}{place}")
            fields = about(environment, self.session.sites, created, site)
            world = self._worlds[key] = World(self.session.recorder, name, fields)
        if world is not None and environment not in world.seen:
            world.seen.put(environment, True)
            world.copies += 1
        return world


def _lanes(copy: Copy, environment: Any) -> bool:
    """Whether an environment has several lanes: found out once."""
    if copy.vector is None:
        copy.vector = is_vector(environment)
    return copy.vector


def _defining(kind: type, names: tuple[str, ...]) -> set[type]:
    """The classes whose methods of these names a call on an object of this class reaches first."""
    return {next((base for base in kind.__mro__ if name in vars(base)), kind) for name in names}


def _ends(result: tuple[Any, ...]) -> bool:
    """Whether a step says that an episode is over; lanes of a vector are asked at its outermost wrapper."""
    terminated, truncated = result[2], result[3]
    return not isinstance(terminated, np.ndarray) and bool(terminated or truncated)


def _bytes(observation: Any) -> bytes:
    """An observation as something that can be compared; empty where it is no array."""
    try:
        return np.ascontiguousarray(observation).tobytes()[:4096]
    except (TypeError, ValueError):
        return b""
