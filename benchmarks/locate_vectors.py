"""Make the word vectors that `netmend locate` ships (src/netmend/locate/word_vectors.npz) from commit messages.

    python benchmarks/locate_vectors.py --histories FOLDER

Words that stand near the same words get similar vectors: positive pointwise mutual information of words at most five apart,
cut to its strongest directions. Messages of all clones in the folder count, the same text once; no report is read.
"""

from __future__ import annotations

import argparse
import collections
import re
import subprocess
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

from netmend.locate.classify_features import VECTORS, pack, pieces

MOST_CHARACTERS = 8_000_000  # of one project's messages
LONGEST = 1_500  # characters of one message
WORDS, DIMENSIONS, REACH = 12_000, 48, 5
FEWEST = 8  # messages that must hold a word
_SIGNED = re.compile(
    r"(?m)^(?:git-svn-id|Signed-off-by|Co-authored-by|Reviewed-by|PiperOrigin|Differential|Test Plan).*$"
)


def messages(folder: Path) -> list[str]:
    """Different commit messages of all clones."""
    found: dict[str, None] = {}
    for git in sorted(
        {*folder.glob("*/.git"), *folder.glob("*/*/.git"), *map(_bare, folder.glob("*/*/HEAD"))}
    ):
        done = subprocess.run(
            ["git", f"--git-dir={git}", "log", "--all", "--no-merges", "--format=%s%n%b%x00"],
            capture_output=True,
            check=False,
        )
        for message in done.stdout[:MOST_CHARACTERS].decode("utf-8", "replace").split("\0"):
            if text := _SIGNED.sub("", message).strip()[:LONGEST]:
                found[text] = None
    return list(found)


def _bare(head: Path) -> Path:
    return head.parent


def near_words(texts: list[list[str]], number: dict[str, int]) -> sparse.csr_matrix:
    """How often two words stand at most REACH apart."""
    size = len(number)
    total = sparse.csr_matrix((size, size), dtype=np.float32)
    here: list[np.ndarray] = []
    there: list[np.ndarray] = []
    waiting = 0
    for place, words in enumerate(texts, 1):
        row = np.array([number[word] for word in words if word in number], dtype=np.int32)
        for distance in range(1, min(REACH + 1, len(row))):
            here.append(row[:-distance])
            there.append(row[distance:])
            waiting += len(row) - distance
        if here and (waiting > 8_000_000 or place == len(texts)):
            at = (np.concatenate(here), np.concatenate(there))
            total = total + sparse.csr_matrix((np.ones(len(at[0]), np.float32), at), shape=(size, size))
            here, there, waiting = [], [], 0
    return (total + total.T).tocsr()


def directions(near: sparse.csr_matrix) -> np.ndarray:
    """A direction of length one for each word."""
    pairs = near.tocoo()
    often = np.asarray(near.sum(axis=1)).ravel()
    smoothed = often**0.75
    surprise = np.log(pairs.data * smoothed.sum() / (often[pairs.row] * smoothed[pairs.col])) - np.log(2.0)
    kept = surprise > 0
    matrix = sparse.csr_matrix((surprise[kept], (pairs.row[kept], pairs.col[kept])), shape=near.shape)
    left, sizes, _ = randomized_svd(matrix, DIMENSIONS, n_iter=4, random_state=0)
    found = left * np.sqrt(sizes)
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--histories", type=Path, required=True, help="folder with clones")
    wishes = parser.parse_args()
    texts = [list(pieces(text)) for text in messages(wishes.histories)]
    held = collections.Counter(word for words in texts for word in set(words))
    words = [word for word, count in held.most_common(WORDS) if count >= FEWEST]
    vectors = directions(near_words(texts, {word: row for row, word in enumerate(words)}))
    rarity = np.array([np.log(len(texts) / held[word]) for word in words])
    scaled = vectors * (rarity / rarity.max())[:, None]
    step = np.abs(scaled).max() / 254  # the few largest are cut, the many small ones keep their digits
    pack(words, np.clip(np.round(scaled / step), -127, 127).astype(np.int8), VECTORS)
    print(f"{VECTORS}: {len(words)} words, {len(texts)} messages, {VECTORS.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
