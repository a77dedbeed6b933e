"""How fast the device meter's kernels read, and what a call costs the host. Run by device_check.py."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable

import torch
from device_cases import collect
from torch import Tensor

from netmend.adapters.torch.meters.device import scan as device_scan
from netmend.adapters.torch.meters.device.activations import FEW
from netmend.adapters.torch.meters.device.meter import DeviceMeter


def timed(action: Callable[[int], None], rounds: int) -> tuple[float, float]:
    """Median device milliseconds and host microseconds per call."""
    for index in range(3):
        action(index)
    torch.cuda.synchronize()
    device_times, host_times = [], []
    for index in range(rounds):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        # A little work first, so that the host runs ahead and launch gaps do not count as kernel time.
        torch.cuda._sleep(400_000)
        start.record()
        begun = time.perf_counter()
        action(index)
        host_times.append(time.perf_counter() - begun)
        end.record()
        torch.cuda.synchronize()
        device_times.append(start.elapsed_time(end))
    return statistics.median(device_times), statistics.median(host_times) * 1e6


def bandwidth(device: torch.device) -> None:
    print("\nreading speed (each tensor out of a rotation larger than the L2 cache)")
    print(f"{'what':44s} {'MB':>8s} {'ms':>9s} {'GB/s':>8s} {'host µs':>8s}")

    def show(what: str, megabytes: float, result: tuple[float, float]) -> None:
        print(
            f"{what:44s} {megabytes:8.1f} {result[0]:9.4f} {megabytes / result[0]:8.0f} {result[1]:8.1f}",
            flush=True,
        )

    def activation_of(
        meter: DeviceMeter, tensors: list[Tensor], axis: int, function: str | None
    ) -> Callable[[int], None]:
        def action(index: int) -> None:
            meter.activation("x", tensors[index % len(tensors)], axis, function)
            meter.scalar("loss", scalar)

        return action

    def measure(
        what: str, make: Callable[[], Tensor], axis: int, function: str | None, together: bool = True
    ) -> None:
        first = make()
        copies = max(1, min(16, math.ceil(400e6 / (first.numel() * first.element_size()))))
        tensors = [first, *(make() for _ in range(copies))]
        megabytes = first.numel() * first.element_size() / 1e6
        meter = DeviceMeter(device)
        meter.start(0)
        show(what, megabytes, timed(activation_of(meter, tensors, axis, function), 30))
        meter.finish()
        collect(meter)
        if not together:
            return
        few = max(1, min(FEW, int(500e6 / (megabytes * 1e6))))

        def group(index: int) -> None:
            for number in range(few):
                tensor = tensors[(index * few + number) % len(tensors)]
                meter.activation(f"x{number}", tensor, axis, function)
            meter.scalar("loss", scalar)

        meter.start(1)
        group(0)
        show(f"  {few} of them together", megabytes * few, timed(group, 20))
        meter.finish()
        collect(meter)

    def bf16(*shape: int) -> Callable[[], Tensor]:
        return lambda: torch.randn(*shape, device=device, dtype=torch.bfloat16)

    def image(batch: int, channels: int, side: int, last: bool = True) -> Callable[[], Tensor]:
        layout = torch.channels_last if last else torch.contiguous_format
        return lambda: (
            torch.randn(batch, channels, side, side, device=device)
            .relu()
            .bfloat16()
            .contiguous(memory_format=layout)
        )

    scalar = torch.ones((), device=device)
    whole = torch.randn(800_000_000, device=device, dtype=torch.bfloat16)

    def plain_sum(_: int) -> None:
        whole.sum()

    show("torch sum (for comparison), bf16", 1600, timed(plain_sum, 20))
    measure("GPT-2 linear [16,1024,768] bf16", bf16(16, 1024, 768), -1, None)
    measure("GPT-2 norm [16,1024,768] fp32", lambda: torch.randn(16, 1024, 768, device=device), -1, None)
    measure("GPT-2 attention in [16,1024,2304] bf16", bf16(16, 1024, 2304), -1, None)
    measure("GPT-2 hidden [16,1024,3072] bf16", bf16(16, 1024, 3072), -1, None)
    measure("GPT-2 head [16,1024,50257] bf16", bf16(16, 1024, 50257), -1, None)
    measure("ResNet stem [128,64,112,112] bf16 last", image(128, 64, 112), 1, "relu")
    measure("ResNet [128,256,56,56] bf16 last", image(128, 256, 56), 1, "relu")
    measure("ResNet [128,128,28,28] bf16 last", image(128, 128, 28), 1, "relu")
    measure("ResNet [128,2048,7,7] bf16 last", image(128, 2048, 7), 1, "relu")
    measure("ResNet [128,256,56,56] bf16 NCHW", image(128, 256, 56, last=False), 1, "relu")
    measure(
        "sigmoid [16,1024,3072] bf16",
        lambda: torch.rand(16, 1024, 3072, device=device).bfloat16(),
        -1,
        "sigmoid",
    )
    sweep(device, measure, bf16, image)
    parameters_speed(device, show)


def sweep(
    device: torch.device,
    measure: Callable[..., None],
    bf16: Callable[..., Callable[[], Tensor]],
    image: Callable[..., Callable[[], Tensor]],
) -> None:
    """Other launch settings, to see whether the chosen ones are still the best on this device."""
    kept = device_scan._PROGRAMS_PER_PROCESSOR, device_scan.TILE_BYTES, device_scan.REGISTERS
    print("\nother settings (programs per multiprocessor, bytes per tile, registers)")
    for programs, tile_bytes, registers in ((2, 4096, 96), (3, 4096, 80), (4, 4096, 64), (2, 8192, 128)):
        device_scan._PROGRAMS_PER_PROCESSOR = programs
        device_scan.TILE_BYTES = tile_bytes
        device_scan.REGISTERS = registers
        label = f"{programs}/{tile_bytes}/{registers}"
        measure(f"{label} [16,1024,768] bf16", bf16(16, 1024, 768), -1, None)
        measure(f"{label} [16,1024,3072] bf16", bf16(16, 1024, 3072), -1, None)
        measure(f"{label} [128,64,112,112] bf16 last", image(128, 64, 112), 1, "relu")
    device_scan._PROGRAMS_PER_PROCESSOR, device_scan.TILE_BYTES, device_scan.REGISTERS = kept


def parameters_speed(device: torch.device, show: Callable[[str, float, tuple[float, float]], None]) -> None:
    shapes = [(50257, 768), (1024, 768)]
    for _ in range(12):
        shapes += [
            (768,),
            (768,),
            (2304, 768),
            (2304,),
            (768, 768),
            (768,),
            (768,),
            (768,),
            (3072, 768),
            (3072,),
            (768, 3072),
            (768,),
        ]
    tensors = [torch.randn(*shape, device=device) for shape in shapes]
    names = [f"parameter{index}" for index in range(len(tensors))]
    megabytes = sum(tensor.numel() for tensor in tensors) * 4 / 1e6
    meter = DeviceMeter(device)
    meter.start(0)
    print("\nall parameters of GPT-2 124M")
    show("gradients", megabytes, timed(lambda _: meter.parameters("gradient", names, tensors), 20))
    show("weights with drift", megabytes, timed(lambda _: meter.parameters("weight", names, tensors), 20))
    show("remember (samples)", megabytes, timed(lambda _: meter.remember(names, tensors), 20))
    show("updates (samples)", megabytes, timed(lambda _: meter.updates(names, tensors), 20))
    meter.finish()
    collect(meter)

    def empty_step(index: int) -> None:
        meter.start(index)
        meter.activation("x", tensors[-1], 0, None)
        meter.finish()
        collect(meter, wait=False)

    show("start, one tiny activation, finish, collect", 0.003, timed(empty_step, 20))
