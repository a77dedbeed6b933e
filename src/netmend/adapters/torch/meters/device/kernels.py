"""Triton kernels that read whole tensors once: a few activations, or all gradients or weights of a step.

Every kernel leaves one row of partial results per program, and `fold` sums the rows of all tensors at the end of a step; so nothing is
accumulated by atomics and the result does not depend on the order in which programs finish. A row holds ROW numbers (float64), named by
COLUMN_* in rows.py: sum, sum of squares, minimum, maximum, counts. `places` holds four integers per result slot: address and number of
its rows, address and number of its unit flags. It is written by the kernels themselves, which spares the host a table to build and
upload on every step.
"""

# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False
# mypy: disallow-untyped-calls=False, disallow-untyped-decorators=False
# Kernel arguments are typed by Triton at compile time; Python annotations on them would only mislead.

from __future__ import annotations

import triton
import triton.language as tl

ROW: tl.constexpr = tl.constexpr(11)  # numbers per row, see COLUMN_* in rows.py
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


FEW: tl.constexpr = tl.constexpr(8)  # tensors that one launch of scan_few reads
RECORD: tl.constexpr = tl.constexpr(16)  # integers about each of them
SPREAD_SAMPLES: tl.constexpr = tl.constexpr(8)  # as in host_meter: so many samples of a batch are compared


@triton.jit
def _take(
    values, mask, total, squares, low, high, zeros, saturated, low_end, high_end, SATURATION: tl.constexpr
):
    """Values outside the mask were loaded as 0."""
    values = values.to(tl.float32)
    total += values
    squares += values * values
    low = tl.where(mask, tl.minimum(low, values), low)
    high = tl.where(mask, tl.maximum(high, values), high)
    zeros += tl.where(mask & (values == 0.0), 1.0, 0.0)
    if SATURATION:
        saturated += tl.where(mask & ((values <= low_end) | (values >= high_end)), 1.0, 0.0)
    return total, squares, low, high, zeros, saturated


@triton.jit
def _count_odd(values, mask, nonfinite, undefined):
    values = values.to(tl.float32)
    nan = values != values
    infinite = tl.abs(values) == float("inf")
    nonfinite += tl.where(mask & (nan | infinite), 1.0, 0.0)
    undefined += tl.where(mask & nan, 1.0, 0.0)
    return nonfinite, undefined


@triton.jit
def _whole(counts):
    """Sum of counts kept in float32: exact per lane, so only the sum needs integers."""
    return tl.sum(counts.to(tl.int32), 0)


@triton.jit
def _sample_spread(values, row, part, samples, sample_size, positions, position_stride, TILE: tl.constexpr):
    """Squared distance of some samples from their mean, over evenly spaced positions of a sample."""
    position = part * TILE + tl.arange(0, TILE)
    inside = position < positions
    start = values + position.to(tl.int64) * position_stride
    mean = tl.zeros([TILE], tl.float32)
    for sample in tl.static_range(SPREAD_SAMPLES):
        there = inside & (sample < samples)
        mean += tl.load(start + sample_size.to(tl.int64) * sample, mask=there, other=0.0).to(tl.float32)
    mean = mean / samples
    apart = tl.zeros([TILE], tl.float32)
    squares = tl.zeros([TILE], tl.float32)
    for sample in tl.static_range(SPREAD_SAMPLES):
        # The second read comes from the cache: these are a few kilobytes.
        there = inside & (sample < samples)
        value = tl.load(start + sample_size.to(tl.int64) * sample, mask=there, other=0.0).to(tl.float32)
        apart += tl.where(there, (value - mean) * (value - mean), 0.0)
        squares += value * value
    nothing = tl.full([], 0.0, tl.float32)
    infinity = tl.full([], float("inf"), tl.float32)
    store_row(
        row,
        nothing,
        nothing,
        infinity,
        -infinity,
        nothing,
        nothing,
        nothing,
        nothing,
        tl.sum(apart, 0),
        tl.sum(squares, 0),
    )


