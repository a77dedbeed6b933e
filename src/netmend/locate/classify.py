"""What kind of report it is, by a small learned model over words."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from netmend.locate.bug_report import BugReport
from netmend.locate.classify_features import rule_features, stem, word_weights
from netmend.locate.signals.texts import shown_words

# What a bug report is about: Model, Training, Tensor & Input, API, GPU, or nothing of deep learning (after Humbatova et al.).

NAMES = {
    "Model": "Model",
    "Training": "Training",
    "Tensor": "Tensor & Input",
    "API": "API",
    "GPU": "GPU",
    "NonDL": "not DL",
}
_MOST_REASONS = 4
_LEAST = 0.05  # log-odds below which a feature is no reason worth telling


@dataclass(frozen=True)
class Kind:
    """The likeliest type with the reasons for it, and the others."""

    code: str  # as in the labels: Model, Training, Tensor, API, GPU, NonDL
    probability: float
    reasons: tuple[str, ...]
    others: tuple[tuple[str, float], ...]  # code and probability, likeliest first

    @property
    def name(self) -> str:
        return NAMES[self.code]


def kind_of(report: BugReport, own: Iterable[str] = ()) -> Kind:
    """The type of a report. `own` names the project's packages."""
    scored = score_type(report, own)
    ordered = sorted(scored.probabilities.items(), key=lambda pair: -pair[1])
    code, probability = ordered[0]
    return Kind(code, probability, tuple(_reasons(scored.added, _spellings(report))), tuple(ordered[1:]))


def _spellings(report: BugReport) -> dict[str, str]:
    """Stems to a word of the report, for people to read."""
    found: dict[str, str] = {}
    for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", f"{report.title} {report.prose}"):
        found.setdefault(stem(word.lower()), word.lower())
    return found


def _reasons(added: tuple[tuple[str, float], ...], spellings: dict[str, str]) -> Iterable[str]:
    """The features that spoke loudest, in words; single words are told together."""
    words: list[str] = []
    told: list[str] = []
    for feature, value in added:
        if value < _LEAST:
            break
        name, _, rest = feature.partition(": ")
        if name == "word":
            words.append(spellings.get(rest, rest))
        elif name == "failure":
            told.append(f"{rest} was raised")
        elif name == "evidence":
            told.append(rest)
        elif feature == "shapes or types of numbers":
            told.append("shapes or types of numbers are named")
    if shown := shown_words(words):
        told.insert(0, f"the word{'s' if len(shown) > 1 else ''} {', '.join(shown)}")
    return told[:_MOST_REASONS]


# Two small linear models over a report's features: its type, and whether its cause lies outside the project.
#
# They were trained by benchmarks/locate_kinds.py on labelled reports; the weights are a text file, evaluated here.

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
