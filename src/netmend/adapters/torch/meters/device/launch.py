"""Launching Triton kernels with little work on the host.

The usual launch path binds and specialises all arguments anew, 15-30 µs each time. All integer arguments of our kernels are
declared `do_not_specialize`, so the compiled kernel depends on the caller's key alone and can be launched directly next time.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import torch

from netmend.adapters.torch.meters.device.lane import Lane

try:
    import triton

    from netmend.adapters.torch.meters.device.kernels import (
        compare_samples,
        fold,
        keep_samples,
        scan_few,
        scan_many,
    )

    KERNELS: dict[str, Any] = {
        "scan_few": scan_few,
        "scan_many": scan_many,
        "keep_samples": keep_samples,
        "compare_samples": compare_samples,
        "fold": fold,
    }
except (ImportError, RuntimeError):  # RuntimeError: found, but its native part does not load
    KERNELS = {}

WARPS = 8
REGISTERS = 96  # measured on an H200: two programs per multiprocessor with 96 registers read fastest
_MOST_LAUNCHERS = 1_024
_TRITON_TYPES = {torch.bfloat16: "bfloat16", torch.float16: "float16", torch.float32: "float32"}


def can_launch(device: torch.device) -> bool:
    """Whether the kernels can run there: on CUDA, or on host memory in Triton's interpreter."""
    if not KERNELS:
        return False
    interpreted = not isinstance(KERNELS["fold"], triton.runtime.JITFunction)
    return interpreted if device.type == "cpu" else not interpreted


def triton_type(dtype: torch.dtype) -> Any:
    """The kernel's name for a dtype."""
    return getattr(triton.language, _TRITON_TYPES[dtype])


class Launcher:
    """Launches kernels on one device's current stream; compiled kernels are remembered by key."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self._compiled: dict[Hashable, Any] = {}
        self._launchers: dict[tuple[Hashable, int], Any] = {}  # a kernel bound to its number of programs
        # Before 3.3 a compiled kernel did not take its compile-time arguments again.
        version = tuple(int(part) for part in triton.__version__.split(".")[:2])
        self._direct = lane.cuda and version >= (3, 3)

    def __call__(
        self, key: tuple[Hashable, ...], programs: int, arguments: tuple[Any, ...], registers: int = REGISTERS
    ) -> None:
        """`key` starts with the kernel's name; it must determine the types, the alignment of tensors and the compile-time values among the arguments."""
        grid = (programs, 1, 1)
        compiled = self._compiled.get(key)
        if compiled is not None:
            launch = self._launchers.get((key, programs))
            if launch is None:
                if len(self._launchers) >= _MOST_LAUNCHERS:
                    self._launchers.clear()
                launch = self._launchers[key, programs] = compiled[grid]
            launch(*arguments, stream=self._lane.stream())
            return
        options: dict[str, Any] = {"num_warps": WARPS}
        if self._lane.cuda and torch.version.hip is None:
            options["maxnreg"] = registers
        compiled = KERNELS[str(key[0])][grid](*arguments, **options)
        if self._direct and hasattr(compiled, "packed_metadata"):
            self._compiled[key] = compiled
