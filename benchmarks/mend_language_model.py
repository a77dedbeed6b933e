"""The model of the study of language models: its shape, and its training from scratch on made text."""

from __future__ import annotations

import argparse
import math
import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from mend_language_text import Words
from mend_language_worlds import WORLDS, World
from torch.nn import functional


@dataclass(frozen=True)
class Sizes:
    """How large the model, its training, the repairs and the tests are."""

    layers: int
    width: int
    heads: int
    rows: int  # of a training batch
    length: int
    tokens: float
    rate: float
    steps: int  # of a repair
    batch: int
    validate_every: int
    tested: int  # prompts of each kind

    @staticmethod
    def of(options: argparse.Namespace) -> Sizes:
        if options.tiny:
            return Sizes(2, 32, 2, 16, 64, min(options.tokens, 30e3), 3e-3, options.steps or 4, 4, 2, 16)
        return Sizes(12, 768, 12, 128, 128, options.tokens, 6e-4, options.steps or 160, 16, 10, 384)


def build(sizes: Sizes, vocabulary: int, seed: int) -> Any:
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(seed)
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=vocabulary, n_positions=256, n_embd=sizes.width, n_layer=sizes.layers, n_head=sizes.heads,
            resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=1, eos_token_id=1, use_cache=False,
            attn_implementation="sdpa",
        )
    )  # fmt: skip


def vocabulary_size(world: World, words: Words) -> int:
    """All words, also those of sentences that have not been made yet, rounded up for the matrix units."""
    world.grammar(words, 0).documents(1000)
    return math.ceil(len(words.names) / 64) * 64


def device_of(options: argparse.Namespace) -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() and not options.tiny else "cpu")


def trained(options: argparse.Namespace, seed: int) -> Path:
    """The folder of the model of this seed; it is trained now if it is not there."""
    sizes: Sizes = options.sizes
    size = "tiny" if options.tiny else "small"
    folder: Path = options.work / f"{options.world}-{size}-{sizes.tokens:.0f}-{seed}"
    if (folder / "done").is_file():
        return folder
    device = device_of(options)
    world = WORLDS[options.world]
    words = world.words()
    model = build(sizes, vocabulary_size(world, words), seed).to(device)
    grammar = world.grammar(words, 1000 + seed)
    steps = max(1, round(sizes.tokens / (sizes.rows * sizes.length)))
    optimiser = torch.optim.AdamW(
        model.parameters(), lr=sizes.rate, betas=(0.9, 0.95), weight_decay=0.1, fused=device.type == "cuda"
    )
    warm = max(1, steps // 20)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda at: min((at + 1) / warm, 0.1 + 0.45 * (1 + math.cos(math.pi * at / steps)))
    )
    run = torch.compile(model) if options.compile else model
    started, chunk, ahead = time.perf_counter(), torch.empty(0), 32
    for step in range(steps):
        if step % ahead == 0:
            chunk = torch.from_numpy(grammar.stream(sizes.rows * ahead, sizes.length)).to(device)
        ids = chunk[step % ahead * sizes.rows :][: sizes.rows]
        with torch.autocast("cuda", torch.bfloat16) if device.type == "cuda" else nullcontext():
            logits = run(input_ids=ids).logits
        loss = functional.cross_entropy(logits[:, :-1].flatten(0, 1).float(), ids[:, 1:].flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        optimiser.zero_grad(set_to_none=True)
        if step % 100 == 0 or step == steps - 1:
            seconds = time.perf_counter() - started
            rate = (step + 1) * sizes.rows * sizes.length / seconds
            print(
                f"train seed={seed} step={step}/{steps} loss={float(loss.detach()):.4f} seconds={seconds:.0f} tokens/s={rate:.0f}",
                flush=True,
            )
    model.save_pretrained(folder)
    (folder / "done").write_text(f"{time.perf_counter() - started:.1f}\n")
    return folder
