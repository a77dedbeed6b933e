"""How much memory a repair will need, told before it begins, and the choices that follow."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch

from netmend.mend.torch.language.blocks import blocks_of

# Numbers a block keeps for its backward pass, per token and unit of width: inputs of its norms, projections, attention and
# the four times wider inner layer, before and after its activation.
KEPT_PER_WIDTH = 18
LOGIT_COPIES = 4  # logits in 32 bits, their softmax, its gradient and the gradient in the head's type


@dataclass(frozen=True)
class Shape:
    """Counts of a model; `width_bytes` is the size of one weight."""

    parameters: int
    block: int  # of the largest block
    blocks: int
    width: int
    vocabulary: int
    width_bytes: int

    @staticmethod
    def of(model: Any, dtype: torch.dtype | None = None) -> Shape:
        blocks = blocks_of(model)
        counts = [block.elements for block in blocks]
        vocabulary, width = model.get_input_embeddings().weight.shape
        kind = dtype or next(iter(blocks[0].parameters.values())).dtype
        total = sum(one.numel() for one in model.parameters())
        return Shape(total, max(counts), len(counts), width, vocabulary, torch.finfo(kind).bits // 8)


@dataclass(frozen=True)
class Plan:
    """Choices, and bytes on the device by what they are for."""

    one_block: bool
    recompute: bool
    positions: int
    reference: str
    keep_on: str | None
    needs: dict[str, int]
    free: int

    @property
    def total(self) -> int:
        return sum(self.needs.values())

    @property
    def fits(self) -> bool:
        return self.total <= 0.92 * self.free  # the allocator's own losses

    def lines(self) -> Iterable[str]:
        learn = "one block at a time" if self.one_block else "all blocks at once"
        yield f"memory for a repair of {learn}: {_size(self.total)} of {_size(self.free)} free" + (
            "" if self.fits else " - does not fit"
        )
        for name, count in self.needs.items():
            yield f"  {name}: {_size(count)}"
        yield "  blocks recomputed in the backward pass: " + ("yes" if self.recompute else "no")
        yield f"  logits at once: {self.positions or 'all places'}; reference {self.reference}; " + (
            f"originals and resting state on {self.keep_on}" if self.keep_on else "all copies on the device"
        )


def plan(
    shape: Shape, rows: int, length: int, texts: int, free: int, one_block: bool, reference_tokens: int = 64
) -> Plan:
    """The fastest way that fits; where none does, the most sparing one.

    `rows` of `length` tokens make a batch; `texts` rows have their reference kept.
    """
    wide = shape.width_bytes
    tokens, learning = rows * length, shape.block * (1 if one_block else shape.blocks)
    state = shape.block * (4 if wide == 4 else 8)
    arithmetic = min(wide, 2) if wide < 4 else 4
    found: list[Plan] = []
    for recompute, positions, reference, away in (
        (False, 0, "cached", False), (True, 0, "cached", False), (True, 128, "cached", False),
        (True, 128, "cached", True), (True, 128, "recomputed", True),
    ):  # fmt: skip
        inner = tokens * shape.width * arithmetic * KEPT_PER_WIDTH
        stored = (
            inner + shape.blocks * tokens * shape.width * arithmetic if recompute else inner * shape.blocks
        )
        known = texts * length * reference_tokens * 8 if reference == "cached" and not away else 0
        # The repaired values that were best so far, and the original ones, of all blocks that may have been touched.
        copies = 0 if away else 2 * shape.block * shape.blocks * wide
        needs = {
            "weights": shape.parameters * wide,
            "gradients": learning * wide,
            "optimiser state": state * (1 if away else shape.blocks),  # in time any block may be chosen
            "activations": stored,
            "logits": min(positions or tokens, tokens) * shape.vocabulary * (wide + 4 * (LOGIT_COPIES - 1)),
            "copies and reference": copies + known,
        }
        found.append(Plan(one_block, recompute, positions, reference, "cpu" if away else None, needs, free))
        if found[-1].fits:
            break
    return found[-1]


def free_memory(devices: Iterable[torch.device]) -> int:
    """Bytes that are free on the accelerators that hold a model, or else in the machine."""
    held = {device for device in devices if device.type == "cuda"}
    if held:
        return sum(torch.cuda.mem_get_info(device)[0] for device in held)
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 8 * 2**30  # a guess for systems that do not tell


def _size(count: int) -> str:
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"
