"""Peak memory of the repair of one block, against plain inference plus that block's gradients and optimiser state."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from mend_language_model import build, device_of

from netmend.mend.torch.language.blocks import blocks_of
from netmend.mend.torch.language.descent import METHODS, Method
from netmend.mend.torch.language.loop import Budget, mend
from netmend.mend.torch.language.memory_plan import Shape, free_memory, plan
from netmend.mend.torch.language.passes import Passes
from netmend.mend.torch.language.rows import Data, Pair, Row

BAR = 1.3
POSITIONS = 64  # logits at once
RUNS = ("irepair_fixed", "irepair_fixed_kl", "irepair", "irepair_kl", "nearest_max", "dapt_kl", "dpo")


def measure_memory(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Lines of the study, one for each method and type of weights; sizes are GPT-2-small's with its whole vocabulary."""
    device = device_of(options)
    rows, length, vocabulary = (8, 192, 50257) if not options.tiny else (2, 24, 300)
    for dtype in (torch.bfloat16, torch.float32):
        model = build(options.sizes, vocabulary, 0).to(device, dtype).eval()
        yield from _of_model(model, dtype, device, _data(rows, length, vocabulary), rows)


def _of_model(
    model: Any, dtype: torch.dtype, device: torch.device, data: Data, rows: int
) -> Iterator[dict[str, Any]]:
    blocks = blocks_of(model)
    ids = torch.tensor([row.ids for row in data.guard[:rows]], device=device)
    inference = _peak(device, torch.no_grad()(lambda: model(input_ids=ids).logits))
    if device.type == "cuda":
        free = free_memory([device]) + sum(one.numel() for one in model.parameters()) * dtype.itemsize
        print("\n".join(plan(Shape.of(model), rows, ids.shape[1], 4 * rows, free, one_block=True).lines()))
    block = blocks[0].elements
    # RMSProp keeps one number of 32 bits for each weight, and the exact value where weights have fewer bits.
    extra = block * (torch.finfo(dtype).bits // 8 + (4 if dtype is torch.float32 else 8)) / 2**20
    for name in RUNS:
        low = METHODS[name].choice != "all"
        passes = Passes(model, blocks, recompute=low, positions=POSITIONS if low else 0)
        budget = Budget(
            steps=4, rate=1e-6, batch=rows, guard_batch=rows, validate_every=4, reference_tokens=64,
            look_batch=rows, keep_on="cpu" if low else None,
        )  # fmt: skip
        method = replace(METHODS[name], line=False)

        def run(passes: Passes = passes, method: Method = method, budget: Budget = budget) -> None:
            mend(passes, data, method, budget, 0, judge=lambda: 1.0).originals.put({})

        peak = _peak(device, run)
        ratio = None if peak is None or inference is None else peak / (inference + extra)
        yield {
            "method": name, "rate": 0.0, "weights": str(dtype).removeprefix("torch."), "tokens": ids.numel(),
            "parameters": sum(one.numel() for one in model.parameters()), "inference_mib": inference,
            "block_state_mib": extra, "peak_mib": peak, "ratio": ratio, "one_block": low,
            "within": None if ratio is None else ratio <= BAR,
        }  # fmt: skip


def _data(rows: int, length: int, vocabulary: int) -> Data:
    generator = torch.Generator().manual_seed(0)
    made = torch.randint(0, vocabulary, (4 * rows, length), generator=generator).tolist()
    texts = [Row(tuple(one)) for one in made]
    half = length // 2
    pairs = []
    for one in made:
        other = [*one[:half], *((token + 1) % vocabulary for token in one[half:])]
        pairs.append(Pair(Row(tuple(one), half), Row(tuple(other), half)))
    return Data(pairs, texts, pairs[:rows], texts[:rows])


def _peak(device: torch.device, run: Callable[[], Any]) -> float | None:
    if device.type != "cuda":
        run()
        return None
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    run()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() / 2**20
