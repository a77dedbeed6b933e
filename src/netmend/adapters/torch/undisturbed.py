"""Undisturbed: the user's forward code is run once more, and nobody can tell afterwards.

Parameters, buffers and other tensors are replaced by copies while it runs (not overwritten and put back: a coming backward pass
may need them untouched), containers and objects get their contents back, random generators their states; what is printed,
warned about or logged meanwhile goes nowhere.
"""

from __future__ import annotations

import contextlib
import logging
import random
import sys
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from netmend.adapters.torch.kept import Kept


@dataclass
class RandomState:
    host: Tensor
    devices: list[Tensor]

    @staticmethod
    def now() -> RandomState:
        devices = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
        return RandomState(torch.get_rng_state(), devices)

    def restore(self) -> None:
        torch.set_rng_state(self.host)
        if self.devices:
            torch.cuda.set_rng_state_all(self.devices)


class _Silent:
    """A stream that drops what this thread writes; other threads still reach the real one."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._thread = stream, threading.get_ident()

    def write(self, text: str) -> int:
        if threading.get_ident() == self._thread:
            return len(text)
        written: int = self._stream.write(text)
        return written

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def undisturbed(module: nn.Module | None, kept: Kept | None = None) -> Iterator[Kept]:
    """Whatever is run inside leaves the module (if any), random states and outputs of the program as they were."""
    kept = Kept() if kept is None else kept
    torch_state, python_state, numpy_state = RandomState.now(), random.getstate(), np.random.get_state()
    streams = sys.stdout, sys.stderr
    # Put in front by hand: the proper function would make Python show warnings again that were shown already.
    silence: Any = ("ignore", None, Warning, None, 0)
    disabled = logging.root.manager.disable
    fused, tuned = torch.backends.mha.get_fastpath_enabled(), torch.backends.cudnn.benchmark
    try:
        if module is not None:
            kept.module(module)
        sys.stdout, sys.stderr = _Silent(streams[0]), _Silent(streams[1])
        warnings.filters.insert(0, silence)  # type: ignore[attr-defined]
        logging.disable(logging.CRITICAL)
        torch.backends.mha.set_fastpath_enabled(
            False
        )  # it warns once per process: the program's own call has to
        torch.backends.cudnn.benchmark = False
        yield kept
    finally:
        torch.backends.cudnn.benchmark = tuned
        torch.backends.mha.set_fastpath_enabled(fused)
        logging.disable(disabled)
        if silence in warnings.filters:
            warnings.filters.remove(silence)  # type: ignore[attr-defined]
        sys.stdout, sys.stderr = streams
        kept.put_back()
        torch_state.restore()
        random.setstate(python_state)
        np.random.set_state(numpy_state)
