"""The device meter on host memory: its bookkeeping, and the same rows as HostMeter.

What needs a GPU is in benchmarks/device_check.py; where Triton is installed, that script also runs here in its interpreter.
"""

from __future__ import annotations

import gc
import importlib.util
import math
import os
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
import torch
from torch import Tensor

from netmend.adapters.torch.meters.device.meter import DeviceMeter
from netmend.adapters.torch.meters.device.scan import is_dense, plan_scan
from netmend.adapters.torch.meters.host_meter import HostMeter
from netmend.adapters.torch.meters.meter import Meter

Rows = dict[tuple[str, str, int], tuple[float, ...]]
SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "device_check.py"


def device_meter() -> DeviceMeter:
    return DeviceMeter(torch.device("cpu"))


def collect(meter: Meter) -> tuple[Rows, dict[object, float]]:
    rows: Rows = {}
    scalars: dict[object, float] = {}
    meter.collect(
        lambda kind, component, step, values: rows.update({(kind, component, step): values}),
        lambda key, value: scalars.update({key: value}),
        wait=True,
    )
    return rows, scalars


def outputs() -> dict[str, tuple[Tensor, int, str | None]]:
    torch.manual_seed(3)
    images = (torch.randn(4, 16, 9, 9) - 3).relu()
    broken = torch.randn(20, 30)
    broken[3, 4], broken[5, 6] = math.nan, math.inf
    return {
        "linear": (torch.randn(32, 100) + 1, -1, None),
        "relu": (images, 1, "relu"),
        "channels last": (images.contiguous(memory_format=torch.channels_last), 1, "relu"),
        "nonnegative": (images, 1, None),
        "tanh": (torch.tanh(torch.randn(8, 50) * 4), -1, "tanh"),
        "sigmoid": (torch.sigmoid(torch.randn(8, 50) * 6), -1, "sigmoid"),
        "hardtanh": (torch.nn.functional.hardtanh(torch.randn(8, 50)), -1, "hardtanh"),
        "half": (torch.randn(8, 12, 64).bfloat16(), -1, None),
        "double": (torch.randn(8, 5).double(), -1, None),
        "gaps": (torch.randn(8, 50)[:, ::3], -1, "relu"),
        "broken": (broken, -1, None),
        "infinite": (torch.tensor([[1.0, math.inf], [2.0, 3.0]]), -1, None),
        "dead": (torch.zeros(8, 20), -1, "relu"),
        "single": (torch.ones(1), 0, None),
        "empty": (torch.empty(0, 3), -1, None),
    }


def test_activations_get_the_rows_that_the_host_meter_gives() -> None:
    meters: list[Meter] = [HostMeter(), device_meter()]
    for meter in meters:
        meter.start(7)
        for name, (tensor, axis, function) in outputs().items():
            meter.activation(name, tensor, axis, function)
        meter.finish()
    expected, got = (collect(meter)[0] for meter in meters)
    assert set(got) == set(expected)
    for key, values in expected.items():
        assert got[key][:-1] == pytest.approx(values[:-1], rel=1e-3, abs=1e-6, nan_ok=True), key
        # The spread is relative to the compared samples' own size here, to the whole batch's there.
        assert got[key][-1] == pytest.approx(values[-1], rel=0.05, nan_ok=True), key


def test_parameters_and_updates_get_the_rows_that_the_host_meter_gives() -> None:
    results = []
    meters: list[Meter] = [HostMeter(), device_meter()]
    for meter in meters:
        torch.manual_seed(1)
        weights = [
            torch.randn(40, 30),
            torch.zeros(30),
            torch.randn(4, 3, 3, 3).to(memory_format=torch.channels_last),
        ]
        names = ["weight", "zero", "convolution"]
        gradients = [torch.randn_like(weight) for weight in weights]
        rows: Rows = {}
        for step in range(3):
            meter.start(step)
            meter.parameters("gradient", names, gradients)
            meter.remember(names, weights)
            for weight, gradient in zip(weights, gradients, strict=True):
                weight -= 0.1 * gradient * (gradient > 0)
            meter.updates(names, weights)
            meter.parameters("weight", names, weights)
            meter.finish()
            rows |= collect(meter)[0]
        results.append(rows)
    assert set(results[0]) == set(results[1])
    assert len(results[0]) == 27
    for key, values in results[0].items():
        assert results[1][key] == pytest.approx(values, rel=1e-4, abs=1e-7, nan_ok=True), key


def test_a_sparse_gradient_counts_what_it_does_not_store_as_zero() -> None:
    embedding = torch.nn.Embedding(10, 4, sparse=True)
    embedding(torch.tensor([1, 3])).sum().backward()
    assert embedding.weight.grad is not None
    meter = device_meter()
    meter.start(0)
    meter.parameters("gradient", ["embedding"], [embedding.weight.grad])
    meter.finish()
    mean, rms, low, high, zero_share, nonfinite = collect(meter)[0]["gradient", "embedding", 0]
    assert (mean, rms) == pytest.approx((0.2, math.sqrt(0.2)))
    assert (low, high, zero_share, nonfinite) == (1.0, 1.0, 0.8, 0.0)


