"""Deferred: small tensors on their way from a device to host memory, without waiting for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

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
