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

from netmend.adapters.torch.watch.kept import Kept


@dataclass
class RandomState:
    host: Tensor
    devices: list[Tensor]

    @staticmethod
    def now() -> RandomState:
        devices = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
        return RandomState(torch.get_rng_state(), devices)

    def restore(self) -> None:
        """To be called while `undisturbed` only, which gives devices their own state back."""
        torch.set_rng_state(self.host)
        for generator, state in zip(device_generators(), self.devices, strict=False):
            again = torch.Generator(generator.device)
            again.set_state(state)
            generator.graphsafe_set_state(again)


def device_generators() -> tuple[torch.Generator, ...]:
    return tuple(torch.cuda.default_generators) if torch.cuda.is_initialized() else ()


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
    # Put in front by hand: the proper function would make Python show warnings again that were shown already.
    silence: Any = ("ignore", None, Warning, None, 0)
    filters: list[Any] = warnings.filters  # type: ignore[assignment]
    with contextlib.ExitStack() as back:  # each is tried, whatever happens to the others
        back.callback(torch.set_rng_state, torch.get_rng_state())
        # Setting the state of a device's generator would also reset the dropout of cuDNN's recurrent layers; another state
        # object in its place meanwhile does not.
        for generator in device_generators():
            back.callback(generator.graphsafe_set_state, generator.graphsafe_get_state())
            generator.graphsafe_set_state(generator.clone_state())
        back.callback(random.setstate, random.getstate())
        back.callback(np.random.set_state, np.random.get_state())
        back.callback(kept.put_back)
        back.callback(setattr, sys, "stdout", sys.stdout)
        back.callback(setattr, sys, "stderr", sys.stderr)
        back.callback(lambda: filters.remove(silence) if silence in filters else None)
        back.callback(logging.disable, logging.root.manager.disable)
        back.callback(torch.backends.mha.set_fastpath_enabled, torch.backends.mha.get_fastpath_enabled())
        back.callback(setattr, torch.backends.cudnn, "benchmark", torch.backends.cudnn.benchmark)
        if module is not None:
            kept.module(module)
        sys.stdout, sys.stderr = _Silent(sys.stdout), _Silent(sys.stderr)
        filters.insert(0, silence)
        logging.disable(logging.CRITICAL)
        torch.backends.mha.set_fastpath_enabled(
            False
        )  # it warns once per process: the program's own call has to
        torch.backends.cudnn.benchmark = False
        yield kept