@triton.jit
def _scan(
    values, row, flags, pid, programs, full_tiles, tail, units, unit_width, low_end, high_end,
    TILE: tl.constexpr, UNITS: tl.constexpr, SATURATION: tl.constexpr,
):  # fmt: skip
    """All values of tiles pid, pid + programs, …: four loads in flight, no mask except on the last few tiles."""
    lane = tl.arange(0, TILE)
    total = tl.zeros([TILE], tl.float32)
    squares = tl.zeros([TILE], tl.float32)
    low = tl.full([TILE], float("inf"), tl.float32)
    high = tl.full([TILE], float("-inf"), tl.float32)
    zeros = tl.zeros([TILE], tl.float32)
    saturated = tl.zeros([TILE], tl.float32)
    stride = programs.to(tl.int64) * TILE
    own_tiles = (full_tiles + (programs - 1 - pid)) // programs
    rounds = own_tiles // 4
    start = values + pid.to(tl.int64) * TILE
    for _ in range(rounds):
        for place in tl.static_range(4):
            four = tl.load(start + place * stride + lane)
            total, squares, low, high, zeros, saturated = _take(
                four, lane < TILE, total, squares, low, high, zeros, saturated, low_end, high_end, SATURATION)  # fmt: skip
        start += 4 * stride
    # Up to three full tiles are left; their masks are the same for all lanes, so the loads stay wide.
    for place in tl.static_range(3):
        there = tl.zeros([TILE], tl.int32) + (own_tiles - rounds * 4) > place
        left = tl.load(start + place * stride + lane, mask=there, other=0.0)
        total, squares, low, high, zeros, saturated = _take(
            left, there, total, squares, low, high, zeros, saturated, low_end, high_end, SATURATION)  # fmt: skip
    last = values + full_tiles.to(tl.int64) * TILE
    if (tail > 0) & (full_tiles % programs == pid):
        rest = tl.load(last + lane, mask=lane < tail, other=0.0)
        total, squares, low, high, zeros, saturated = _take(
            rest, lane < tail, total, squares, low, high, zeros, saturated, low_end, high_end, SATURATION)  # fmt: skip
    if UNITS:  # noqa: SIM102 - this is decided when compiling, the next at run time
        if units > 0:
            # The host chose `programs` so that a lane meets the same unit in every tile of its program. Several
            # lanes may raise the same flag; they all write the same value.
            unit = ((pid * TILE + lane) // unit_width) % units
            tl.store(flags + unit, tl.full([TILE], 1, tl.uint8), mask=high > 0.0)
    sum_of_squares = tl.sum(squares, 0)
    nothing = tl.full([], 0, tl.int32)
    nonfinite_count = nothing
    undefined_count = nothing
    if (sum_of_squares < float("inf")) == 0:
        # Something is not finite (or very large): read again, to count. This happens rarely, so the common path
        # need not test every value.
        nonfinite = tl.zeros([TILE], tl.float32)
        undefined = tl.zeros([TILE], tl.float32)
        start = values + pid.to(tl.int64) * TILE
        for _ in range(own_tiles):
            nonfinite, undefined = _count_odd(tl.load(start + lane), lane < TILE, nonfinite, undefined)
            start += stride
        if (tail > 0) & (full_tiles % programs == pid):
            rest = tl.load(last + lane, mask=lane < tail, other=0.0)
            nonfinite, undefined = _count_odd(rest, lane < tail, nonfinite, undefined)
        nonfinite_count = _whole(nonfinite)
        undefined_count = _whole(undefined)
    saturated_count = nothing
    if SATURATION:
        saturated_count = _whole(saturated)
    store_row(
        row, tl.sum(total, 0), sum_of_squares, tl.min(low, 0), tl.max(high, 0), _whole(zeros), nonfinite_count,
        undefined_count, saturated_count, nothing, nothing,
    )  # fmt: skip


@triton.jit(
    do_not_specialize=[
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "table", "rows", "places", "flags",
        "first_slot", "first_row", "first_flag",
    ]
)  # fmt: skip
def scan_few(
    first, second, third, fourth, fifth, sixth, seventh, eighth, table, rows, places, flags, first_slot, first_row, first_flag,
    DTYPE: tl.constexpr, TILE: tl.constexpr, SPREAD_TILE: tl.constexpr, ALIGNED: tl.constexpr, SATURATION: tl.constexpr,
):  # fmt: skip
    """Statistics of up to eight dense tensors of one dtype, each by as many programs as its layout asks for.

    All arguments but the last ones are addresses or numbers: a new set of tensors in a known layout needs no upload, and the
    launcher no look at tensors. `table` holds FEW records of RECORD integers (see GroupTable), then each program's tensor.
    The programs of a tensor after its first `programs` measure how far its samples lie apart.
    """
    pid = tl.program_id(0)
    table = table.to(tl.pointer_type(tl.int32))
    rows = rows.to(tl.pointer_type(tl.float64))
    places = places.to(tl.pointer_type(tl.int64))
    tensor = tl.load(table + FEW * RECORD + pid)
    record = table + tensor * RECORD
    programs = tl.load(record)
    units = tl.load(record + 3)
    first_program = tl.load(record + 11)
    count = tl.load(record + 12)
    own_flags = flags.to(tl.pointer_type(tl.uint8)) + first_flag + tl.load(record + 13)
    address = tl.where(tensor == 1, second, first)
    address = tl.where(tensor == 2, third, address)
    address = tl.where(tensor == 3, fourth, address)
    address = tl.where(tensor == 4, fifth, address)
    address = tl.where(tensor == 5, sixth, address)
    address = tl.where(tensor == 6, seventh, address)
    address = tl.where(tensor == 7, eighth, address)
    values = address.to(tl.pointer_type(DTYPE))
    if ALIGNED:
        # Saying so makes the loads wide.
        values = tl.multiple_of(tl.multiple_of(address, 16).to(tl.pointer_type(DTYPE)), 16)
    own = pid - first_program
    row = rows + (first_row + pid).to(tl.int64) * ROW_STRIDE
    if own == 0:
        start = rows + (first_row + first_program).to(tl.int64) * ROW_STRIDE
        store_place(places, first_slot + tensor, start, count, own_flags, units)
    if own < programs:
        low_end = tl.load(record + 5).to(tl.float32, bitcast=True)
        high_end = tl.load(record + 6).to(tl.float32, bitcast=True)
        _scan(
            values, row, own_flags, own, programs, tl.load(record + 1), tl.load(record + 2), units, tl.load(record + 4),
            low_end, high_end, TILE, True, SATURATION,
        )  # fmt: skip
    else:
        _sample_spread(
            values, row, own - programs, tl.load(record + 7), tl.load(record + 8), tl.load(record + 9),
            tl.load(record + 10), SPREAD_TILE,
        )  # fmt: skip


@triton.jit(do_not_specialize=["first_slot", "first_row"])
def scan_many(
    addresses, shapes, chunks, rows, places, flags, first_slot, first_row,
    DTYPE: tl.constexpr, TILE: tl.constexpr, CHUNK_TILES: tl.constexpr,
):  # fmt: skip
    """Statistics of many dense tensors of one dtype, a chunk of CHUNK_TILES tiles per program.

    `addresses[i]` is where tensor i lies, `shapes[i]` = (full tiles, tail, its first chunk, its chunks),
    `chunks[program]` = (tensor, chunk within it).
    """
    pid = tl.program_id(0)
    tensor = tl.load(chunks + pid * 2)
    chunk = tl.load(chunks + pid * 2 + 1)
    full_tiles = tl.load(shapes + tensor * 4)
    tail = tl.load(shapes + tensor * 4 + 1)
    first_chunk = tl.load(shapes + tensor * 4 + 2)
    count = tl.load(shapes + tensor * 4 + 3)
    # The host admits only addresses that are multiples of 16; saying so makes the loads wide.
    address = tl.multiple_of(tl.load(addresses + tensor), 16)
    values = tl.multiple_of(address.to(tl.pointer_type(DTYPE)), 16)
    if chunk == 0:
        start = rows + (first_row + first_chunk).to(tl.int64) * ROW_STRIDE
        store_place(places, first_slot + tensor, start, count, flags, count * 0)
    own_first = chunk * CHUNK_TILES
    own_full = tl.minimum(tl.maximum(full_tiles - own_first, 0), CHUNK_TILES)
    own_tail = tl.where(chunk == count - 1, tail, 0)
    row = rows + (first_row + pid).to(tl.int64) * ROW_STRIDE
    _scan(
        values + own_first.to(tl.int64) * TILE, row, flags, pid * 0, count * 0 + 1, own_full, own_tail,
        count, count, 0.0, 0.0, TILE, False, False,
    )  # fmt: skip


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
