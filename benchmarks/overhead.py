"""How much slower training gets when it is watched: netmend beside the usual alternatives.

One process, variants interleaved (A B C … A B C …) so that a busy moment of the machine hits all of them; each variant trains its
own copy of the model from the same seed. A ratio compares a segment of steps with the bare segment of the same round; the table shows
the median over rounds and [lowest - highest].

    python benchmarks/overhead.py                                # CPU models, and GPU models where there is a GPU
    python benchmarks/overhead.py --models gpt2 resnet50 --variants default full
    python benchmarks/overhead.py --memory --trace-size          # recorder's memory and size on disk (CPU models)
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import gc
import json
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from overhead_models import CPU_MODELS, CUDA_MODELS, Training
from overhead_report import Cell, as_markdown
from overhead_variants import VARIANTS, Variant

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

MODELS = CPU_MODELS | CUDA_MODELS
SEED = 20
WARM_UP_STEPS = 12
WARM_UP_SECONDS = 2.0
CUDA_SEGMENT_STEPS = 30
TRACE_STEPS = 1_000
MEMORY_REPEATS = 3
MEMORY_SECONDS = 6.0


def synchronize(cuda: bool) -> None:
    if cuda:
        torch.cuda.synchronize()


def build(model: str) -> Training:
    torch.manual_seed(SEED)
    return MODELS[model]()


def segment(variant: Variant, steps: int, cuda: bool, settle: bool = True) -> tuple[float, float]:
    """Seconds per step, wall and processor. One untimed step lets hooks and caches settle."""
    gc.collect()
    variant.enter()
    try:
        if settle:
            variant.training.step()
        synchronize(cuda)
        wall, processor = time.perf_counter(), time.process_time()
        for _ in range(steps):
            variant.training.step()
        synchronize(cuda)
        return (time.perf_counter() - wall) / steps, (time.process_time() - processor) / steps
    finally:
        variant.leave()


def warm_up(variant: Variant, seconds: float, cuda: bool) -> tuple[float, float]:
    """Train untimed for a while (compilation, first-step facts, adapting sampling); times per step at the end."""
    last, processor = segment(variant, 1, cuda, settle=False)
    begun, steps = time.perf_counter(), 0
    while last < seconds and (
        steps < WARM_UP_STEPS or time.perf_counter() - begun < min(WARM_UP_SECONDS, seconds)
    ):
        count = max(1, min(WARM_UP_STEPS, int(0.5 / last)))
        last, processor = segment(variant, count, cuda)
        steps += count
    return last, processor


def measure(model: str, names: list[str], seconds: float, rounds: int) -> list[Cell]:
    cuda = model in CUDA_MODELS
    cells = [Cell(model, name, VARIANTS[name].title) for name in names]
    ready: list[tuple[Cell, Variant, int]] = []
    for cell in cells:
        try:
            variant = VARIANTS[cell.variant](build(model))
            pace, processor = warm_up(variant, seconds, cuda)
        except Exception as error:  # noqa: BLE001 - a variant that fails is a result, and the others go on
            cell.problem = f"{type(error).__name__}: {error}"
            print(f"  {model} {cell.variant}: {cell.problem}", file=sys.stderr, flush=True)
            continue
        steps = max(1, int(seconds / rounds / pace))
        if cuda and cell.variant in ("bare", "default", "full"):
            steps = max(CUDA_SEGMENT_STEPS, steps)
        cell.steps = steps
        print(
            f"  {model} {cell.variant}: {pace * 1e3:.2f} ms per step, segments of {steps}",
            file=sys.stderr,
            flush=True,
        )
        if pace > seconds:  # one step takes longer than all rounds may: it is the measurement
            cell.wall, cell.processor = [pace], [processor]
            variant.close()
            continue
        ready.append((cell, variant, steps))
    for _ in range(rounds):
        for cell, variant, steps in ready:
            if cell.problem:
                continue
            try:
                wall, processor = segment(variant, steps, cuda)
            except Exception as error:  # noqa: BLE001
                cell.problem = f"{type(error).__name__}: {error}"
                continue
            cell.wall.append(wall)
            cell.processor.append(processor)
    for _, variant, _ in ready:
        with contextlib.suppress(Exception):
            variant.close()
    return cells


def resident_megabytes(model: str, watched: bool) -> float:
    """Peak memory of a child process that trains for a few seconds."""
    command = [
        sys.executable,
        str(Path(__file__).resolve()),
        "--child",
        model,
        "watched" if watched else "bare",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "child failed")
    return float(done.stdout.strip().splitlines()[-1])


def child(model: str, how: str) -> None:
    torch.set_num_threads(1)
    variant = VARIANTS["default" if how == "watched" else "bare"](build(model))
    variant.enter()
    end = time.perf_counter() + MEMORY_SECONDS
    while time.perf_counter() < end:
        variant.training.step()
    variant.leave()
    unit = 1 if platform.system() == "Darwin" else 1024
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6)
    variant.close()


def memory(models: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for model in models:
        try:
            pairs = [
                (resident_megabytes(model, False), resident_megabytes(model, True))
                for _ in range(MEMORY_REPEATS)
            ]
        except RuntimeError as error:
            found[model] = {"problem": str(error)}
            continue
        bare, watched = (statistics.median(column) for column in zip(*pairs, strict=True))
        found[model] = {"bare_mb": bare, "watched_mb": watched, "extra_mb": watched - bare}
    return found


def trace_size() -> dict[str, Any]:
    """Bytes on disk after 1,000 steps of the MLP at defaults."""
    import netmend

    training = build("mlp")
    with tempfile.TemporaryDirectory(prefix="netmend-overhead-") as directory:
        with netmend.watch(training.model, training.optimizer, directory=Path(directory), quiet=True):
            for _ in range(TRACE_STEPS):
                training.step()
        size = sum(path.stat().st_size for path in Path(directory).rglob("*") if path.is_file())
    return {"steps": TRACE_STEPS, "bytes": size}


def about() -> dict[str, str]:
    import netmend

    facts = {
        "date": datetime.date.today().isoformat(),
        "netmend": netmend.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cpu": f"{platform.machine()}, {torch.get_num_threads()} thread",
    }
    if torch.cuda.is_available():
        facts["gpu"] = torch.cuda.get_device_name()
        with contextlib.suppress(ImportError):
            import triton

            facts["triton"] = triton.__version__
    return facts


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="*", choices=list(MODELS), default=None)
    parser.add_argument("--variants", nargs="*", choices=list(VARIANTS), default=list(VARIANTS))
    parser.add_argument(
        "--seconds", type=float, default=12.0, help="per model and variant, all rounds together"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", action="store_true", help="also measure the recorder's peak memory")
    parser.add_argument("--trace-size", action="store_true", help="also measure the size of a trace")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="Anomaly Detection has been enabled")
    if options.child:
        child(*options.child)
        return 0
    torch.set_num_threads(1)
    torch.backends.cudnn.benchmark = True
    models = options.models
    if models is None:
        models = [*CPU_MODELS, *(CUDA_MODELS if torch.cuda.is_available() else ())]
    names = ["bare", *(name for name in VARIANTS if name in options.variants and name != "bare")]
    facts, cells, sizes = about(), [], {}
    for model in models:
        if model in CUDA_MODELS and not torch.cuda.is_available():
            print(f"{model} needs a CUDA device; left out.", file=sys.stderr)
            continue
        cells += measure(model, names, options.seconds, options.rounds)
        if torch.cuda.is_available():
            gc.collect()
            torch.cuda.empty_cache()
        print(as_markdown(facts, [cell for cell in cells if cell.model == model], {}), flush=True)
    if options.memory:
        sizes["memory"] = memory([model for model in models if model in CPU_MODELS])
    if options.trace_size:
        sizes["trace"] = trace_size()
    text = as_markdown(facts, cells, sizes)
    print(text)
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")
    if options.json:
        content = {"about": facts, "cells": [asdict(cell) for cell in cells], **sizes}
        options.json.write_text(json.dumps(content, indent=1), encoding="utf-8")
    return 1 if any(cell.problem for cell in cells if cell.variant in ("bare", "default", "full")) else 0


if __name__ == "__main__":
    sys.exit(main())
