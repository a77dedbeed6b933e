"""How far `netmend bench repair` is."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from bench.faults22.facts import BenchFault
from bench.repair_study import Search


class Shown:
    """A bar with the time left on a terminal; elsewhere a line per search."""

    def __init__(self, total: int, quiet: bool) -> None:
        self._console = Console(stderr=True)
        self._quiet = quiet
        self._total, self._done = total, 0
        self._bar: Progress | None = None
        if self._console.is_terminal and not quiet:
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=20),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                console=self._console,
                transient=True,
            )
            self._task = self._bar.add_task("searching", total=total)

    def __enter__(self) -> Shown:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *problem: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def begin(self, one: BenchFault, budget: int, repetition: int) -> None:
        if self._bar is not None:
            self._bar.update(self._task, description=f"{one.id} {budget}× search {repetition + 1}")

    def end(self, search: Search) -> None:
        self._done += 1
        if self._bar is not None:
            self._bar.advance(self._task)
        elif not self._quiet:
            rate = search.answer.improvement_rate
            self._console.print(
                f"[{self._done}/{self._total}] {search.fault} {search.budget}x search {search.repetition + 1}: "
                f"{search.answer.verdict}, rate {'none' if rate is None else f'{rate:.2f}'}",
                highlight=False,
                markup=False,
            )