def test_the_norm_of_all_gradients_comes_with_them() -> None:
    meter = device_meter()
    assert not meter.gradient_norm("too early")
    meter.start(0)
    meter.parameters("gradient", ["a", "b"], [torch.full((3,), 2.0), torch.full((4,), -1.0)])
    meter.parameters("weight", ["a"], [torch.ones(3)])
    assert meter.gradient_norm("norm")
    meter.finish()
    assert collect(meter)[1] == {"norm": pytest.approx(4.0)}
    meter.start(1)
    assert meter.gradient_norm("of nothing")
    meter.finish()
    assert collect(meter)[1] == {"of nothing": 0.0}


def test_an_update_needs_remembered_values() -> None:
    meter = device_meter()
    weight = torch.randn(5)
    meter.start(0)
    meter.remember(["w"], [weight])
    meter.finish()
    meter.start(1)
    meter.updates(["w"], [weight])
    meter.finish()
    assert collect(meter)[0] == {}


def test_drift_starts_at_the_first_time_a_weight_was_seen() -> None:
    meter = device_meter()
    weight = torch.ones(8)
    drifts = []
    for step, names in enumerate((["w"], ["w"], ["w", "new"])):
        meter.start(step)
        meter.parameters("weight", names, [weight, torch.ones(3)][: len(names)])
        meter.finish()
        rows, _ = collect(meter)
        drifts.append([rows["weight", name, step][-1] for name in names])
        weight += 0.5
    assert drifts == [[0.0], [0.5], [1.0, 0.0]]


def test_steps_are_skipped_when_no_result_has_been_collected() -> None:
    meter = device_meter()
    for step in range(6):
        meter.start(step)
        meter.activation("a", torch.ones(2, 2), -1, None)
        meter.finish()
    rows, _ = collect(meter)
    assert [step for _, _, step in rows] == [0, 1, 2, 3]
    assert meter.skipped_steps == 2
    meter.start(9)
    meter.activation("a", torch.ones(2, 2), -1, None)
    meter.finish()
    assert list(collect(meter)[0]) == [("activation", "a", 9)]


def test_scalars_arrive_in_order_and_unfilled_groups_when_waited_for() -> None:
    meter = device_meter()
    for index in range(70):
        meter.scalar(index, torch.tensor([index / 2], requires_grad=True))
    _, scalars = collect(meter)
    assert list(scalars.items()) == [(index, index / 2) for index in range(70)]


def test_no_tensor_of_the_user_is_kept() -> None:
    meter = device_meter()
    tensor, weight, loss = torch.randn(4, 4), torch.randn(4), torch.ones(())
    references = [weakref.ref(tensor), weakref.ref(weight), weakref.ref(loss)]
    meter.start(0)
    meter.activation("a", tensor, -1, None)
    meter.parameters("weight", ["w"], [weight])
    meter.remember(["w"], [weight])
    meter.updates(["w"], [weight])
    meter.scalar("loss", loss)
    meter.finish()
    del tensor, weight, loss
    gc.collect()
    assert [reference() for reference in references] == [None, None, None]


def test_device_time_is_estimated_from_what_was_read_and_told_once() -> None:
    meter = device_meter()
    meter.start(0)
    meter.parameters("weight", ["w"], [torch.ones(1000)])
    meter.finish()
    assert meter.take_device_seconds() > 0
    assert meter.take_device_seconds() == 0


def test_nothing_is_recorded_outside_a_step() -> None:
    meter = device_meter()
    meter.activation("a", torch.ones(2, 2), -1, None)
    meter.finish()
    assert collect(meter) == ({}, {})


@pytest.mark.parametrize(
    ("tensor", "dense"),
    [
        (torch.zeros(3, 4), True),
        (torch.zeros(3, 4).T, True),
        (torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last), True),
        (torch.zeros(3, 1, 4).transpose(0, 1), True),
        (torch.zeros(3, 4)[:, :3], False),
        (torch.zeros(3, 1).expand(3, 4), False),
        (torch.zeros(8)[::2], False),
    ],
)
def test_dense_means_every_place_in_memory_once(tensor: Tensor, dense: bool) -> None:
    assert is_dense(tensor) is dense


@pytest.mark.parametrize(
    "shape", [(64, 768), (4, 2304, 50), (8, 96, 13, 13), (16, 64, 28, 28), (333, 10), (40, 1000)]
)
@pytest.mark.parametrize("last", [False, True])
def test_a_lane_meets_the_same_unit_in_all_tiles_of_its_program(shape: tuple[int, ...], last: bool) -> None:
    tensor = torch.zeros(shape)
    if last and tensor.dim() == 4:
        tensor = tensor.to(memory_format=torch.channels_last)
    plan = plan_scan(tensor, 1, "relu", processors=2)
    assert plan is not None and plan.units == shape[1]
    programs, full_tiles, tail, units, width, *_ = plan.record
    tile = 1024
    assert full_tiles * tile + tail == tensor.numel()
    # The unit of each place in memory, read off the tensor itself.
    index = torch.arange(shape[1]).view(1, -1, *[1] * (len(shape) - 2)).expand(shape)
    order = sorted(range(len(shape)), key=lambda axis: tensor.stride()[axis], reverse=True)
    memory = index.permute(order).reshape(-1)
    lane = torch.arange(tile)
    for program in range(programs):
        claimed = (program * tile + lane) // width % units
        for start in range(program * tile, tensor.numel(), programs * tile):
            there = memory[start : start + tile]
            assert torch.equal(there, claimed[: len(there)])


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")
def test_kernels_in_the_interpreter() -> None:
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    command = [sys.executable, str(SCRIPT), "--device", "cpu", "--seed", "11"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
