"""Patches and models on disk: bit-identical ways there and back, and files that are not what they claim to be."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from netmend.errors import UsageError
from netmend.mend.change_model import change_model
from netmend.mend.model_files import open_model
from netmend.mend.patch import State, patch_between
from netmend.mend.patch_file import read_patch, write_patch
from netmend.mend.safetensors_format import read_contents, write_safetensors
from netmend.mend.weights import PATCHABLE, Arrays, bits_type, finite

Tensors = dict[str, tuple[str, tuple[int, ...], Any]]


def save(path: Path, tensors: Tensors, metadata: dict[str, str] | None = None) -> Path:
    with path.open("wb") as file:
        write_safetensors(file, tensors, metadata or {})
    return path


def raw(path: Path, header: Any, data: bytes = b"") -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


@st.composite
def two_models(draw: st.DrawFn) -> tuple[Tensors, Tensors]:
    """Any bits before (NaN and minus zero among them), finite ones after; none, some or all of them changed."""
    before: Tensors = {}
    after: Tensors = {}
    for number in range(draw(st.integers(1, 3))):
        dtype = draw(st.sampled_from(sorted(PATCHABLE)))
        size, kind = draw(st.integers(0, 7)), bits_type(dtype)
        highest = int(np.iinfo(kind).max)
        bits = st.lists(st.integers(0, highest), min_size=size, max_size=size)
        old, new = (np.array(draw(bits), dtype=kind) for _ in range(2))
        same = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), dtype=bool)
        new = np.where(same | ~finite(new, dtype), old, new)
        name = f"layer.{number}"
        before[name], after[name] = (dtype, (size,), old), (dtype, (size,), new)
    return before, after


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(models=two_models())
def test_apply_then_revert_gives_the_same_file_byte_for_byte(
    models: tuple[Tensors, Tensors], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("models")
    first = save(folder / "first.safetensors", models[0], {"format": "pt"})
    second = save(folder / "second.safetensors", models[1], {"format": "pt"})
    patch = patch_between(open_model(first), open_model(second), {"method": "drawn"})
    if not patch.pieces:
        assert first.read_bytes() == second.read_bytes()
        return
    write_patch(patch, folder / "patch.safetensors")
    mended, back = folder / "mended.safetensors", folder / "back.safetensors"
    change_model(folder / "patch.safetensors", first, State.IN, mended)
    assert mended.read_bytes() == second.read_bytes()
    change_model(folder / "patch.safetensors", mended, State.OUT, back)
    assert back.read_bytes() == first.read_bytes()


MODEL: Tensors = {
    "w": ("F32", (2, 3), np.arange(6, dtype=np.float32).view("<u4")),
    "b": ("BF16", (2,), np.array([0x3FC0, 0xC000], dtype="<u2")),
}


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """A patch file and its model."""
    changed = np.array(MODEL["w"][2])
    changed[4] = np.float32(-0.5).view("<u4")
    model = save(tmp_path / "model.safetensors", MODEL)
    other = save(tmp_path / "other.safetensors", {**MODEL, "w": ("F32", (2, 3), changed)})
    patch = tmp_path / "patch.safetensors"
    write_patch(patch_between(open_model(model), open_model(other), {"method": "test"}), patch)
    return patch, model


def test_what_is_written_is_read_and_always_the_same_bytes(pair: tuple[Path, Path], tmp_path: Path) -> None:
    patch = read_patch(pair[0])
    assert [(one.name, one.indices.tolist()) for one in patch.pieces] == [("w", [4])]
    assert patch.meta == {"method": "test"} and patch.model.elements == 8
    write_patch(patch, tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == pair[0].read_bytes()


def test_our_files_are_safetensors_to_the_library_and_its_files_to_us(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    library = pytest.importorskip("safetensors.numpy")
    loaded = library.load_file(pair[0])
    assert loaded["0.indices"].tolist() == [4] and loaded["0.new"].tolist() == [-0.5]
    library.save_file(
        {"x": np.arange(3.0), "y": np.zeros((0, 2), dtype=np.int8)}, tmp_path / "theirs.safetensors"
    )
    theirs = open_model(tmp_path / "theirs.safetensors")
    assert theirs.bits("x").view("<f8").tolist() == [0.0, 1.0, 2.0] and theirs.layout["y"].shape == (0, 2)


def test_every_way_of_cutting_a_patch_short_is_refused(pair: tuple[Path, Path], tmp_path: Path) -> None:
    whole = pair[0].read_bytes()
    short = tmp_path / "short.safetensors"
    for length in [*range(40), len(whole) // 2, len(whole) - 1]:
        short.write_bytes(whole[:length])
        with pytest.raises(UsageError, match=r"not a sound safetensors file|no header"):
            read_patch(short)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
def test_a_flipped_byte_is_refused_or_changes_only_values(
    pair: tuple[Path, Path], at: float, flip: int
) -> None:
    whole = bytearray(pair[0].read_bytes())
    whole[int(at * len(whole))] ^= flip
    bad = pair[0].with_name("bad.safetensors")
    bad.write_bytes(bytes(whole))
    try:
        patch = read_patch(bad)
    except UsageError:
        return
    for piece in patch.pieces:
        assert 0 <= int(piece.indices.min()) <= int(piece.indices.max()) < piece.size


class Trap:
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os.mkdir, ("sprung",)


@pytest.mark.parametrize("name", ["trap.safetensors", "trap.pt"])
def test_a_pickle_is_not_opened(
    pair: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    trap = tmp_path / name
    trap.write_bytes(pickle.dumps({"w": Trap()}, protocol=2))
    with pytest.raises(UsageError, match="could run code when opened, so it was not"):
        read_patch(trap)
    with pytest.raises(UsageError, match="could run code"):
        change_model(pair[0], trap, State.IN, tmp_path / "out.pt")
    assert not (tmp_path / "sprung").exists()


def entry(**changes: Any) -> dict[str, Any]:
    return {"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changes}}


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (b"[1]", "not a JSON object"),
        (b"{nonsense", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"w":1,"w":2}', "names something twice"),
        ({"__metadata__": {"a": 1}}, "texts by name"),
        (entry(dtype="F33"), "the type of w is unknown"),
        (entry(shape=[-2]), "whole numbers from 0"),
        (entry(shape=[True, 2]), "whole numbers from 0"),
        (entry(shape=[2**70]), "needs"),
        (entry(data_offsets=[8, 0]), "two growing"),
        (entry(data_offsets=[4, 12]), "do not begin where"),
        (entry(more=1), "must have dtype, shape and data_offsets"),
        ({"w\x1b[2J": entry()["w"]}, "unusable name"),
        ({}, "need"),
    ],
)
def test_headers_that_are_not_sound_are_refused(tmp_path: Path, header: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_contents(raw(tmp_path / "bad.safetensors", header, bytes(8)))


def test_a_header_that_claims_too_much_is_refused_before_it_is_read(tmp_path: Path) -> None:
    huge = tmp_path / "huge.safetensors"
    huge.write_bytes((2**62).to_bytes(8, "little") + b"{}")
    with pytest.raises(UsageError, match="at most 100,000,000 are read"):
        read_contents(huge)


def edited(path: Path, change: Callable[[dict[str, Any], dict[str, str]], None]) -> Path:
    """The patch with another header over the same bits."""
    whole = path.read_bytes()
    length = int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8 : 8 + length])
    change(header, header["__metadata__"])
    return raw(path.with_name("edited.safetensors"), header, whole[8 + length :])


def _set(key: str, value: str) -> Callable[[dict[str, Any], dict[str, str]], None]:
    return lambda _header, metadata: metadata.update({key: value})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda _h, m: m.pop("netmend.patch"), "but no patch"),
        (_set("netmend.patch", "2"), "install a newer one"),
        (_set("netmend.pieces", "[]"), "not those of its list of pieces"),
        (_set("netmend.pieces", '[["w",[4],"F32"]]'), "from 0 to 3"),
        (_set("netmend.pieces", '[["w",[2,2,2],"F32"]]'), "contradicts its own fingerprint"),
        (_set("netmend.pieces", '[["w",[2,3],"I32"]]'), "not a list of I32"),
        (_set("netmend.pieces", '[["w",[2,3]]]'), "name, shape and type"),
        (_set("netmend.model", "{}"), "contradicts its own fingerprint"),
        (_set("netmend.model", '{"w":["F32",[2,3],"zz"]}'), "is no hash"),
        (_set("netmend.model", "[" * 100_000), "missing or not as it should be"),
        (_set("netmend.meta", '{"method":1}'), "texts by name"),
        (lambda h, _m: h.update({"1.old": h.pop("0.old")}), "not those of its list"),
        (lambda h, _m: h.update({"9.indices": h.pop("0.indices")}), "not those of its list"),
        (lambda h, _m: h["0.indices"].update(dtype="F32"), "not a list of I32 or I64"),
        (lambda h, _m: h["0.new"].update(shape=[1, 1]), "not a list of F32"),
    ],
)
def test_patches_that_contradict_themselves_are_refused(
    pair: tuple[Path, Path], change: Callable[[dict[str, Any], dict[str, str]], None], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        read_patch(edited(pair[0], change))


def test_a_claimed_tensor_without_indices_reserves_nothing(pair: tuple[Path, Path], tmp_path: Path) -> None:
    before, after = ({"w": np.full(3, value, dtype=np.float32)} for value in (0, 1))
    write_patch(patch_between(Arrays(before), Arrays(after)), tmp_path / "whole.safetensors")
    assert "0.indices" not in read_contents(tmp_path / "whole.safetensors").tensors
    huge = edited(tmp_path / "whole.safetensors", _set("netmend.pieces", '[["w",[281474976710655],"F32"]]'))
    with pytest.raises(UsageError, match="3 values and no indices"):
        read_patch(huge)


def test_nan_is_not_written(tmp_path: Path) -> None:
    before, after = Arrays({"w": np.zeros(3)}), Arrays({"w": np.array([0, np.nan, 0])})
    with pytest.raises(UsageError, match="infinite or NaN"):
        write_patch(patch_between(before, after), tmp_path / "nan.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_fails_leaves_what_was_there(
    pair: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    there = pair[0].read_bytes()
    patch = read_patch(pair[0])
    names = sorted(path.name for path in tmp_path.iterdir())
    monkeypatch.setattr("netmend.mend.patch_file.write_safetensors", full)
    with pytest.raises(UsageError, match="No space left"):
        write_patch(patch, pair[0])
    monkeypatch.setattr("netmend.mend.model_files.shutil.copyfile", full)
    with pytest.raises(UsageError, match="No space left"):
        change_model(pair[0], pair[1], State.IN, in_place=True)
    assert pair[0].read_bytes() == there and sorted(path.name for path in tmp_path.iterdir()) == names


def test_nan_in_a_file_of_others_is_refused(pair: tuple[Path, Path]) -> None:
    value = np.float32(-0.5).tobytes()
    whole = pair[0].read_bytes()
    assert whole.count(value) == 1
    pair[0].write_bytes(whole.replace(value, np.float32(np.nan).tobytes()))
    with pytest.raises(UsageError, match="1 of 1 changed values of w infinite or NaN"):
        read_patch(pair[0])
