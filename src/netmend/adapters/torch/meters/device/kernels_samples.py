"""Triton kernels that keep evenly spaced elements of many tensors, and compare later values with them."""

# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False
# mypy: disallow-untyped-calls=False, disallow-untyped-decorators=False
# Kernel arguments are typed by Triton at compile time; Python annotations on them would only mislead.

from __future__ import annotations

import triton
import triton.language as tl

from netmend.adapters.torch.meters.device.kernels_rows import ROW_STRIDE, store_place, store_row


@triton.jit
def keep_samples(addresses, kept, shapes, chunks, DTYPE: tl.constexpr, BLOCK: tl.constexpr):
    """Copy evenly spaced elements of many tensors. `shapes[i]` = (stride, samples, first chunk, chunks)."""
    pid = tl.program_id(0)
    tensor = tl.load(chunks + pid * 2)
    chunk = tl.load(chunks + pid * 2 + 1)
    stride = tl.load(shapes + tensor * 4)
    samples = tl.load(shapes + tensor * 4 + 1)
    source = tl.load(addresses + tensor).to(tl.pointer_type(DTYPE))
    target = tl.load(kept + tensor).to(tl.pointer_type(tl.float32))
    index = chunk * BLOCK + tl.arange(0, BLOCK)
    inside = index < samples
    value = tl.load(source + index.to(tl.int64) * stride, mask=inside)
    tl.store(target + index, value.to(tl.float32), mask=inside)


@triton.jit(do_not_specialize=["first_slot", "first_row"])
def compare_samples(
    addresses, kept, shapes, chunks, rows, places, flags, first_slot, first_row,
    DTYPE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Sum of squared changes, of squared kept values, largest change, unchanged elements, against kept samples."""
    pid = tl.program_id(0)
    tensor = tl.load(chunks + pid * 2)
    chunk = tl.load(chunks + pid * 2 + 1)
    stride = tl.load(shapes + tensor * 4)
    samples = tl.load(shapes + tensor * 4 + 1)
    first_chunk = tl.load(shapes + tensor * 4 + 2)
    count = tl.load(shapes + tensor * 4 + 3)
    if chunk == 0:
        start = rows + (first_row + first_chunk).to(tl.int64) * ROW_STRIDE
        store_place(places, first_slot + tensor, start, count, flags, count * 0)
    source = tl.load(addresses + tensor).to(tl.pointer_type(DTYPE))
    target = tl.load(kept + tensor).to(tl.pointer_type(tl.float32))
    index = chunk * BLOCK + tl.arange(0, BLOCK)
    inside = index < samples
    value = tl.load(source + index.to(tl.int64) * stride, mask=inside, other=0.0).to(tl.float32)
    before = tl.load(target + index, mask=inside, other=0.0)
    change = value - before
    unchanged = tl.sum((inside & (change == 0.0)).to(tl.int32), 0)
    nothing = tl.full([], 0.0, tl.float32)
    row = rows + (first_row + pid).to(tl.int64) * ROW_STRIDE
    store_row(
        row, tl.sum(change * change, 0), tl.sum(before * before, 0), nothing, tl.max(tl.abs(change), 0), unchanged,
        nothing, nothing, nothing, nothing, nothing,
    )  # fmt: skip
