"""The safetensors format, read strictly: a length, a JSON header, then the plain bits of all tensors.

Read here rather than by its library because values are needed as bits in every type (numpy has no bfloat16), because a
changed model should keep its header byte for byte, and because files of others deserve checks of our own. Nothing in
such a file can be executed; what is checked is that it cannot make us read or reserve what is not there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from netmend.errors import UsageError
from netmend.mend.weights import WIDTHS, Bits, bits_type, plain_bytes

MOST_HEADER_BYTES = 100_000_000  # the limit of the safetensors library, too
_MOST_NAME = 1_000
_MOST_DIMENSIONS = 64
_PICKLES = (b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


@dataclass(frozen=True)
class Stored:
    """One tensor in a file: its type and shape, and where its bits lie, counted from the start of the file."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int

    @property
    def size(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class Contents:
    """The header of a file."""

    path: Path
    tensors: Mapping[str, Stored]
    metadata: Mapping[str, str]

    def map(self) -> Bits:
        """All bytes of the file, read when they are looked at."""
        if self.path.stat().st_size == 0:
            return np.empty(0, dtype="<u1")
        return np.memmap(self.path, dtype="<u1", mode="r")

    def bits(self, name: str, held: Bits) -> Bits:
        """The bits of one tensor out of the bytes of the file."""
        one = self.tensors[name]
        found: Bits = held[one.begin : one.end].view(bits_type(one.dtype))
        return found


def read_contents(path: Path, most: int = MOST_HEADER_BYTES) -> Contents:
    """The header, after every check that can be made without reading the values."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            start = file.read(8)
            if start.startswith(_PICKLES):
                raise UsageError(
                    f"{path} is a pickle or zip file, not safetensors; it could run code when opened, so it was not. "
                    "Give a .safetensors file"
                )
            length = int.from_bytes(start, "little")
            if len(start) < 8 or length < 2:
                raise _broken(path, f"it has {size} bytes and no header")
            if length > most:
                raise _broken(path, f"its header claims {length:,} bytes; at most {most:,} are read")
            if 8 + length > size:
                raise _broken(path, f"its header claims {length:,} bytes, the file has {size:,}: cut off?")
            text = file.read(length)
    except OSError as problem:
        raise UsageError(f"{path} cannot be read: {problem.strerror or problem}") from None
    return _contents(path, text, 8 + length, size)


def _contents(path: Path, text: bytes, start: int, size: int) -> Contents:
    try:
        header = json.loads(text.decode("utf-8"), object_pairs_hook=_without_repetition)
    except (ValueError, RecursionError) as problem:
        reason = str(problem) if isinstance(problem, _Repeated) else "its header is not JSON"
        raise _broken(path, reason) from None
    if not isinstance(header, dict):
        raise _broken(path, "its header is not a JSON object")
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise _broken(path, "its metadata must be texts by name")
    tensors = {name: _stored(path, name, entry, start) for name, entry in header.items()}
    reached = start
    for name, one in sorted(tensors.items(), key=lambda item: (item[1].begin, item[1].end)):
        if one.begin != reached:
            raise _broken(path, f"the bits of {name} do not begin where the tensor before ends")
        reached = one.end
    if reached != size:
        raise _broken(path, f"its tensors need {reached:,} bytes, the file has {size:,}: cut off?")
    return Contents(path, tensors, metadata)


def _stored(path: Path, name: str, entry: Any, start: int) -> Stored:
    refuse_bad_name(name, str(path))
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise _broken(path, f"the entry of {name} must have dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in WIDTHS:
        raise _broken(path, f"the type of {name} is unknown: {str(dtype)[:40]!r}")
    if not _whole(shape) or len(shape) > _MOST_DIMENSIONS:
        raise _broken(path, f"the shape of {name} must be whole numbers from 0: {str(shape)[:40]}")
    if not _whole(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise _broken(path, f"the data_offsets of {name} must be two growing whole numbers")
    needed, rest = divmod(math.prod(shape) * WIDTHS[dtype], 8)
    if rest or offsets[1] - offsets[0] != needed:
        raise _broken(
            path,
            f"{name} of shape {shape} and type {dtype} needs {needed:,} bytes, not {offsets[1] - offsets[0]:,}",
        )
    return Stored(dtype, tuple(shape), start + offsets[0], start + offsets[1])


def write_safetensors(
    file: IO[bytes], tensors: Mapping[str, tuple[str, tuple[int, ...], Bits]], metadata: Mapping[str, str]
) -> None:
    """Type, shape and bits by name; wider types first, so that all values are aligned. Same content, same bytes."""
    order = sorted(tensors, key=lambda name: (-WIDTHS[tensors[name][0]], name))
    header: dict[str, Any] = {"__metadata__": dict(sorted(metadata.items()))}
    reached = 0
    for name in order:
        dtype, shape, bits = tensors[name]
        header[name] = {
            "dtype": dtype,
            "shape": list(shape),
            "data_offsets": [reached, reached + bits.nbytes],
        }
        reached += bits.nbytes
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=True).encode("ascii")
    text += b" " * (-len(text) % 8)
    if len(text) > MOST_HEADER_BYTES:
        raise UsageError(
            f"the header would have {len(text):,} bytes; at most {MOST_HEADER_BYTES:,} can be read"
        )
    file.write(len(text).to_bytes(8, "little") + text)
    for name in order:
        file.write(plain_bytes(tensors[name][2]))


def refuse_bad_name(name: str, where: str) -> None:
    """Names are shown on terminals and compared as text, so control signs and endless ones are refused."""
    if not name or len(name) > _MOST_NAME or not name.isprintable():
        raise UsageError(f"{where} holds a tensor with an unusable name: {name[:40]!a}")


class _Repeated(ValueError):
    """A name stands twice in an object; which of the two is meant nobody can say."""


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held = dict(pairs)
    if len(held) != len(pairs):
        raise _Repeated("its header names something twice")
    return held


def _whole(values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is int and value >= 0 for value in values)


def _broken(path: Path, reason: str) -> UsageError:
    return UsageError(f"{path} is not a sound safetensors file: {reason}. Write or copy it again")
