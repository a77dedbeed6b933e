"""Models on disk that patches can be put into: a safetensors file, a folder of shards, or a PyTorch state dict."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from netmend.errors import UsageError, needing_torch
from netmend.mend.files import beside, folder_whole, sync, written_whole
from netmend.mend.patch import Piece
from netmend.mend.safetensors_format import Contents, read_contents
from netmend.mend.weights import Bits, Layout

_INDEX = ".safetensors.index.json"
_PICKLED = (".pt", ".pth", ".bin", ".ckpt")


class ModelFile(Protocol):
    """Weights in a file or folder."""

    path: Path  # the file, or the folder of several

    @property
    def layout(self) -> Mapping[str, Layout]: ...

    def bits(self, name: str) -> Bits: ...

    def write(self, pieces: Sequence[Piece], out: Path) -> None:
        """A copy with the new values of the pieces; whole or not at all."""
        ...

    def change(self, pieces: Sequence[Piece]) -> None:
        """The new values of the pieces in place of the old ones, in the model's own files."""
        ...


def open_model(path: Path) -> ModelFile:
    """The model at that path; only headers are read."""
    if path.is_dir():
        return _folder(path)
    if not path.is_file():
        raise UsageError(
            f"there is no model {path}; give a .safetensors file, a folder of them, or a .pt state dict"
        )
    if path.name.endswith(_INDEX):
        return _folder(path.parent, path)
    if path.suffix in _PICKLED:
        with needing_torch(f"{path.name} can only be read with PyTorch"):
            from netmend.mend.torch.state_file import StateFile
        return StateFile(path)
    return SafetensorsModel(path, [read_contents(path)])


def _folder(folder: Path, index: Path | None = None) -> SafetensorsModel:
    indexes = [index] if index else sorted(folder.glob(f"*{_INDEX}"))
    files = sorted(folder.glob("*.safetensors"))
    if len(indexes) > 1 or (not indexes and len(files) != 1):
        found = f"{len(indexes)} index files" if indexes else f"{len(files)} .safetensors files and no index"
        raise UsageError(f"{folder} holds {found}; name the file that is meant")
    if not indexes:
        return SafetensorsModel(folder, [read_contents(files[0])])
    mapped = _weight_map(indexes[0])
    shards = [read_contents(folder / name) for name in sorted(set(mapped.values()))]
    held = {(name, shard.path.name) for shard in shards for name in shard.tensors}
    if held != set(mapped.items()):
        name, file = min(held ^ set(mapped.items()))
        raise UsageError(
            f"{indexes[0].name} and its shards disagree about {name} in {file}; save the model again"
        )
    return SafetensorsModel(folder, shards)


def _weight_map(index: Path) -> dict[str, str]:
    try:
        mapped = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        mapped = None
    if not isinstance(mapped, dict) or not all(isinstance(file, str) for file in mapped.values()):
        raise UsageError(f"{index} has no weight_map of files by tensor; save the model again")
    for file in mapped.values():
        # A path could lead out of the folder.
        if Path(file).name != file or "\\" in file or not file.endswith(".safetensors"):
            raise UsageError(
                f"{index} names the shard {file[:60]!a}; only .safetensors files beside it are read"
            )
    return mapped


class SafetensorsModel:
    """One safetensors file, or all shards of a folder. Changed files keep their header byte for byte."""

    def __init__(self, path: Path, files: Sequence[Contents]) -> None:
        self.path = path
        self._files = files
        self._of = {name: file for file in files for name in file.tensors}
        self._held = {file.path: file.map() for file in files}

    @property
    def layout(self) -> Mapping[str, Layout]:
        return {
            name: Layout(file.tensors[name].dtype, file.tensors[name].shape)
            for name, file in self._of.items()
        }

    def bits(self, name: str) -> Bits:
        file = self._of[name]
        return file.bits(name, self._held[file.path])

    def write(self, pieces: Sequence[Piece], out: Path) -> None:
        if not self.path.is_dir():
            with written_whole(out) as temporary:
                self._copy(self._files[0], pieces, temporary)
            return
        ours = {file.path for file in self._files}
        with folder_whole(out) as temporary:
            for other in sorted(self.path.iterdir()):
                if other.is_file() and other not in ours:
                    shutil.copy(other, temporary / other.name)
            for file in self._files:
                self._copy(file, pieces, temporary / file.path.name)
                sync(temporary / file.path.name)

    def change(self, pieces: Sequence[Piece]) -> None:
        touched = [file for file in self._files if any(piece.name in file.tensors for piece in pieces)]
        temporaries = [beside(file.path) for file in touched]
        try:
            # All copies first: should the disk be full, nothing has changed yet.
            for file, temporary in zip(touched, temporaries, strict=True):
                self._copy(file, pieces, temporary)
                sync(temporary)
            for file, temporary in zip(touched, temporaries, strict=True):
                temporary.replace(file.path)
        except OSError as problem:
            raise UsageError(f"{self.path} cannot be changed: {problem.strerror or problem}") from None
        finally:
            for temporary in temporaries:
                temporary.unlink(missing_ok=True)

    def _copy(self, file: Contents, pieces: Sequence[Piece], to: Path) -> None:
        shutil.copyfile(file.path, to)
        mine = [piece for piece in pieces if piece.name in file.tensors and piece.indices.size]
        if mine:
            held = np.memmap(to, dtype="<u1", mode="r+")
            for piece in mine:
                file.bits(piece.name, held)[piece.indices] = piece.new
            held.flush()
        shutil.copymode(file.path, to)
