"""Tensors to try the device meter on, and what it should say about them, straight from the definitions in float64."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from netmend.adapters.torch.meters.device import scan as device_scan
from netmend.adapters.torch.meters.device.meter import DeviceMeter
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
        few = x[:: max(1, len(x) // 8)][:8]  # from all over the batch
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
