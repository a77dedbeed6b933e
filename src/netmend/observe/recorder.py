"""Recorder: collects what adapters see and writes it to the store. Knows no framework.

Whatever fails in here or in an adapter is switched off and told in the report; it never reaches the training program.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from netmend.observe.budget import Budget
from netmend.observe.patterns import PatternBook
from netmend.observe.schedule import FULL, LIGHT, Schedule
from netmend.observe.sites import Sites
from netmend.store import RunWriter
from netmend.vocabulary import BatchPrint, Call, Event, Fact, ProbeFact, RunFact, Site

_FLUSH_SECONDS = 2.0
_FLUSH_ROWS = 20_000
Progress = Callable[[int, float | None, float | None], None]  # steps, loss, overhead


class Recorder:
    """One run being recorded. Attributes that adapters read on every call are plain fields, for speed."""

    def __init__(
        self,
        writer: RunWriter | None,
        run: RunFact,
        *,
        every: int | None = None,
        progress: Progress | None = None,
        sites: Sites | None = None,
    ) -> None:
        self.run = run
        self.sites = sites or Sites()
        self.budget = Budget(run.overhead_budget)
        self.schedule = Schedule(self.budget, every)
        self.patterns = PatternBook(self._pattern)
        self.step = 0  # the step in progress
        self.level = self.schedule.level(0)
        self.own = 0.0  # own seconds within the step in progress
        self.device_seconds = 0.0  # time our work takes on a device, within the step in progress
        self.last_loss: float | None = None
        self._next_look = 0  # steps before this one stay light once a light step has begun
        self.full_steps = self.light_steps = 0
        self._writer = writer
        self._progress = progress
        self._missing: list[str] = []
        self.off: set[str] = set()  # parts that failed
        self._pid = os.getpid()
        self._rows = 0  # since the last flush
        now = self._started = time.perf_counter()
        self._step_started = now
        self._last_flush = now
        self._first_step_done = False
        self._asked = 0.0
        self.glance = False  # the step in progress is light, but its loss is read
        self._glance_distance = 0

    # -- what adapters report ----------------------------------------------------------------------------------

    def fact(self, fact: Fact) -> None:
        if self._writer is not None:
            self._writer.fact(fact)

    def probe(
        self, what: str, component: str, values: Mapping[str, Any], site: Site | None = None, name: str = ""
    ) -> None:
        """What a look at one part of the program has shown; said again under the same name, it takes the place of the first."""
        self.fact(ProbeFact(f"{what}@{name or component}", what, component, self.step, values, site))

    def row(self, kind: str, component: str, step: int, values: Sequence[float]) -> None:
        if self._writer is not None:
            self._rows += 1
            self._writer.row(kind, component, step, values)

    def event(self, event: Event) -> None:
        if self._writer is not None:
            self._writer.event(event)

    def batch(self, batch: BatchPrint) -> None:
        if self._writer is not None:
            self._writer.batch(batch)

    def _pattern(self, step: int, calls: tuple[Call, ...]) -> None:
        if self._writer is not None:
            self._writer.pattern(step, calls)

    # -- steps -------------------------------------------------------------------------------------------------

    def end_step(self, step: int) -> int:
        """The step in progress has ended; returns the level of the next one."""
        now = time.perf_counter()
        if self._first_step_done:
            self.budget.step_done(self.level, now - self._step_started, self.own, self.device_seconds)
        self.budget.own_seconds += self.own if self._first_step_done else 0.0
        self._first_step_done = True
        # Whoever ends a step adds the time that this took to the next one, with what the user asked for in it.
        self.own, self._asked, self.device_seconds = -self._asked, 0.0, 0.0
        self._step_started = now
        if self.level == FULL:
            self.full_steps += 1
        elif self.level == LIGHT:
            self.light_steps += 1
        self.step = step + 1
        self._plan_next()
        if now - self._last_flush > _FLUSH_SECONDS or self._rows > _FLUSH_ROWS:
            self.flush()
            self.own += time.perf_counter() - now
        if self._progress is not None:
            self._progress(self.step, self.last_loss, self.budget.steady_overhead)
        return self.level

    def end_light_step(self) -> bool:
        """A step at light level has ended; True when the next one is to be looked at."""
        now = time.perf_counter()
        self.budget.light_step(now - self._step_started, self.own)
        self.own = 0.0
        self._step_started = now
        self.light_steps += 1
        self.step += 1
        if self.step < self._next_look:
            self.glance = self._glance_distance > 0 and self.step % self._glance_distance == 0
            return False
        self._plan_next()
        return self.level != LIGHT

    def _plan_next(self) -> None:
        self.level = self.schedule.level(self.step)
        self._next_look = self.schedule.next_look(self.step)
        self._glance_distance = self.schedule.glance_distance(self.step)
        self.glance = self._glance_distance > 0 and self.step % self._glance_distance == 0

    def look_closely(self) -> None:
        """Look at the next step in full, whatever the budget says (a new optimiser appeared)."""
        self.schedule.request()
        self._next_look = 0

    def affordable(self) -> bool:
        """Whether more may be spent within the step in progress; asked by what happens many times in one step."""
        budget = self.budget
        if self.schedule.every is not None or budget.allows(self.own):
            return True
        return self.own < budget.share * (time.perf_counter() - self._step_started)

    def asked_for(self, seconds: float) -> None:
        """Within the step in progress that much went into what the user asked for: the looks that follow are none the fewer."""
        self._asked += seconds
        self._step_started += seconds
        self.budget.asked_seconds += seconds

    def break_clock(self) -> None:
        """The time since the last step was not spent training (evaluation, a pause): leave it out of step times."""
        now = time.perf_counter()
        if self._first_step_done:
            self.budget.wall_seconds += now - self._step_started
            self.budget.own_seconds += self.own
        self._step_started = now
        self.own = 0.0

    def forget_clock(self) -> None:
        """Watching goes on after a pause: the time in between was not ours."""
        self._step_started = time.perf_counter()

    # -- failing gracefully --------------------------------------------------------------------------------------

    def switch_off(self, part: str, problem: BaseException) -> None:
        """A part of netmend failed: say so once and go on without it."""
        if part in self.off:
            return
        self.off.add(part)
        self.missing(f"{part} could not be recorded: {type(problem).__name__}: {problem}")
        self.event(Event(self.step, "part switched off", f"{part}: {type(problem).__name__}: {problem}"))

    def missing(self, sentence: str) -> None:
        """Something that cannot be seen in this program, told in the report."""
        if sentence not in self._missing:
            self._missing.append(sentence)

    def flush(self) -> None:
        self._last_flush = time.perf_counter()
        self._rows = 0
        if self._writer is None or os.getpid() != self._pid:
            return
        try:
            self._writer.fact(self._progress_fact())
            self._writer.flush()
        except Exception as problem:  # noqa: BLE001 - whatever fails in storing must not end the training
            self._writer = None
            self.switch_off("the rest of the trace (storing failed)", problem)

    def _progress_fact(self) -> RunFact:
        self.run = replace(
            self.run,
            steps=self.step,
            seconds=self.budget.wall_seconds + self.budget.asked_seconds,
            own_seconds=self.budget.own_seconds + self.budget.asked_seconds,
            overhead=self.budget.overhead,
            steady_overhead=self.budget.steady_overhead,
            full_steps=self.full_steps,
            light_steps=self.light_steps,
            missing=tuple(self._missing),
        )
        return self.run

    def close(self, status: str, **details: Any) -> RunFact:
        """The run is over; everything is flushed."""
        self._progress_fact()
        self.run = replace(self.run, status=status, ended=time.time(), **details)
        if self._writer is not None and os.getpid() == self._pid:
            try:
                self._writer.fact(self.run)
                self._writer.close()
            except Exception as problem:  # noqa: BLE001
                self.switch_off("the end of the trace (storing failed)", problem)
                self.run = replace(self.run, missing=tuple(self._missing))
            self._writer = None
        return self.run

    @property
    def seconds(self) -> float:
        """Wall time since recording began."""
        return time.perf_counter() - self._started

    @property
    def storing(self) -> bool:
        """Whether what is reported still reaches the disk."""
        return self._writer is not None


def open_writer(directory: Path, run: RunFact, rank: int) -> tuple[RunWriter | None, str | None]:
    """A writer in the directory, or None with the reason why nothing can be stored there."""
    try:
        return RunWriter.create(directory, run, rank), None
    except Exception as problem:  # noqa: BLE001 - full, read-only, gone: told in the report
        return None, f"{type(problem).__name__}: {problem}"
