"""Lane: the few things that differ between a CUDA device and host memory.

The meter is written for CUDA. On host memory everything is finished at once; that makes it possible to check all of its
bookkeeping, and (in Triton's interpreter) its kernels, on a machine without a GPU.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

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
