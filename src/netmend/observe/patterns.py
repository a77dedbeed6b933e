"""PatternBook: turns the stream of loop calls into one compact pattern per step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from netmend.vocabulary import Call, Site

_LONGEST = 4096  # calls remembered between two steps; a validation pass of any length fits after folding
_FOLD_FROM = 12
_LONGEST_CYCLE = 8

Close = Callable[[int, tuple[Call, ...]], None]


class PatternBook:
    """Collects calls until a step ends; equal sequences of calls cost only a comparison of identities."""

    def __init__(self, close: Close) -> None:
        self._close = close
        # Sites are interned and live as long as the recording, so their identity will do: hashing them takes longer.
        self._interned: dict[tuple[str, str, str, int], Call] = {}
        self._calls: list[Call] = []
        self._patterns: dict[tuple[int, ...], tuple[Call, ...]] = {}

    def note(self, what: str, component: str = "", detail: str = "", site: Site | None = None) -> None:
        key = (what, component, detail, id(site))
        call = self._interned.get(key)
        if call is None:
            call = self._interned[key] = Call(what, component, detail, site)
        if len(self._calls) < _LONGEST:
            self._calls.append(call)

    def close(self, step: int) -> None:
        """The step has ended: everything noted since the last one belongs to it."""
        calls = self._calls
        self._calls = []
        identity = tuple(map(id, calls))
        pattern = self._patterns.get(identity)
        if pattern is None:
            pattern = fold(calls)
            if len(self._patterns) < 1000:
                self._patterns[identity] = pattern
        self._close(step, pattern)

    @property
    def pending(self) -> bool:
        """Whether anything was called since the last step."""
        return bool(self._calls)

    def seen(self, *whats: str) -> bool:
        """Whether one of these was called since the last step."""
        return any(call.what in whats for call in self._calls)

    def forget(self) -> None:
        """Drop what was noted since the last step (the step is not recorded)."""
        self._calls.clear()


def fold(calls: list[Call]) -> tuple[Call, ...]:
    """Merge repetitions: a a a → a ×3, and, in long sequences, cycles such as (batch, forward, loss) ×100."""
    result: list[Call] = []
    index = 0
    while index < len(calls):
        length, times = _repetition(calls, index) if len(calls) >= _FOLD_FROM else _run(calls, index)
        result += [
            replace(call, times=times) if times > 1 else call for call in calls[index : index + length]
        ]
        index += length * times
    return tuple(result)


def _run(calls: list[Call], start: int) -> tuple[int, int]:
    end = start + 1
    while end < len(calls) and calls[end] is calls[start]:
        end += 1
    return 1, end - start


def _repetition(calls: list[Call], start: int) -> tuple[int, int]:
    """The cycle at `start` that covers most calls: its length and how often it repeats."""
    best = _run(calls, start)
    for length in range(2, _LONGEST_CYCLE + 1):
        cycle = calls[start : start + length]
        times = 1
        while calls[start + times * length : start + (times + 1) * length] == cycle:
            times += 1
        if times > 1 and times * length > best[0] * best[1]:
            best = (length, times)
    return best
