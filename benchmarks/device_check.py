"""Check the device meter against float64 references, then measure how fast its kernels read.

    python benchmarks/device_check.py                      # on a CUDA machine
    TRITON_INTERPRET=1 python benchmarks/device_check.py --device cpu   # the kernels in Triton's interpreter, slow

Prints one line per check; exits 1 when any of them fails.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from netmend.adapters.torch import device_launch, device_scan
from netmend.adapters.torch.device_meter import DeviceMeter
from netmend.vocabulary.table import COLUMNS

NAN = float("nan")
RELU_LIKE = ("relu", "relu6", "leaky_relu", "threshold")
Rows = dict[tuple[str, str, int], tuple[float, ...]]


def reference_activation(
    tensor: Tensor, unit_axis: int, function: str | None
) -> dict[str, tuple[float, float]]:
    """Column → (value, tolerance), straight from the definitions, in float64."""
    x = tensor.detach().double()
    n, absolute = x.numel(), float(x.abs().sum()) / x.numel()
    rms = float(x.square().mean().sqrt())
    mean = float(x.mean())
    low, high = float(x.min()), float(x.max())
    finite = math.isfinite(rms)
    std = float(x.std(correction=0)) if finite else NAN
    silent = saturated = spread = zeros = NAN
    if function in RELU_LIKE or low == 0 or high == 0:
        zeros = float((x == 0).sum()) / n
    axis = unit_axis % x.dim() if x.dim() >= 2 else 0
    if axis and (function in RELU_LIKE or low == 0):
        peaks = x.movedim(axis, 0).reshape(x.shape[axis], -1).amax(1)
        silent = float((peaks <= 0).double().mean())
    v = tensor.detach().float() if tensor.dtype != torch.float64 else tensor.detach()
    if function == "sigmoid":
        saturated = float(((v <= 0.01) | (v >= 0.99)).double().mean())
    elif function == "hardsigmoid":
        saturated = float(((v <= 0) | (v >= 1)).double().mean())
    elif function in ("tanh", "softsign"):
        saturated = float((v.abs() > 0.99).double().mean())
    elif function == "hardtanh":
        saturated = float(((v == v.min()) | (v == v.max())).double().mean())
    elif function == "relu6":
        saturated = float(((v <= 0) | (v >= 6)).double().mean())
    interleaved = False  # then sample_spread cannot be told
    if x.dim() >= 2 and x.shape[0] >= 2 and finite:
        few = x[:8]
        size = float(few.square().mean().sqrt())
        spread = float((few - few.mean(0)).square().mean().sqrt()) / size if size else NAN
        interleaved = tensor.stride(0) != n // x.shape[0] and device_scan.is_dense(tensor)
        interleaved |= float((x == 0).double().mean()) > 0.9  # too few values for a sample of them
    return {
        "mean": (mean, 2e-6 * absolute + 1e-30),
        # Derived from sums: the smaller the spread beside the mean, the less of it is left.
        "std": (std, 5e-5 * rms + min(1e-3 * rms, 2e-6 * rms * rms / max(std, 1e-30)) if finite else 0),
        "rms": (rms, 3e-5 * rms),
        "minimum": (low, 0),
        "maximum": (high, 0),
        "zero_share": (zeros, 1e-12),
        "nonfinite": (float((~torch.isfinite(x)).sum()), 0),
        "silent_share": (silent, 1e-9),
        "saturated_share": (saturated, 1e-9),
        # Large samples are compared at some positions only; layouts with interleaved samples not at all.
        "sample_spread": (
            spread,
            math.inf if interleaved else 1e-4 if n // max(x.shape[0] if x.dim() else 1, 1) <= 2048 else 0.1,
        ),
    }


class Checker:
    def __init__(self) -> None:
        self.failures = 0
        self.checks = 0

    def row(
        self, title: str, kind: str, got: tuple[float, ...] | None, expected: dict[str, tuple[float, float]]
    ) -> None:
        wrong = []
        if got is None:
            wrong.append("no row")
        else:
            for column, value in zip(COLUMNS[kind], got, strict=True):
                if column in expected and not close(value, *expected[column]):
                    wrong.append(
                        f"{column}: expected {expected[column][0]!r} ± {expected[column][1]:.2g}, got {value!r}"
                    )
        self.say(title, wrong)

    def truth(self, title: str, fine: bool, detail: str = "") -> None:
        self.say(title, [] if fine else [detail or "not so"])

    def say(self, title: str, wrong: list[str]) -> None:
        self.checks += 1
        self.failures += bool(wrong)
        print(
            f"{'FAIL' if wrong else 'ok  '} {title}" + ("  " + "; ".join(wrong) if wrong else ""), flush=True
        )


def close(value: float, expected: float, tolerance: float) -> bool:
    if math.isinf(tolerance):
        return True
    if math.isnan(expected) or math.isnan(value):
        return math.isnan(expected) and math.isnan(value)
    if math.isinf(expected) or math.isinf(value):
        return value == expected
    return abs(value - expected) <= tolerance


def collect(meter: DeviceMeter, wait: bool = True) -> tuple[Rows, dict[object, float]]:
    rows: Rows = {}
    scalars: dict[object, float] = {}

    def emit(kind: str, component: str, step: int, values: tuple[float, ...]) -> None:
        rows[kind, component, step] = values

    def arrived(key: object, value: float) -> None:
        scalars[key] = value

    meter.collect(emit, arrived, wait=wait)
    return rows, scalars


def activation_cases(device: torch.device, large: bool) -> Iterator[tuple[str, Tensor, int, str | None]]:
    def randn(*shape: int) -> Tensor:
        return torch.randn(*shape, device=device)

    grow = 8 if large else 1
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        name = str(dtype).removeprefix("torch.")
        yield f"[B,C] {name}", randn(33, 100).to(dtype), -1, None
        yield f"[B,T,768] {name}", (randn(2 * grow, 16 * grow, 768) + 0.3).to(dtype), -1, None
        yield f"[B,T,1000] relu {name}", (randn(3, 7, 1000) - 2.5).relu().to(dtype), -1, "relu"
        yield f"NCHW relu {name}", (randn(4, 96, 13, 13) - 3.5).relu().to(dtype), 1, "relu"
        hw = 28 * grow
        images = (randn(2, 64, hw, hw) - 4.2).relu().to(dtype)
        yield f"NCHW 64x{hw}x{hw} relu {name}", images, 1, "relu"
        yield f"channels last relu {name}", images.contiguous(memory_format=torch.channels_last), 1, "relu"
        yield (
            f"channels last, negative {name}",
            randn(3, 24, 9, 9).to(dtype).contiguous(memory_format=torch.channels_last),
            1,
            None,
        )
        yield f"sigmoid {name}", torch.sigmoid(randn(40, 129) * 4).to(dtype), -1, "sigmoid"
        yield f"tanh {name}", torch.tanh(randn(40, 130) * 3).to(dtype), -1, "tanh"
        yield f"relu6 {name}", torch.nn.functional.relu6(randn(8, 32, 5, 5) * 5).to(dtype), 1, "relu6"
        yield f"unaligned {name}", randn(1 + 40 * 50).to(dtype)[1:].view(40, 50), -1, None
    for size in (1, 2, 7, 1023, 1024, 1025, 4096, 4097, 65536 * grow + 3):
        yield f"one axis, {size}", randn(size), 0, None
    for tiles in (1, 2, 3, 4, 5, 7, 8, 9, 20):
        yield f"{tiles} tiles and a bit", randn(tiles, 1024 + 11), -1, "relu"
    yield "one sample", randn(1, 64), -1, None
    yield "one unit", randn(64, 1), -1, "relu"
    yield "all zero", torch.zeros(16, 48, device=device), -1, "relu"
    yield "all equal", torch.full((16, 48), 3.0, device=device), -1, None
    yield "large mean", randn(64, 64) + 100, -1, None
    yield "five axes", (randn(2, 8, 3, 5, 7) - 2).relu(), 1, "relu"
    yield "transposed", randn(6, 5, 40).transpose(1, 2), -1, None
    yield "batch second in memory", randn(5, 6, 40).transpose(0, 1), -1, None
    yield "every other column", randn(20, 60)[:, ::2], -1, "relu"
    yield "expanded", randn(20, 1).expand(20, 30), -1, None
    yield "float64", randn(9, 31).double(), -1, None
    yield "hardtanh", torch.nn.functional.hardtanh(randn(30, 40)), -1, "hardtanh"
    yield "leaky_relu", torch.nn.functional.leaky_relu(randn(30, 40)), -1, "leaky_relu"
    yield "[B,50257] bfloat16", randn(4 * grow, 50257).bfloat16(), -1, None
    for odd in (NAN, math.inf, -math.inf):
        for dtype in (torch.float32, torch.bfloat16):
            broken = randn(50, 333).to(dtype)
            broken.view(-1)[[5, 4000, -1]] = odd
            yield f"three times {odd} {str(dtype).removeprefix('torch.')}", broken, -1, None
    mixed = randn(70, 1500)
    mixed[3, 7], mixed[69, 1499], mixed[0, 0] = NAN, math.inf, -math.inf
    yield "NaN and both infinities", mixed, -1, "relu"
    yield "nothing but NaN", torch.full((4, 5), NAN, device=device), -1, None


def check_activations(check: Checker, device: torch.device, large: bool, kernels: bool) -> None:
    meter = DeviceMeter(device, use_kernels=kernels)
    cases = list(activation_cases(device, large))
    meter.start(5)
    for title, tensor, axis, function in cases:
        meter.activation(title, tensor, axis, function)
    meter.activation("empty", torch.empty(0, 4, device=device), -1, None)
    meter.finish()
    rows, _ = collect(meter)
    how = "kernel" if kernels else "plain "
    for title, tensor, axis, function in cases:
        check.row(
            f"{how} activation {title}",
            "activation",
            rows.get(("activation", title, 5)),
            reference_activation(tensor, axis, function),
        )
    check.truth(f"{how} activation empty gives no row", ("activation", "empty", 5) not in rows)


def parameter_set(device: torch.device, large: bool) -> dict[str, Tensor]:
    grow = 10 if large else 1
    shapes = {
        "weight": (300 * grow, 257),
        "exact": (256, 256),
        "bias": (300,),
        "one": (1,),
        "wide": (1024 * grow, 1024),
    }
    tensors = {name: torch.randn(*shape, device=device) for name, shape in shapes.items()}
    tensors["convolution"] = torch.randn(64, 32, 3, 3, device=device).contiguous(
        memory_format=torch.channels_last
    )
    tensors["half"] = torch.randn(77, 130, device=device).bfloat16()
    tensors["double"] = torch.randn(30, 4, device=device).double()
    tensors["gaps"] = torch.randn(40, 40, device=device)[:, ::2]
    tensors["zero"] = torch.zeros(50, device=device)
    tensors["unaligned"] = torch.randn(1001, device=device)[1:]
    return tensors


def reference_parameter(tensor: Tensor) -> dict[str, tuple[float, float]]:
    expected = reference_activation(tensor, 0, None)
    expected["zero_share"] = (float((tensor == 0).double().mean()), 1e-12)
    return {
        column: expected[column]
        for column in ("mean", "rms", "minimum", "maximum", "zero_share", "nonfinite")
    }


def check_parameters(check: Checker, device: torch.device, large: bool, kernels: bool) -> None:
    how = "kernel" if kernels else "plain "
    meter = DeviceMeter(device, use_kernels=kernels)
    weights = parameter_set(device, large)
    names, tensors = list(weights), list(weights.values())
    first = {name: tensor.clone() for name, tensor in weights.items()}
    for step in range(3):
        gradients = [torch.randn_like(tensor) for tensor in tensors]
        gradients[1].view(-1)[7] = NAN if step == 1 else 0.0
        gradients[2].zero_()
        before = [tensor.clone() for tensor in tensors]
        meter.start(step)
        meter.parameters("gradient", names, gradients)
        meter.parameters("weight", names, tensors)
        meter.remember(names, tensors)
        for tensor, gradient in zip(tensors, gradients, strict=True):
            if step == 1 and gradient is gradients[1]:
                continue
            tensor.sub_(gradient.sign() * 0.01 * (gradient.abs() > 0.5))
        meter.updates(names, tensors)
        meter.finish()
        rows, _ = collect(meter)
        for index, name in enumerate(names):
            check.row(
                f"{how} step {step} gradient {name}",
                "gradient",
                rows.get(("gradient", name, step)),
                reference_parameter(gradients[index]),
            )
            expected = reference_parameter(before[index])
            scale, moved = first[name].double().norm(), (before[index].double() - first[name].double()).norm()
            drift = 0.0 if not moved else float(moved / scale) if scale else math.inf
            exact = before[index].numel() <= 4096
            expected["drift"] = (
                drift,
                (1e-4 if exact else 0.1) * (drift if math.isfinite(drift) else 0) + 1e-9,
            )
            check.row(
                f"{how} step {step} weight {name}", "weight", rows.get(("weight", name, step)), expected
            )
            change = tensors[index].double() - before[index].double()
            rms, base = (
                float(change.square().mean().sqrt()),
                float(before[index].double().square().mean().sqrt()),
            )
            ratio = rms / base if base else (0.0 if rms == 0 else math.inf)
            exact = change.numel() <= 65_536
            loose = 3e-3 if exact and name == "half" else 1e-4 if exact else 0.05
            update = {
                "rms": (rms, loose * rms + 1e-9),
                "ratio": (ratio, loose * (ratio if math.isfinite(ratio) else 0) + 1e-9),
                "maximum": (float(change.abs().max()), 1e-6 if name != "half" else 1e-2),
                "unchanged_share": (float((change == 0).double().mean()), 1e-9 if exact else 0.03),
            }
            check.row(f"{how} step {step} update {name}", "update", rows.get(("update", name, step)), update)


def check_manners(check: Checker, device: torch.device) -> None:
    """What a good guest does, beyond right numbers."""
    meter = DeviceMeter(device)
    for index in range(150):
        meter.scalar(("loss", index), torch.tensor(float(index), device=device).requires_grad_())
    _, scalars = collect(meter)
    check.truth(
        "150 scalars arrive",
        scalars == {("loss", index): float(index) for index in range(150)},
        repr(scalars)[:200],
    )
    x = torch.randn(64, 512, device=device, requires_grad=True)
    with torch.autocast(device.type, dtype=torch.bfloat16), torch.enable_grad():
        meter.start(1)
        meter.activation("inside autocast", x, -1, None)
        meter.activation("gaps", x[:, ::2], -1, None)
        meter.finish()
    rows, _ = collect(meter)
    check.row(
        "inside autocast and grad mode",
        "activation",
        rows.get(("activation", "inside autocast", 1)),
        reference_activation(x, -1, None),
    )
    check.row(
        "inside autocast, plain",
        "activation",
        rows.get(("activation", "gaps", 1)),
        reference_activation(x[:, ::2], -1, None),
    )
    with torch.inference_mode():
        meter.start(2)
        meter.activation("inference", torch.randn(3, 4, device=device), -1, None)
        meter.finish()
    meter.start(3)
    meter.activation("after inference", x, -1, None)
    meter.finish()
    rows, _ = collect(meter)
    check.truth("inference mode and after", len(rows) == 2, str(list(rows)))
    if device.type != "cuda":
        return
    state = torch.cuda.get_rng_state(device)
    weights = [torch.randn(3000, 100, device=device), torch.randn(10, device=device)]
    torch.cuda.set_rng_state(state, device)
    for step in range(4, 8):  # the first two rounds make buffers and compile
        if step == 6:
            torch.cuda.set_sync_debug_mode("error")
        try:
            meter.start(step)
            meter.activation("a", x, -1, "relu")
            meter.activation("gaps", x[:, ::2], -1, None)
            meter.parameters("gradient", ["w", "b"], [weights[0] * 1, weights[1] * 1])
            meter.parameters("weight", ["w", "b"], weights)
            meter.remember(["w", "b"], weights)
            meter.updates(["w", "b"], weights)
            meter.scalar("s", x.detach().sum())
            meter.finish()
            collect(meter, wait=False)
            quiet = True
        except RuntimeError as error:
            quiet = False
            print(f"     {error}")
        finally:
            torch.cuda.set_sync_debug_mode("default")
        if step >= 6:
            check.truth("no host synchronisation in a step", quiet)
    rows, _ = collect(meter)
    check.truth("no random number drawn", bool((torch.cuda.get_rng_state(device) == state).all()))
    busy = torch.randn(8192, 8192, device=device)
    before = meter.skipped_steps
    for step in range(8, 16):
        for _ in range(20):
            busy = busy @ busy * 1e-4
        meter.start(step)
        meter.activation("a", x, -1, "relu")
        meter.finish()
    check.truth(
        "steps beyond the ring are skipped and counted",
        meter.skipped_steps > before,
        str(meter.skipped_steps),
    )
    rows, _ = collect(meter)
    check.truth("those in the ring arrive", len(rows) == 8 - (meter.skipped_steps - before), str(len(rows)))
    graph = torch.cuda.CUDAGraph()
    static = torch.randn(100, 100, device=device)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        meter.start(20)
        doubled = static * 2
        meter.activation("captured", doubled, -1, None)
        meter.scalar("captured", doubled.sum())
        meter.finish()
        collect(meter, wait=False)
    graph.replay()
    torch.cuda.synchronize()
    rows, scalars = collect(meter)
    check.truth("nothing is done during graph capture", not rows and not scalars)
    meter.release()
    meter.start(21)
    meter.activation("again", x, -1, None)
    meter.finish()
    rows, _ = collect(meter)
    check.truth("works after release", len(rows) == 1)


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

        return action

    def measure(what: str, make: Callable[[], Tensor], axis: int, function: str | None) -> None:
        first = make()
        copies = max(1, min(12, math.ceil(400e6 / (first.numel() * first.element_size()))))
        tensors = [first, *(make() for _ in range(copies))]
        megabytes = first.numel() * first.element_size() / 1e6
        meter = DeviceMeter(device)
        meter.start(0)
        show(what, megabytes, timed(activation_of(meter, tensors, axis, function), 30))
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
    for programs, tile_bytes, registers in (
        (2, 4096, 96),
        (3, 4096, 80),
        (4, 4096, 64),
        (6, 4096, 64),
        (8, 4096, 64),
        (2, 8192, 128),
        (16, 4096, 64),
    ):
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


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--no-speed", action="store_true", help="checks only")
    parser.add_argument("--seed", type=int, default=None, help="default: a new one each time")
    options = parser.parse_args()
    device = torch.device(options.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        print(
            "No CUDA device here. Use --device cpu with TRITON_INTERPRET=1 to check the kernels in the interpreter."
        )
        return 2
    seed = options.seed if options.seed is not None else time.time_ns() % 2**31
    torch.manual_seed(seed)
    triton = sys.modules.get("triton")
    print(
        f"torch {torch.__version__}, triton {getattr(triton, '__version__', 'missing')}, device {device}, seed {seed}"
    )
    print(f"kernels {'in use' if device_launch.can_launch(device) else 'NOT in use'}")
    check = Checker()
    large = device.type == "cuda"
    with torch.no_grad():
        for kernels in (True, False):
            check_activations(check, device, large, kernels)
            check_parameters(check, device, large, kernels)
        check_manners(check, device)
        print(f"{check.checks} checks, {check.failures} failed")
        if large and not options.no_speed:
            bandwidth(device)
    print(f"{check.checks} checks, {check.failures} failed")
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
