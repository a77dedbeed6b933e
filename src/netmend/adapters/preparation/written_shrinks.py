"""Lines that make pictures and recordings smaller: resized, cropped, resampled, cut to a length; with the numbers of this run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from netmend.adapters.preparation.written_cuts import (
    Reader,
    Source,
    above_of,
    is_shown,
    last_name,
    parting_bounds,
    site_of,
    splits_rows,
)
from netmend.vocabulary import Site

# From the numbers of a file and its rate: what the line leaves of them; None where it does not apply.
Shrink = Callable[[Any, int], Any]
RESIZE, CROP, RATE, LENGTH = "resize", "crop", "rate", "length"
_AVERAGING = (
    "INTER_AREA",
    "LANCZOS",
    "BICUBIC",
    "BILINEAR",
    "HAMMING",
    "BOX",
    "ANTIALIAS",
)  # of PIL; of OpenCV the first alone
_LEAST_FACTOR = 1.5
_SHORTEST = 64  # samples of a recording that a slice keeps


@dataclass(frozen=True)
class Shrinking:
    """One line that leaves less of a picture or a recording."""

    site: Site
    kind: str
    words: str  # what is kept, for people
    leaves: Shrink
    better: Shrink | None = None  # what the library's other way would leave
    is_sound: bool = False


def written_shrinks(sources: Sequence[Source]) -> Iterator[Shrinking]:
    for source in sources:
        above = above_of(source.tree)
        reader = Reader(source, sources, above)
        parting = parting_bounds(source.tree)
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Call):
                yield from _of_call(source, reader, node)
                continue
            if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
                continue
            if not is_shown(node, above) and not splits_rows(node, parting):
                yield from _of_slice(source, reader, node)


def _argument(call: ast.Call, place: int, *names: str) -> ast.expr | None:
    named = next((word.value for word in call.keywords if word.arg in names), None)
    return named or (call.args[place] if 0 <= place < len(call.args) else None)


def _pair(reader: Reader, node: ast.expr | None, place: ast.AST) -> tuple[int, int] | None:
    """Two whole numbers, or one for both."""
    if isinstance(node, ast.Name):
        node = reader.written(node.id, place) or node
    if isinstance(node, ast.Tuple | ast.List) and len(node.elts) == 2:
        one, other = (reader.number(part, place) for part in node.elts)
        return (one, other) if one and other else None
    both = reader.number(node, place) if node is not None else None
    return (both, both) if both else None


def _of_call(source: Source, reader: Reader, call: ast.Call) -> Iterator[Shrinking]:
    name, site = last_name(call.func), site_of(source, call)
    owner = last_name(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    if name == "resize" and owner == "cv2":
        size = _pair(reader, _argument(call, 1, "dsize"), call)
        mode = _argument(call, 5, "interpolation")
        how = last_name(mode) if mode is not None else "INTER_LINEAR"
        factor = _number(_argument(call, 3, "fx"))
        if how != "INTER_AREA" and (size is not None or factor is not None):
            yield _sampled(site, size[::-1] if size is not None else factor or 1.0, how == "INTER_NEAREST")
    elif name in ("resize", "thumbnail"):
        size, mode = _pair(reader, _argument(call, 0, "size"), call), _argument(call, 1, "resample")
        if size is not None and mode is not None and last_name(mode) in ("NEAREST", "INTER_NEAREST"):
            yield _sampled(site, size[::-1], nearest=True)
    elif name == "interpolate":
        size, mode = _pair(reader, _argument(call, 1, "size"), call), _argument(call, 3, "mode")
        how = str(mode.value) if isinstance(mode, ast.Constant) else "nearest"
        factor = _number(_argument(call, 2, "scale_factor"))
        is_smooth = how not in ("nearest", "bilinear") or _argument(call, 6, "antialias") is not None
        if not is_smooth and (size is not None or factor is not None):
            yield _sampled(site, size or factor or 1.0, how == "nearest")
    elif name == "zoom":
        factor, order = _number(_argument(call, 1, "zoom")), _number(_argument(call, 3, "order"))
        if factor is not None and order in (0, 1):
            yield _sampled(site, factor, order == 0)
    elif "mel" in name.lower() or "mfcc" in name.lower():
        highest = _number(_argument(call, -1, "fmax", "f_max"))
        if highest:
            yield Shrinking(
                site,
                RATE,
                f"only frequencies below {highest / 1000:g} kHz",
                _below(int(2 * highest)),
                is_sound=True,
            )
    elif name in ("CenterCrop", "center_crop", "centre_crop"):
        size = _pair(
            reader, _argument(call, 0 if name == "CenterCrop" else 1, "size", "height", "output_size"), call
        )
        if size is not None:
            yield _centred(site, size)
    elif name == "crop":
        yield from _of_crop(reader, call, site)
    elif (
        name in ("load", "read")
        and (frames := _argument(call, -1, "num_frames", "frames", "duration")) is not None
    ):
        seconds, count = (
            (_number(frames), None)
            if name == "load" and owner == "librosa"
            else (None, reader.number(frames, call))
        )
        if seconds or count:
            words = f"the first {seconds:g} seconds" if seconds else f"the first {count} samples"
            yield Shrinking(
                site,
                LENGTH,
                f"only {words}",
                lambda x, rate: x[: count or int((seconds or 0) * rate)],
                is_sound=True,
            )
    elif name in ("resample_poly", "resample", "Resample", "load"):
        rate = _rate(reader, call, name, owner)
        if rate is not None and 500 <= rate <= 200_000:
            yield Shrinking(
                site, RATE, f"only frequencies below {rate / 2000:g} kHz", _below(rate), is_sound=True
            )
    elif name == "decimate":
        factor = reader.number(_argument(call, 1, "q"), call)
        if factor:
            yield Shrinking(
                site, RATE, f"only one sample in {factor}", lambda x, rate: _low(x, 1 / factor), is_sound=True
            )


def _rate(reader: Reader, call: ast.Call, name: str, owner: str) -> int | None:
    """To how many samples a second a recording is brought."""
    if name == "load":
        is_librosa = owner == "librosa"
        given = _argument(call, 1, "sr")
        return (reader.number(given, call) if given is not None else 22050) if is_librosa else None
    named = next((word.value for word in call.keywords if word.arg in ("target_sr", "new_freq", "up")), None)
    places = {"resample_poly": (1,), "Resample": (1,), "resample": (2, 1)}[name]
    candidates = [named, *(call.args[place] for place in places if place < len(call.args))]
    return next(
        (rate for node in candidates if node is not None and (rate := reader.number(node, call))), None
    )


def _of_slice(source: Source, reader: Reader, node: ast.Subscript) -> Iterator[Shrinking]:
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    parts = [part for part in parts if not (isinstance(part, ast.Constant) and part.value is Ellipsis)]
    if not parts or not all(isinstance(part, ast.Slice) for part in parts):
        return
    site = site_of(source, node)
    sizes = [_middle(reader, part.lower, part.upper, node) for part in parts if isinstance(part, ast.Slice)][
        -2:
    ]
    if len(sizes) == 2 and all(sizes):
        yield _centred(site, (sizes[0] or 0, sizes[1] or 0))
        return
    bounds = [_bounds(reader, part, node) for part in parts if isinstance(part, ast.Slice)]
    if any(bound is None for bound in bounds) or all(bound == slice(None) for bound in bounds):
        return
    slices = tuple(bound for bound in bounds if isinstance(bound, slice))
    along, is_of_time = slices[-1], all(part == slice(None) for part in slices[:-1])
    if is_of_time and along.step is None and abs(along.stop or along.start or 0) >= _SHORTEST:
        length = abs(along.stop or along.start or 0)
        where = "first" if along.start is None else "last" if along.stop is None else "chosen"
        yield Shrinking(
            site, LENGTH, f"only the {where} {length} samples", lambda x, rate: x[along], is_sound=True
        )
    if len(slices) == 1:
        return
    axes = slices[-2:]
    steps = [part.step for part in axes if part.step not in (None, -1)]
    if steps:
        size = max(abs(step) for step in steps)
        yield Shrinking(
            site,
            RESIZE,
            f"only every {size}th pixel",
            lambda x, rate: x[axes],
            lambda x, rate: _averaged(x, x[axes].shape[:2]),
        )
    elif all(part.step is None for part in axes):
        yield Shrinking(site, CROP, f"only `[{ast.unparse(node.slice)}]`", lambda x, rate: x[axes])


def _number(node: ast.expr | None) -> float | None:
    return (
        float(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, int | float) else None
    )


def _of_crop(reader: Reader, call: ast.Call, site: Site) -> Iterator[Shrinking]:
    """`picture.crop((left, top, right, lower))` in the middle, or at constant places."""
    box = call.args[0] if len(call.args) == 1 else None
    if not isinstance(box, ast.Tuple | ast.List) or len(box.elts) != 4:
        return
    left, top, right, lower = box.elts
    across, down = _middle(reader, left, right, call), _middle(reader, top, lower, call)
    if across and down:
        yield _centred(site, (down, across))
        return
    places = [reader.number(part, call) for part in box.elts]
    if None not in places:
        x1, y1, x2, y2 = places
        yield Shrinking(site, CROP, f"only {ast.unparse(box)}", lambda x, rate: x[y1:y2, x1:x2])


def _middle(reader: Reader, lower: ast.expr | None, upper: ast.expr | None, place: ast.AST) -> int | None:
    """How much is kept from a place that lies half of the rest away: `top : top + 40`."""
    if not isinstance(upper, ast.BinOp) or not isinstance(upper.op, ast.Add) or lower is None:
        return None
    if ast.dump(upper.left) != ast.dump(lower):
        return None
    begins = (reader.written(lower.id, place) or lower) if isinstance(lower, ast.Name) else lower
    is_half = any(
        isinstance(part, ast.BinOp)
        and isinstance(part.op, ast.FloorDiv | ast.Div)
        and isinstance(part.right, ast.Constant)
        and part.right.value == 2
        for part in ast.walk(begins)
    )
    return reader.number(upper.right, place) if is_half else None


def _bounds(reader: Reader, part: ast.Slice, node: ast.AST) -> slice | None:
    found = []
    for bound in (part.lower, part.upper, part.step):
        sign = -1 if isinstance(bound, ast.UnaryOp) and isinstance(bound.op, ast.USub) else 1
        inner = bound.operand if sign < 0 and isinstance(bound, ast.UnaryOp) else bound
        number = reader.number(inner, node) if inner is not None else None
        if inner is not None and number is None:
            return None
        found.append(None if number is None else sign * number)
    return slice(*found)


def _sampled(site: Site, wanted: tuple[int, int] | float, nearest: bool) -> Shrinking:
    """Resized, to a size or by a factor, by looking at single pixels."""

    def size_of(pixels: Any) -> tuple[int, int]:
        if isinstance(wanted, tuple):
            return wanted
        return max(2, round(pixels.shape[0] * wanted)), max(2, round(pixels.shape[1] * wanted))

    def leaves(pixels: Any, rate: int) -> Any:
        size = size_of(pixels)
        if min(pixels.shape[0] / size[0], pixels.shape[1] / size[1]) < _LEAST_FACTOR:
            return None
        return _looked_at(pixels, size, nearest)

    words = f"{wanted[1]} × {wanted[0]}" if isinstance(wanted, tuple) else f"{wanted:g} of all"
    return Shrinking(
        site, RESIZE, f"only {words} single pixels", leaves, lambda x, rate: _averaged(x, size_of(x))
    )


def _looked_at(pixels: Any, size: tuple[int, int], nearest: bool) -> Any:
    places = [
        (np.arange(new) + 0.5) * old / new - (0 if nearest else 0.5)
        for new, old in zip(size, pixels.shape, strict=False)
    ]
    if nearest:
        return pixels[
            np.ix_(
                *(
                    np.minimum(place.astype(int), old - 1)
                    for place, old in zip(places, pixels.shape, strict=False)
                )
            )
        ]
    low = [
        np.clip(np.floor(place).astype(int), 0, old - 2)
        for place, old in zip(places, pixels.shape, strict=False)
    ]
    share = [np.clip(place - below, 0, 1) for place, below in zip(places, low, strict=True)]
    down = share[0].reshape(-1, 1, *[1] * (pixels.ndim - 2))
    across = share[1].reshape(1, -1, *[1] * (pixels.ndim - 2))
    above = pixels[np.ix_(low[0], low[1])] * (1 - across) + pixels[np.ix_(low[0], low[1] + 1)] * across
    below = (
        pixels[np.ix_(low[0] + 1, low[1])] * (1 - across) + pixels[np.ix_(low[0] + 1, low[1] + 1)] * across
    )
    return above * (1 - down) + below * down


def _averaged(pixels: Any, size: tuple[int, int]) -> Any:
    """Each new pixel is the mean of all it stands for."""
    for axis, new in enumerate(size[:2]):
        edges = np.linspace(0, pixels.shape[axis], new + 1).astype(int)[:-1]
        counts = np.diff(np.append(edges, pixels.shape[axis]))
        sums = np.add.reduceat(pixels, edges, axis=axis)
        pixels = sums / counts.reshape([-1 if place == axis else 1 for place in range(pixels.ndim)])
    return pixels


def _centred(site: Site, size: tuple[int, int]) -> Shrinking:
    def leaves(pixels: Any, rate: int) -> Any:
        top, left = (max(0, (old - new) // 2) for old, new in zip(pixels.shape[:2], size, strict=True))
        return pixels[top : top + size[0], left : left + size[1]]

    return Shrinking(site, CROP, f"only {size[1]} × {size[0]} pixels in the middle", leaves)


def _below(new: int) -> Shrink:
    return lambda samples, rate: None if new >= rate else _low(samples, new / rate)


def _low(samples: Any, share: float) -> Any:
    """What is left of a recording at so much of its rate."""
    spectrum = np.fft.rfft(samples)
    kept = max(2, int(len(spectrum) * share))
    return np.fft.irfft(spectrum[:kept], 2 * (kept - 1)) * share
