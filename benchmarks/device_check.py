"""Check the device meter against float64 references, then measure how fast its kernels read.

    python benchmarks/device_check.py                      # on a CUDA machine
    TRITON_INTERPRET=1 python benchmarks/device_check.py --device cpu   # the kernels in Triton's interpreter, slow

Prints one line per check; exits 1 when any of them fails.
"""

from __future__ import annotations

import argparse
import math
import sys
import time

import torch
from device_cases import (
    NAN,
    Checker,
    activation_cases,
    collect,
    parameter_set,
    reference_activation,
    reference_parameter,
)
from device_speed import bandwidth

from netmend.adapters.torch.meters.device import lane as device_launch
from netmend.adapters.torch.meters.device.meter import DeviceMeter


def check_activations(check: Checker, device: torch.device, large: bool, kernels: bool) -> None:
    """Two steps: in the first each tensor is read at once, in the second those of a kind are read together."""
    meter = DeviceMeter(device, use_kernels=kernels)
    cases = list(activation_cases(device, large))
    for step in (5, 6):
        meter.start(step)
        for title, tensor, axis, function in cases:
            meter.activation(title, tensor, axis, function)
        meter.activation("empty", torch.empty(0, 4, device=device), -1, None)
        meter.finish()
        rows, _ = collect(meter)
        how = ("kernel, at once" if step == 5 else "kernel, together") if kernels else f"plain, step {step}"
        for title, tensor, axis, function in cases:
            check.row(
                f"{how} activation {title}",
                "activation",
                rows.get(("activation", title, step)),
                reference_activation(tensor, axis, function),
            )
        check.truth(f"{how} activation empty gives no row", ("activation", "empty", step) not in rows)


def check_overwriting(check: Checker, device: torch.device) -> None:
    """Outputs that the program changes in place must show what they were before."""
    meter = DeviceMeter(device)
    for step in range(4):
        meter.start(step)
        expected = {}
        for layer in range(12):
            # From step 2 on layer 0, which had been left alone, is changed as well.
            tensor = torch.randn(32, 64 + layer, device=device)
            expected[f"layer{layer}"] = reference_activation(tensor, -1, None)
            meter.activation(f"layer{layer}", tensor, -1, None)
            if layer % 3 == 1 or (layer == 0 and step >= 2):
                tensor.relu_()
        meter.scalar("loss", torch.ones((), device=device))
        meter.finish()
        rows, _ = collect(meter)
        for name, reference in expected.items():
            if name == "layer0" and step == 2:
                check.truth("a change nobody expected costs the row", ("activation", name, step) not in rows)
            else:
                check.row(
                    f"step {step}, changed in place: {name}",
                    "activation",
                    rows.get(("activation", name, step)),
                    reference,
                )
    check.truth("what was lost is counted", meter.skipped_tensors == 1, str(meter.skipped_tensors))
    check.truth("device time is told", meter.take_device_seconds() > 0)
    check.truth("device time is told once", meter.take_device_seconds() == 0)


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
        check_overwriting(check, device)
        check_manners(check, device)
        print(f"{check.checks} checks, {check.failures} failed")
        if large and not options.no_speed:
            bandwidth(device)
    print(f"{check.checks} checks, {check.failures} failed")
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
