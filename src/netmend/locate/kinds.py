"""What a bug report is about: Model, Training, Tensor & Input, API, GPU, or nothing of deep learning (after Humbatova et al.)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from netmend.locate.bug_report import BugReport
from netmend.locate.classify import score_type
from netmend.locate.classify_features import stem
from netmend.locate.signals.lexical import shown_words

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
