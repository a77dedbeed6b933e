"""Two small linear models over a report's features: its type, and whether its cause lies outside the project.

They were trained by benchmarks/locate_kinds.py on labelled reports; the weights are a text file, evaluated here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from netmend.locate.bug_report import BugReport
from netmend.locate.classify_features import rule_features, word_weights

WEIGHTS = Path(__file__).parent / "classify_weights.json"


@dataclass(frozen=True)
class Scored:
    """Probabilities by class, and what each feature added to the winning class."""

    probabilities: Mapping[str, float]
    added: tuple[tuple[str, float], ...]  # feature, log-odds; strongest first


@cache
def weights() -> Any:
    return json.loads(WEIGHTS.read_text("utf-8"))


def word_vector(report: BugReport, rarity: Mapping[str, float]) -> dict[str, float]:
    """Words of the vocabulary, weighted by rarity, of length one."""
    counts = word_weights(report)
    vector = {word: counts[word] * rarity[word] for word in counts if word in rarity}
    length = math.sqrt(sum(value * value for value in vector.values()))
    return {word: value / length for word, value in vector.items()} if length else {}


def score_type(report: BugReport, own: Iterable[str] = ()) -> Scored:
    """The types with their probabilities."""
    model = weights()["type"]
    values = _words(report) | rule_features(report, own)
    rows: dict[str, list[float]] = model["weights"]
    sums = list(model["bias"])
    used: dict[str, list[float]] = {}
    for name, value in values.items():
        row = rows.get(name)
        if row is not None:
            used[name] = [value * weight for weight in row]
            sums = [total + part for total, part in zip(sums, used[name], strict=True)]
    highest = max(sums)
    powers = [math.exp(total - highest) for total in sums]
    best = sums.index(highest)
    shares = [power / sum(powers) for power in powers]
    # a feature speaks for a type by what it adds to it beyond what it adds to the others on average
    added = ((name, parts[best] - sum(parts) / len(parts)) for name, parts in used.items())
    ordered = tuple(sorted(added, key=lambda pair: -pair[1]))
    return Scored(dict(zip(model["classes"], shares, strict=True)), ordered)


def score_extrinsic(report: BugReport, own: Iterable[str] = ()) -> Scored:
    """The probability that the cause lies outside the project, under "extrinsic"."""
    model = weights()["extrinsic"]
    rows: dict[str, float] = model["weights"]
    values = _words(report) | rule_features(report, own)
    added = [(name, value * rows[name]) for name, value in values.items() if name in rows]
    total = model["bias"] + sum(value for _, value in added)
    share = 1.0 / (1.0 + math.exp(-total))
    return Scored({"extrinsic": share}, tuple(sorted(added, key=lambda pair: -pair[1])))


def _words(report: BugReport) -> dict[str, float]:
    return {f"word: {word}": value for word, value in word_vector(report, weights()["rarity"]).items()}


def extrinsic_threshold() -> float:
    """The probability above which a report is called extrinsic: the one of the best F1 in cross-validation."""
    return float(weights()["extrinsic"]["threshold"])
