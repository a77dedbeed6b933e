"""Patches on disk: a safetensors file with indices, old and new values of each piece, and everything else as JSON text.

Piece k of the list in the metadata has the tensors `k.old`, `k.new` and, unless it lists a whole tensor, `k.indices`.
The same patch always gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from netmend.errors import UsageError
from netmend.mend.files import written_whole
from netmend.mend.patch import DIGEST, Fingerprint, Mark, Patch, Piece
from netmend.mend.safetensors_format import Contents, read_contents, refuse_bad_name, write_safetensors
from netmend.mend.weights import Bits, Indices, Layout, bits_type

VERSION = "1"
_KEY, _PIECES, _MODEL, _META = "netmend.patch", "netmend.pieces", "netmend.model", "netmend.meta"


def write_patch(patch: Patch, path: Path) -> None:
    """Written whole or not at all; what was at that path is replaced."""
    patch.refuse_non_finite()
    tensors: dict[str, tuple[str, tuple[int, ...], Bits]] = {}
    for number, piece in enumerate(patch.pieces):
        count = (piece.indices.size,)
        if piece.indices.size < piece.size:
            wide = piece.size > np.iinfo(np.int32).max
            stored = piece.indices.astype("<i8" if wide else "<i4")
            name = "I64" if wide else "I32"
            tensors[f"{number}.indices"] = name, count, stored.view(bits_type(name))
        tensors[f"{number}.old"] = piece.dtype, count, piece.old
        tensors[f"{number}.new"] = piece.dtype, count, piece.new
    metadata = {
        _KEY: VERSION,
        _PIECES: _text([[piece.name, list(piece.shape), piece.dtype] for piece in patch.pieces]),
        _MODEL: _text(
            {name: [m.layout.dtype, list(m.layout.shape), m.rest] for name, m in patch.model.marks.items()}
        ),
        _META: _text(dict(patch.meta)),
    }
    with written_whole(path) as temporary, temporary.open("wb") as file:
        write_safetensors(file, tensors, metadata)


def is_patch(path: Path) -> bool:
    """Whether a sound safetensors file says that it is a patch."""
    return path.is_file() and _KEY in read_contents(path).metadata


def read_patch(path: Path) -> Patch:
    """Every claim of the file is checked before it is used."""
    if not path.is_file():
        raise UsageError(f"there is no patch file {path}; give the .safetensors file that netmend mend wrote")
    contents = read_contents(path)
    version = contents.metadata.get(_KEY)
    if version is None:
        raise UsageError(
            f"{path} is a safetensors file, but no patch (weights?); the patch comes first, then the model"
        )
    if version != VERSION:
        raise UsageError(
            f"{path} is a patch of version {version[:20]!r}; this netmend reads version {VERSION}: install a newer one"
        )
    try:
        patch = _patch(contents)
        patch.refuse_non_finite()
    except UsageError as problem:
        raise UsageError(f"{path} is not a sound patch: {problem}") from None
    return patch


def _patch(contents: Contents) -> Patch:
    listed = _json(contents, _PIECES, list)
    marks = _json(contents, _MODEL, dict)
    meta = _json(contents, _META, dict)
    if not all(isinstance(value, str) for value in meta.values()):
        raise UsageError("its facts must be texts by name")
    expected = {f"{number}.{part}" for number in range(len(listed)) for part in ("old", "new")}
    given = {name for name in contents.tensors if not name.endswith(".indices")}
    indexed = {f"{number}.indices" for number in range(len(listed))}
    if given != expected or not contents.tensors.keys() - given <= indexed:
        raise UsageError("its tensors are not those of its list of pieces")
    held = contents.map()
    pieces = tuple(_piece(contents, held, number, entry) for number, entry in enumerate(listed))
    model = Fingerprint({name: _mark(name, entry) for name, entry in sorted(marks.items())})
    return Patch(pieces, model, meta)


def _piece(contents: Contents, held: Bits, number: int, entry: Any) -> Piece:
    if not isinstance(entry, list) or len(entry) != 3 or not isinstance(entry[0], str):
        raise UsageError(f"piece {number} must be a list of name, shape and type")
    name, layout = entry[0], _layout(entry[0], entry[2], entry[1])
    values = {}
    for part in ("old", "new"):
        stored = contents.tensors[f"{number}.{part}"]
        if stored.dtype != layout.dtype or len(stored.shape) != 1:
            raise UsageError(
                f"the values of {name} are {stored.dtype} {list(stored.shape)}, not a list of {layout.dtype}"
            )
        values[part] = np.array(contents.bits(f"{number}.{part}", held))
    indices = _indices(contents, held, number, layout.size, values["old"].size)
    return Piece(name, layout.shape, layout.dtype, indices, values["old"], values["new"])


def _indices(contents: Contents, held: Bits, number: int, size: int, values: int) -> Indices:
    name = f"{number}.indices"
    if name not in contents.tensors:
        # Checked before anything is reserved: a shape may claim any size.
        if size != values:
            raise UsageError(f"piece {number} has {values} values and no indices, for a tensor of {size}")
        return np.arange(size, dtype=np.int64)
    stored = contents.tensors[name]
    if stored.dtype not in ("I32", "I64") or len(stored.shape) != 1:
        raise UsageError(
            f"the indices of piece {number} are {stored.dtype} {list(stored.shape)}, not a list of I32 or I64"
        )
    signed = contents.bits(name, held).view("<i4" if stored.dtype == "I32" else "<i8")
    return np.array(signed, dtype=np.int64)


def _mark(name: str, entry: Any) -> Mark:
    refuse_bad_name(name, "its fingerprint")
    if not isinstance(entry, list) or len(entry) != 3 or not isinstance(entry[2], str):
        raise UsageError(f"the fingerprint of {name} must be a list of type, shape and hash")
    if not DIGEST.fullmatch(entry[2]):
        raise UsageError(f"the fingerprint of {name} is no hash: {entry[2][:40]!a}")
    return Mark(_layout(name, entry[0], entry[1]), entry[2])


def _layout(name: str, dtype: Any, shape: Any) -> Layout:
    sound = isinstance(shape, list) and all(type(size) is int and 0 <= size < 2**48 for size in shape)
    if not isinstance(dtype, str) or not sound or len(shape) > 64:
        raise UsageError(f"type and shape of {name[:40]!a} are not sound")
    return Layout(dtype, tuple(shape))


def _json(contents: Contents, key: str, kind: type) -> Any:
    text = contents.metadata.get(key, "")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, kind):
        raise UsageError(f"its metadata {key} is missing or not as it should be")
    return found


def _text(data: list[Any] | Mapping[str, Any]) -> str:
    return json.dumps(data, separators=(",", ":"), sort_keys=True)
