"""Lane: the few things that differ between a CUDA device and host memory; and launches with little work on the host.

The meter is written for CUDA. On host memory everything is finished at once; that makes it possible to check all of its
bookkeeping, and (in Triton's interpreter) its kernels, on a machine without a GPU.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor

_NOTHING: AbstractContextManager[object] = nullcontext()


class Lane:
    """One device, seen from the thread that trains on it."""

    def __init__(self, device: torch.device) -> None:
        self.cuda = device.type == "cuda"
        if self.cuda and device.index is None:
            device = torch.device("cuda", torch.cuda.current_device())
        self.device = device
        self.multiprocessors = 4
        self.memory = 8_000_000_000  # bytes
        # What Triton itself calls; the public way builds a Stream object at every launch.
        self._raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None)
        self._current_device = getattr(torch._C, "_cuda_getDevice", torch.cuda.current_device)
        self._capturing = getattr(
            torch._C, "_cuda_isCurrentStreamCapturing", torch.cuda.is_current_stream_capturing
        )
        if self.cuda:
            properties = torch.cuda.get_device_properties(device)
            self.multiprocessors = properties.multi_processor_count
            self.memory = properties.total_memory

    def capturing(self) -> bool:
        """Whether a CUDA graph is being recorded: then nothing of ours may enter the stream."""
        return self.cuda and bool(self._capturing())

    def stream(self) -> int:
        """Handle of the current stream of this device."""
        if not self.cuda:
            return 0
        if self._raw_stream is not None:
            return int(self._raw_stream(self.device.index))
        return int(torch.cuda.current_stream(self.device).cuda_stream)

    def here(self) -> AbstractContextManager[object]:
        """Makes this device the current one for launches."""
        if not self.cuda or self._current_device() == self.device.index:
            return _NOTHING
        return torch.cuda.device(self.device)

    def exactly(self) -> torch.autocast:
        """Our own arithmetic keeps its precision inside a user's autocast region."""
        return torch.autocast(self.device.type, enabled=False)

    def empty(self, *shape: int, dtype: torch.dtype) -> Tensor:
        # A buffer made inside a user's inference mode could not be written outside it.
        with torch.inference_mode(False):
            return torch.empty(*shape, dtype=dtype, device=self.device)

    def host(self, *shape: int, dtype: torch.dtype) -> Tensor:
        """Host memory that the device can write into while the program goes on."""
        with torch.inference_mode(False):
            return torch.empty(*shape, dtype=dtype, device="cpu", pin_memory=self.cuda)

    def upload(self, target: Tensor, numbers: list[int]) -> None:
        """Copy numbers to the device without waiting; the pinned memory is not reused before the copy is done."""
        source = self.host(len(numbers), dtype=target.dtype)
        source.copy_(torch.tensor(numbers, dtype=target.dtype, device="cpu"))
        target.copy_(source.view(target.shape), non_blocking=True)


class Milestone:
    """A point in the device's work; `reached` never waits."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self._event = torch.cuda.Event() if lane.cuda else None

    def set(self) -> None:
        if self._event is not None:
            self._event.record(torch.cuda.current_stream(self._lane.device))

    def before_new_work(self) -> None:
        """Whatever is launched on the current stream from now on comes after this point."""
        if self._event is not None:
            torch.cuda.current_stream(self._lane.device).wait_event(self._event)

    def reached(self) -> bool:
        return self._event is None or self._event.query()

    def wait(self) -> None:
        if self._event is not None:
            self._event.synchronize()


# Launching Triton kernels with little work on the host.
#
# The usual launch path binds and specialises all arguments anew, 15-30 µs each time. All integer arguments of our kernels are
# declared `do_not_specialize`, so the compiled kernel depends on the caller's key alone and can be launched directly next time.

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
