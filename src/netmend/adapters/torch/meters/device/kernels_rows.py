"""Rows of partial results on the device: how kernels write them, and the kernel that folds them at the end of a step.

A row holds ROW numbers (float64), named by COLUMN_* in device_rows: sum, sum of squares, minimum, maximum, counts.
`places` holds four integers per result slot: address and number of its rows, address and number of its unit flags.
It is written by the kernels themselves, which spares the host a table to build and upload on every step.
"""

# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False
# mypy: disallow-untyped-calls=False, disallow-untyped-decorators=False
# Kernel arguments are typed by Triton at compile time; Python annotations on them would only mislead.

from __future__ import annotations

import triton
import triton.language as tl

ROW: tl.constexpr = tl.constexpr(11)  # numbers per row, see COLUMN_* in device_rows
ROW_STRIDE: tl.constexpr = tl.constexpr(
    16
)  # rows are padded to a power of two, so that a block of them is one load


@triton.jit
def store_row(row, total, squares, low, high, zeros, nonfinite, undefined, saturated, spread, compared):
    tl.store(row, total.to(tl.float64))
    tl.store(row + 1, squares.to(tl.float64))
    tl.store(row + 2, low.to(tl.float64))
    tl.store(row + 3, high.to(tl.float64))
    tl.store(row + 4, zeros.to(tl.float64))
    tl.store(row + 5, nonfinite.to(tl.float64))
    tl.store(row + 6, undefined.to(tl.float64))
    tl.store(row + 7, saturated.to(tl.float64))
    tl.store(row + 8, spread.to(tl.float64))
    tl.store(row + 9, compared.to(tl.float64))
    tl.store(row + 10, 0.0)  # where fold puts the number of silent units


@triton.jit
def store_place(places, slot, rows, count, flags, units):
    place = places + slot * 4
    tl.store(place, rows.to(tl.int64, bitcast=True))
    tl.store(place + 1, count.to(tl.int64))
    tl.store(place + 2, flags.to(tl.int64, bitcast=True))
    tl.store(place + 3, units.to(tl.int64))


@triton.jit
def fold(places, results, BLOCK: tl.constexpr, FLAG_BLOCK: tl.constexpr):
    """Reduce the rows of one slot to one row of results; the last number is the count of units never raised."""
    slot = tl.program_id(0)
    count = tl.load(places + slot * 4 + 1)
    column = tl.arange(0, ROW_STRIDE)
    if count > 0:
        rows = tl.load(places + slot * 4).to(tl.pointer_type(tl.float64))
        total = tl.zeros([ROW_STRIDE], tl.float64)
        low = tl.full([ROW_STRIDE], float("inf"), tl.float64)
        high = tl.full([ROW_STRIDE], float("-inf"), tl.float64)
        for start in range(0, count, BLOCK):
            index = start + tl.arange(0, BLOCK)
            mask = (index < count)[:, None] & (column < ROW)[None, :]
            block = tl.load(rows + index[:, None] * ROW_STRIDE + column[None, :], mask=mask, other=0.0)
            total += tl.sum(block, 0)
            low = tl.minimum(low, tl.min(tl.where(mask, block, float("inf")), 0))
            high = tl.maximum(high, tl.max(tl.where(mask, block, float("-inf")), 0))
        units = tl.load(places + slot * 4 + 3)
        flags = tl.load(places + slot * 4 + 2).to(tl.pointer_type(tl.uint8))
        silent = tl.zeros([FLAG_BLOCK], tl.int32)
        for start in range(0, units, FLAG_BLOCK):
            unit = start + tl.arange(0, FLAG_BLOCK)
            raised = tl.load(flags + unit, mask=unit < units, other=1)
            silent += (raised == 0).to(tl.int32)
        result = tl.where(column == 2, low, tl.where(column == 3, high, total))
        result = tl.where(column == ROW - 1, tl.sum(silent, 0).to(tl.float64), result)
        tl.store(results + slot * ROW + column, result, mask=column < ROW)
