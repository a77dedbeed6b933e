"""Fashion-MNIST, the stand-in for CIFAR-10: real photographs of ten kinds of clothing, 28×28 grey."""

from __future__ import annotations

import gzip
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.datasets import arrays
from bench.datasets.fetch import check, unpacked_debian
from netmend.errors import UsageError

PACKAGE = "dataset-fashion-mnist"
TRAIN, TEST = 10_000, 2_000  # more than any program of the benchmark uses
_FOLDER = Path("usr/share/datasets/fashion-mnist")
_FILES = {
    "x_train": (
        "train-images-idx3-ubyte.gz",
        "b0564c3eedabfbf835052cff8503ea422014ce006caf5b757f851416ee8300c7",
    ),
    "y_train": (
        "train-labels-idx1-ubyte.gz",
        "0ae29f65d86684f32d1b9c85147786c547b9c6aebcaf235f0400a0cce308b056",
    ),
    "x_test": (
        "t10k-images-idx3-ubyte.gz",
        "cc1d090a38ace84dfa1aa66e3ada7c336ef481a96936906477e6dd344da56eaa",
    ),
    "y_test": (
        "t10k-labels-idx1-ubyte.gz",
        "8d3605d196f4be44669e46906da9733c8131fef761fdbfec72c424d5222f1a05",
    ),
}


def prepare(file: Path) -> str:
    """Takes the files of the Debian package, installed or fetched; returns what came of it, in words."""
    for root in (os.environ.get("NETMEND_BENCH_DEBIAN", ""), "/"):
        if root and (Path(root) / _FOLDER / _FILES["x_train"][0]).is_file():
            return _keep(Path(root) / _FOLDER, file)
    with tempfile.TemporaryDirectory(prefix="netmend-fashion-") as folder:
        return _keep(unpacked_debian(PACKAGE, Path(folder)) / _FOLDER, file)


def _keep(folder: Path, file: Path) -> str:
    content = {}
    for part, (name, sha256) in _FILES.items():
        packed = (folder / name).read_bytes()
        check(packed, sha256, f"{name} of {PACKAGE}")
        values = idx(gzip.decompress(packed))
        content[part] = values[: TRAIN if part.endswith("train") else TEST]
    for part in ("y_train", "y_test"):
        content[part] = content[part].astype(np.int64)
    about = f"Fashion-MNIST: first {TRAIN:,} training and {TEST:,} test images (Debian {PACKAGE})"
    arrays.save(file, content, about)
    return about


def idx(content: bytes) -> NDArray[Any]:
    """The format of the original MNIST files: magic number, sizes, bytes."""
    if len(content) < 4 or content[:3] != b"\x00\x00\x08":
        raise UsageError(f"not an idx file of bytes: it starts with {content[:4]!r}")
    sizes = np.frombuffer(content, ">i4", count=content[3], offset=4)
    values = np.frombuffer(content, np.uint8, offset=4 + 4 * len(sizes))
    return values.reshape(sizes)
