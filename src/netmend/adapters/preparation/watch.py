"""Watching preparation: wrappers around calls that the user's lines make, and the facts that come of them.

A wrapper hands a call through unless it comes directly from the user's own code and its line is due to be looked at. What is looked
at costs at most a share of the preparation's own time; a library whose part fails is left alone from then on.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from time import perf_counter, thread_time, time
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from netmend.adapters.patches import Patches
from netmend.adapters.preparation.batches import Batches
from netmend.adapters.preparation.columns import Columns, inputs_of_tables
from netmend.adapters.preparation.loaders import sources
from netmend.adapters.preparation.origins import Origins
from netmend.adapters.preparation.plain import settings_of
from netmend.adapters.preparation.workers import Workers
from netmend.launch.import_hook import AfterImport
from netmend.observe.sites import Sites
from netmend.vocabulary import PreparationFact, Site

if TYPE_CHECKING:
    from netmend.observe.recorder import Recorder

LIBRARIES = (
    "os",
    "pandas",
    "numpy",
    "polars",
    "csv",
    "tokenizers",
    "PIL.Image",
    "cv2",
    "imageio",
    "sklearn.model_selection",
    "sklearn.feature_selection",
    "imblearn.base",
    "torch.utils.data",
    "datasets",
)  # each in a module of this folder with a function `watch`

# What is asked at the end of every run, each in a module of this folder with a function `ask`.
QUESTIONS = {
    "what was cut off texts": "cut_texts",
    "what was shrunk away": "cut_arrays",
    "what turning pictures does to their classes": "turned",
}

LOADER = "loader"  # the kind of what a loader is told as
_SHARE = 0.02  # of the time since the first call
_FREE = 0.15  # seconds that may be spent whatever they slow down
_FAILURES = 3  # of looks at the calls of a library, after which it is left alone
_FIRST_LOOKS = 3  # of a line, unless a call says otherwise
_MOST_ITEMS = 64  # of a list in a fact
_DEEPEST = 8  # frames of a library between a function of its own and the user's line
_FOR_QUESTIONS = 3.0  # seconds that questions at the end may take in all
Seen = Mapping[str, Any]
# What a call did, from its arguments (the receiver first) and its result; what `before` returned comes first. None: nothing worth a fact.
After = Callable[[Any, tuple[Any, ...], dict[str, Any], Any], Seen | None]
Before = Callable[[tuple[Any, ...], dict[str, Any]], Any]


@dataclass
class _Line:
    """One call site: how often it ran, and what is known of it."""

    code: CodeType  # kept alive: its identity is the key
    calls: int = 0
    next_look: int = 1
    fact: PreparationFact | None = None


@dataclass(frozen=True)
class _Watched:
    """A function that is wrapped: how its calls are looked at."""

    original: Callable[..., Any]
    call: str
    library: str
    kind: str
    after: After | None
    before: Before | None
    inside: bool  # called by the library itself, on behalf of a line of the user's
    looks: int  # calls of a line that are all looked at; then every power of two


class Preparation:
    """All that is watched of how data are made."""

    def __init__(self, sites: Sites) -> None:
        self.sites = sites
        self.recorder: Recorder | None = None  # from the moment that a framework is imported
        self.origins = Origins()
        self.columns = Columns()
        self.batches = Batches()  # the first ones that reached a model
        self.facts: dict[str, PreparationFact] = {}
        self.off: Counter[str] = Counter()  # calls that could not be looked at, and how often in a library
        self.began = time()
        self.own = 0.0  # seconds that looking took
        self._problems: list[str] = []
        self._hooks: list[AfterImport] = []
        self._questions: list[tuple[str, Callable[[Preparation], None]]] = []
        self._first: list[tuple[str, Callable[[], None]]] = []
        self._lines: dict[tuple[int, int], _Line] = {}
        self._patches = Patches()
        self._started: float | None = None
        self._busy = False
        self._within: dict[str, set[str]] = {}  # loader → lines that ran while it made a batch
        self._loading = ""  # the loader that is making a batch
        self.workers = Workers()
        os.register_at_fork(after_in_child=self._forked)

    # -- from the first line of the program to its last

    def install(self) -> None:
        """Watch each library as soon as the program has imported it; again after a pause."""
        if not self._hooks:
            self._hooks = [AfterImport(name, partial(self._imported, name)) for name in LIBRARIES]
            for hook in self._hooks:
                hook.install()
            for about, module in QUESTIONS.items():
                self.at_end(about, partial(self._ask, module))

    def _ask(self, module: str, _: Preparation) -> None:
        import_module(f"netmend.adapters.preparation.{module}").ask(self)

    def _imported(self, library: str) -> None:
        spent = self.own
        self._safely(
            library,
            lambda: import_module(f"netmend.adapters.preparation.{library.partition('.')[0]}").watch(self),
        )
        self.own = spent  # loading our own part is no look at the data

    def remove(self) -> None:
        """Everything as it was, where nobody else has put something in its place."""
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()
        self._patches.undo()

    def finish(self) -> None:
        """Ask what is asked at the end, and hand over what was seen."""
        if self.recorder is None:
            return
        started = perf_counter()
        self._questions.append(("inputs", inputs_of_tables))
        for about, question in self._questions:
            if perf_counter() - started < _FOR_QUESTIONS:
                self._safely(about, question, self)
        self._questions.clear()
        for loader, fact in self.workers.collect():
            self.facts.setdefault(fact.name, fact)
            self._within.setdefault(loader, set()).add(fact.name)
        loaders = [fact for fact in self.facts.values() if fact.kind == LOADER]
        for fact in loaders:
            inside = sorted(self._within.get(fact.name, ()))
            self.facts[fact.name] = replace(fact, takes=tuple(dict.fromkeys((*fact.takes, *inside))))
        for fact in self.facts.values():
            self.recorder.fact(fact)
        for problem in self._problems:
            self.recorder.missing(problem)
        self._problems.clear()

    def _forked(self) -> None:
        """In a child (a worker that loads data): what is seen there is left where the parent looks for it at the end."""
        self._busy = not self.workers.begin(self._loading)
        self.own = 0.0

    # -- loaders

    def loader(self, name: str, dataset: Any, samples: int | None, workers: int, site: Site | None) -> None:
        """A loader hands out batches for the first time."""
        takes = self._safely("loader", lambda: tuple(dict.fromkeys(sources(dataset, self.origins)))) or ()
        seen = {} if samples is None else {"rows": samples}
        self.add(PreparationFact(name, "torch.utils.data.DataLoader", LOADER, site, takes=takes, seen=seen))
        if workers:
            self.workers.expect()

    def loading(self, loader: str) -> None:
        """A loader begins to make a batch; "" where it has ended."""
        self._loading = loader

    # -- what the libraries' parts call

    def wrap(
        self,
        owner: Any,
        name: str,
        kind: str,
        after: After | None = None,
        before: Before | None = None,
        label: str = "",
        *,
        inside: bool = False,
        looks: int = _FIRST_LOOKS,
    ) -> None:
        """Watch a function of a module or a method of a class, where it is there.

        `inside`: the library calls it itself, on behalf of a line of the user's. `looks`: more of the first calls of a line are
        looked at, as a loop over columns does something else each time.
        """
        original = getattr(owner, name, None)
        if not callable(original) or isinstance(original, type):  # programs ask `isinstance` of a class
            return
        library = (label or getattr(owner, "__module__", None) or owner.__name__).split(".")[0]
        call = label or f"{library}.{owner.__name__ + '.' if isinstance(owner, type) else ''}{name}"

        def make(original: Callable[..., Any]) -> Callable[..., Any]:
            return self._wrapper(_Watched(original, call, library, kind, after, before, inside, looks))

        self._patches.wrap(owner, name, make)

    def inherits(self, owner: Any, name: str) -> None:
        """A library's own method through which a result gets to know what it was made of: the second argument."""
        origins = self.origins

        def make(original: Callable[..., Any]) -> Callable[..., Any]:
            def wrapper(thing: Any, source: Any, *args: Any, **kwargs: Any) -> Any:
                result = original(thing, source, *args, **kwargs)
                made_at = origins.of(source) if not self._busy else None
                if made_at is not None:
                    origins.remember(result, made_at)
                return result

            return wrapper

        if callable(getattr(owner, name, None)):
            self._patches.wrap(owner, name, make)

    def patch(self, owner: Any, name: str, make: Callable[[Any], Callable[..., Any]]) -> None:
        """Put a wrapper of another kind in a function's place; `observe` is what it looks through."""
        if callable(getattr(owner, name, None)):
            self._patches.wrap(owner, name, make)

    def observe(self, call: str, look: Callable[[], None]) -> None:
        """Look at something that no result of a call shows, as long as looking is affordable."""
        if not self._busy and call not in self.off and self.affordable():
            self._safely(call, look)

    def at_first_batch(self, about: str, question: Callable[[], None]) -> None:
        """Ask something when training begins, while the functions that prepared for it still hold their variables."""
        self._first.append((about, question))

    def batch_arrives(self) -> None:
        """A batch of training is about to reach a model."""
        first, self._first = self._first, []
        for about, question in first:
            self._safely(about, question)

    def at_end(self, about: str, question: Callable[[Preparation], None]) -> None:
        """Ask something once the program has ended, while what it made is still there."""
        self._questions.append((about, question))

    def add(self, fact: PreparationFact) -> None:
        """A fact that no single call shows."""
        self.facts[fact.name] = replace(fact, order=len(self.facts))

    def note(self, problem: str) -> None:
        """What could not be followed, for the report."""
        self._problems.append(problem)

    # -- calls

    def _wrapper(self, watched: _Watched) -> Callable[..., Any]:
        original, library, call, before = watched.original, watched.library, watched.call, watched.before
        frame_of = self._nearest if watched.inside else self._caller

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            off = self._busy or call in self.off or self.off[library] >= _FAILURES
            frame = None if off else frame_of(sys._getframe(1))
            if frame is None:
                return original(*args, **kwargs)
            line = self._due(frame.f_code, frame.f_lasti, watched.looks)
            if line is None:
                return original(*args, **kwargs)
            token = self._safely(call, before, args, kwargs) if before is not None else None
            result = original(*args, **kwargs)
            self._safely(call, self._look, line, frame, watched, token, args, kwargs, result)
            return result

        return wrapper

    def _caller(self, frame: FrameType) -> FrameType | None:
        return frame if self.sites.is_user_file(frame.f_code.co_filename) else None

    def _nearest(self, frame: FrameType) -> FrameType | None:
        """The user's frame on whose behalf a library calls its own function."""
        caller: FrameType | None = frame
        for _ in range(_DEEPEST):
            if caller is None or self._caller(caller):
                break
            caller = caller.f_back
        return caller and self._caller(caller)

    def _due(self, code: CodeType, instruction: int, looks: int = _FIRST_LOOKS) -> _Line | None:
        """The line of a call, where this call is to be looked at."""
        key = (id(code), instruction)
        line = self._lines.get(key)
        if line is None:
            line = self._lines[key] = _Line(code)
        line.calls += 1
        if self._loading and line.fact is not None:
            self._within.setdefault(self._loading, set()).add(line.fact.name)
        if line.calls < line.next_look:
            return None
        line.next_look = line.calls + 1 if line.calls < looks else line.calls * 2
        return line if line.fact is None or self.affordable() else None

    def affordable(self) -> bool:
        """Whether looking may still cost something."""
        now = perf_counter()
        if self._started is None:
            self._started = now
        return self.own < max(_FREE, _SHARE * (now - self._started))

    def _safely(self, call: str, work: Callable[..., Any], *args: Any) -> Any:
        """Our own failure is told and switches the look at that call off, several the library's; it never reaches the program."""
        started = thread_time()  # not the clock: where others keep the processor busy, nothing less is seen
        self._busy = True
        try:
            return work(*args)
        except Exception as problem:  # noqa: BLE001 - the user's program must go on whatever failed here
            self.off.update((call, call.split(".")[0]))
            self.note(f"what {call} does to the data could not be seen: {type(problem).__name__}: {problem}")
            return None
        finally:
            self._busy = False
            self.own += thread_time() - started

    def _look(
        self,
        line: _Line,
        frame: Any,
        watched: _Watched,
        token: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: Any,
    ) -> None:
        takes = self.origins.of_all((*args, *kwargs.values()))
        seen = watched.after(token, args, kwargs, result) if watched.after is not None else {}
        if seen is None:
            # Of no interest by itself: what it makes stems from what it was given.
            if takes and result is not None:
                self.origins.remember(result, takes[0])
            return
        fact = line.fact
        if fact is None:
            site = self.sites.of(frame)
            name = self._name(watched.call, site)
            settings = settings_of(watched.original, args, kwargs)
            fact = PreparationFact(
                name, watched.call, watched.kind, site, len(self.facts), 1, takes, settings, dict(seen)
            )
        else:
            takes = tuple(dict.fromkeys((*fact.takes, *takes)))
            fact = replace(fact, calls=line.calls, takes=takes, seen=_most(fact.seen, seen))
        line.fact = self.facts[fact.name] = fact
        if self._loading:
            self._within.setdefault(self._loading, set()).add(fact.name)
            self.workers.leave(fact)
        made = args[0] if result is None and args else result
        self.origins.remember(made, fact.name)
        if self.affordable():
            self.columns.keep(fact.name, made)

    def _name(self, call: str, site: Site | None) -> str:
        name = f"{call.rpartition('.')[2]}@{site.short if site is not None else '?'}"
        if name in self.facts:  # two calls of one line
            name = f"{name}:{site.column if site is not None else len(self.facts)}"
        return name


def _most(one: Seen, other: Seen) -> dict[str, Any]:
    """Numbers of several calls of a line: the largest; of lists all items, once; of anything else the first."""
    joined = dict(other) | dict(one)
    for key in one.keys() & other.keys():
        first, second = one[key], other[key]
        if isinstance(first, int | float) and isinstance(second, int | float):
            joined[key] = max(first, second)
        elif isinstance(first, list | tuple) and isinstance(second, list | tuple):
            joined[key] = [*first, *(item for item in second if item not in first)][:_MOST_ITEMS]
    return joined
