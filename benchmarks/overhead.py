"""How much slower training gets when it is watched: netmend beside the usual alternatives.

One process, variants interleaved (A B C … A B C …) so that a busy moment of the machine hits all of them; each variant trains its
own copy of the model from the same seed. All variants are warmed up before any is timed. A ratio compares a segment of steps with the
bare segment of the same round; the table shows the median over rounds and [lowest - highest]. netmend's default looks closely only
at some steps; its segments are long enough to hold several of them.

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
import sys
import time
import warnings
from dataclasses import asdict
from pathlib import Path

import overhead_sizes
import torch
from overhead_models import CPU_MODELS, CUDA_MODELS, Training
from overhead_report import Cell, as_markdown
from overhead_variants import VARIANTS, Variant

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

MODELS = CPU_MODELS | CUDA_MODELS
SEED = 20
WARM_UP_STEPS = 12
FEWEST_STEPS = 3
MOST_WARM_UP_SECONDS = 40.0
LONGEST_SEGMENT = 25.0  # seconds


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


def warm_up(variant: Variant, seconds: float, cuda: bool) -> None:
    """Train untimed until nothing happens for the first time any more.

    That is: kernels compiled, algorithms chosen, facts of the first steps recorded, and netmend's allowance for the first
    steps used up, so that what is timed later is what a long run sees.
    """
    begun, steps, pace = time.perf_counter(), 0, 1.0
    while True:
        count = 1 if steps < FEWEST_STEPS else max(1, min(WARM_UP_STEPS, int(1 / pace)))
        pace, _ = segment(variant, count, cuda, settle=False)
        steps += count
        taken = time.perf_counter() - begun
        enough = steps >= WARM_UP_STEPS or (steps >= FEWEST_STEPS and taken > seconds)
        if taken > MOST_WARM_UP_SECONDS or (enough and variant.settled()):
            return


def steps_per_segment(variant: Variant, pace: float, seconds: float, rounds: int) -> int:
    """Enough for the time that was asked for, and for what the variant does only now and then."""
    steps = max(1, int(seconds / rounds / pace))
    period = variant.period()
    if period > 1:
        # Whole periods, so that each segment holds its share of closely observed steps.
        periods = max(2, round(steps / period))
        steps = min(periods * period, max(steps, int(LONGEST_SEGMENT / pace)))
    return steps


def prepare(model: str, cells: list[Cell], seconds: float) -> list[tuple[Cell, Variant]]:
    """All variants, warmed up before any of them is timed."""
    ready = []
    for cell in cells:
        begun = time.perf_counter()
        try:
            variant = VARIANTS[cell.variant](build(model))
            warm_up(variant, seconds, model in CUDA_MODELS)
        except Exception as error:  # noqa: BLE001 - a variant that fails is a result, and the others go on
            cell.problem = f"{type(error).__name__}: {error}"
            print(f"  {model} {cell.variant}: {cell.problem}", file=sys.stderr, flush=True)
            continue
        ready.append((cell, variant))
        taken = time.perf_counter() - begun
        print(f"  {model} {cell.variant}: warm after {taken:.1f} s", file=sys.stderr, flush=True)
    return ready


def measure(model: str, names: list[str], seconds: float, rounds: int) -> list[Cell]:
    cuda = model in CUDA_MODELS
    cells = [Cell(model, name, VARIANTS[name].title) for name in names]
    ready = prepare(model, cells, seconds)
    for cell, variant in ready:
        pace, _ = segment(variant, 1, cuda)
        cell.steps = steps_per_segment(variant, pace, seconds, rounds)
        print(
            f"  {model} {cell.variant}: about {pace * 1e3:.2f} ms per step, segments of {cell.steps}",
            file=sys.stderr,
            flush=True,
        )
    for number in range(rounds):
        for cell, variant in ready:
            if cell.problem or (number and cell.steps == 1 and cell.wall[0] > seconds):
                continue  # so slow that one step is the measurement
            looks = variant.looks()
            try:
                wall, processor = segment(variant, cell.steps, cuda)
            except Exception as error:  # noqa: BLE001
                cell.problem = f"{type(error).__name__}: {error}"
                continue
            cell.wall.append(wall)
            cell.processor.append(processor)
            cell.looks += variant.looks() - looks
    for cell, variant in ready:
        cell.note = variant.note()
        with contextlib.suppress(Exception):
            variant.close()
    return cells


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
        overhead_sizes.child(*options.child, build)
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
        small = [model for model in models if model in CPU_MODELS]
        sizes["memory"] = overhead_sizes.memory(Path(__file__).resolve(), small)
    if options.trace_size:
        sizes["trace"] = overhead_sizes.trace_size(build("mlp"))
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
