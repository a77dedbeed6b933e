"""The stand-in for Reuters topics: generated texts as binary bags of words, 46 classes of skewed size.

Every text draws its length, then its words: from a background that follows Zipf's law, as in real text, and,
for a part of them, from the words of its class. Neighbouring classes share words, so that they can be confused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.datasets import arrays

WORDS, CLASSES, TRAIN, TEST = 1_000, 46, 8_982, 2_246  # texts and classes as in Reuters; fewer words
OWN_WORDS, SHARE = 30, 0.075  # words of a class; part of a text's words drawn from them
VERSION = 1  # of the generator: what an older one made is made again
ABOUT = (
    f"generated bags of words in place of Reuters: {TRAIN:,} training and {TEST:,} test texts, "
    f"{WORDS:,} words, {CLASSES} classes (generator {VERSION})"
)


def prepare(file: Path) -> str:
    texts, labels = generate(TRAIN + TEST)
    content: dict[str, NDArray[Any]] = {
        "x_train": texts[:TRAIN],
        "y_train": labels[:TRAIN],
        "x_test": texts[TRAIN:],
        "y_test": labels[TRAIN:],
    }
    arrays.save(file, content, ABOUT)
    return ABOUT


def generate(count: int, seed: int = 0) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """0/1 for every text and word, and the class of every text."""
    rng = np.random.default_rng(seed)
    sizes = 1.0 / np.arange(1, CLASSES + 1) ** 1.3  # the largest class holds a third, as in Reuters
    labels = rng.choice(CLASSES, size=count, p=sizes / sizes.sum())
    background = 1.0 / np.arange(1, WORDS + 1)
    background /= background.sum()
    topics = _topics(rng)
    texts = np.zeros((count, WORDS), dtype=np.uint8)
    lengths = np.clip(rng.lognormal(4.3, 0.6, size=count), 15, 400).astype(int)
    for label in range(CLASSES):
        rows = np.flatnonzero(labels == label)
        chances = (1 - SHARE) * background + SHARE * topics[label]
        places = np.repeat(rows, lengths[rows])
        texts[places, rng.choice(WORDS, size=len(places), p=chances)] = 1
    return texts, labels.astype(np.int64)


def _topics(rng: np.random.Generator) -> NDArray[np.float64]:
    """For every class the chances of its own words; two thirds of them it shares with other classes."""
    common = rng.choice(np.arange(50, WORDS), size=OWN_WORDS * 6, replace=False)
    topics = np.zeros((CLASSES, WORDS))
    for label in range(CLASSES):
        shared = rng.choice(common, size=OWN_WORDS * 2 // 3, replace=False)
        own = rng.choice(np.arange(50, WORDS), size=OWN_WORDS // 3, replace=False)
        topics[label, shared] += rng.exponential(1.0, size=len(shared))
        topics[label, own] += rng.exponential(1.0, size=len(own))
    normed: NDArray[np.float64] = topics / topics.sum(axis=1, keepdims=True)
    return normed
