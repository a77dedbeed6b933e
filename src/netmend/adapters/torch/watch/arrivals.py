"""Values on their way from a device to host memory: single numbers that a row waits for, and small tensors."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Tensor

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession

Value = TypeVar("Value")


class Gathering:
    """Waits for any number of values; once it is closed and all have come, what it was closed with is called."""

    def __init__(self, session: TorchSession) -> None:
        self._session = session
        self._pending = 0
        self._complete: Callable[[], None] | None = None

    def add(self, tensor: Tensor, take: Callable[[float], None]) -> float | None:
        """`take` gets the value of a one-element tensor: at once in host memory (and returned), later on a device."""
        if tensor.is_cpu or self._session.trap:
            value = float(tensor.detach())
            take(value)
            return value
        self._session.meter(tensor.device).scalar(self.awaited(take), tensor.detach())
        return None

    def expect(self, ask: Callable[[object], bool], take: Callable[[float], None]) -> bool:
        """`take` gets a value that comes later, if `ask` agrees to bring it."""
        agreed = ask(self.awaited(take))
        self._pending -= not agreed
        return agreed

    def awaited(self, take: Callable[[Value], None]) -> Callable[[Value], None]:
        """`take`, for something that comes exactly once."""
        self._pending += 1

        def arrived(value: Value) -> None:
            take(value)
            self._pending -= 1
            self._check()

        return arrived

    def close(self, complete: Callable[[], None]) -> None:
        self._complete = complete
        self._check()

    def _check(self) -> None:
        complete = self._complete
        if complete is not None and self._pending == 0:
            self._complete = None
            complete()


_MOST_WAITING = 64
Known = Callable[[dict[str, Tensor]], None]


class Deferred:
    """`known(values)` is called with copies in host memory: at once for host tensors, when the copy is done for others."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Any, dict[str, Tensor], Known]] = deque()

    def add(self, tensors: dict[str, Tensor], known: Known) -> None:
        if not tensors:
            return
        if all(tensor.device.type == "cpu" for tensor in tensors.values()):
            known(tensors)
        elif next(iter(tensors.values())).device.type == "cuda":
            if len(self._waiting) < _MOST_WAITING:
                copies = {name: _start_copy(tensor) for name, tensor in tensors.items()}
                event = torch.cuda.Event()
                event.record()
                self._waiting.append((event, copies, known))
        else:  # other devices offer no asynchronous copy here
            known({name: tensor.cpu() for name, tensor in tensors.items()})

    def collect(self, wait: bool = False) -> None:
        while self._waiting:
            event, copies, known = self._waiting[0]
            if wait:
                event.synchronize()
            elif not event.query():
                return
            self._waiting.popleft()
            known(copies)


def _start_copy(tensor: Tensor) -> Tensor:
    target = torch.empty(tensor.shape, dtype=tensor.dtype, device="cpu", pin_memory=True)
    return target.copy_(tensor, non_blocking=True)
