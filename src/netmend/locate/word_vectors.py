"""What words mean, as numbers: words that stand near the same others in commit messages have vectors that point the same way.

The file is made by benchmarks/locate_vectors.py. A vector's length says how rare its word is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from netmend.errors import NetmendError

FILE = Path(__file__).with_name("word_vectors.npz")


@dataclass(frozen=True)
class WordVectors:
    rows: dict[str, int]
    values: npt.NDArray[np.int8]  # words by dimensions

    @property
    def dimensions(self) -> int:
        return int(self.values.shape[1])

    def mean(self, words: Iterable[str]) -> npt.NDArray[np.float64]:
        """The direction of a text, of length one; 0 where none of its words is known."""
        counts: dict[int, int] = {}
        for word in words:
            row = self.rows.get(word)
            if row is not None:
                counts[row] = counts.get(row, 0) + 1
        if not counts:
            return np.zeros(self.dimensions)
        weights = np.log1p(np.fromiter(counts.values(), dtype=float, count=len(counts)))
        total = weights @ self.values[list(counts)].astype(float)
        length = float(np.linalg.norm(total))
        return np.asarray(total / length if length else total)


def pack(words: list[str], values: npt.NDArray[np.int8], file: Path) -> None:
    np.savez_compressed(file, words=np.frombuffer("\n".join(words).encode(), dtype=np.uint8), values=values)


@cache
def word_vectors() -> WordVectors:
    try:
        with np.load(FILE, allow_pickle=False) as data:
            words = data["words"].tobytes().decode("utf-8").split("\n")
            values = data["values"]
        if len(words) != len(values):
            raise ValueError(f"{len(words)} words, {len(values)} vectors")
    except (OSError, ValueError, KeyError) as problem:
        raise NetmendError(
            f"The word vectors {FILE} cannot be read: {problem}. Install netmend again."
        ) from problem
    return WordVectors({word: row for row, word in enumerate(words)}, values)
