"""Arrivals: numbers that are known at once in host memory, and later on a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from torch import Tensor

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession


class Expected:
    """One value on its way; the meter calls `arrived`."""

    def __init__(self, gathering: Gathering, take: Callable[[float], None]) -> None:
        self._gathering = gathering
        self._take = take

    def arrived(self, value: float) -> None:
        self._take(value)
        self._gathering.pending -= 1
        self._gathering.check()


class Gathering:
    """Waits for any number of values; once it is closed and all have come, `complete` is called."""

    def __init__(self, session: TorchSession, complete: Callable[[], None]) -> None:
        self._session = session
        self._complete = complete
        self.pending = 0
        self._closed = False

    def add(self, tensor: Tensor, take: Callable[[float], None]) -> float | None:
        """`take` gets the tensor's value, now or later; returned if it is known now."""
        expected = Expected(self, take)
        value = self._session.value_of(tensor, expected)
        if value is None:
            self.pending += 1
        else:
            take(value)
        return value

    def expect(self, ask: Callable[[object], bool], take: Callable[[float], None]) -> bool:
        """`take` gets a value that comes later, if `ask` agrees to bring it."""
        agreed = ask(Expected(self, take))
        self.pending += agreed
        return agreed

    def close(self) -> None:
        self._closed = True
        self.check()

    def check(self) -> None:
        if self._closed and self.pending == 0:
            self._closed = False
            self._complete()
