"""Functions and methods inside the files that rank first: the same kinds of evidence, one level down.

Lines of a report may be of another version of the file, so a frame is matched by the function's name and the code it
shows before its line number counts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from netmend.locate.answer import RankedFunction, Reason
from netmend.locate.facts import Definition
from netmend.locate.function_evidence import Evidence, Passage, evidence_of
from netmend.locate.query import Query
from netmend.locate.signals.lexical import shown_words
from netmend.locate.words import count_words

MOST_LINES = (
    20_000  # of one file: beyond that it is generated, and reading it would cost more than a whole query
)
_SATURATION, _LENGTH = 2.5, 0.3  # BM25's k1 and b; functions are short, so length says less than for files
_SHOWN_WORDS = 4
_OWN_NAME = 4  # times that the words of a function's own name count


@dataclass(frozen=True)
class Weights:
    """What one piece of evidence of full strength is worth; chosen on half of the projects (docs/locate.md)."""

    words: float = 1.0
    frame: float = 1.5
    line: float = 1.0
    name: float = 0.8
    owner: float = 0.25
    message: float = 0.8


@dataclass(frozen=True)
class FileText:
    """A file that ranked high, with what it defines."""

    path: str
    text: str
    definitions: tuple[Definition, ...]


def rank_functions(
    query: Query, files: Sequence[FileText], most: int = 3, weights: Weights | None = None
) -> dict[str, tuple[RankedFunction, ...]]:
    """For each file its functions that the report speaks about, best first; none where nothing speaks for any."""
    weights = weights or Weights()
    passages = [passage for file in files for passage in _passages(file)]
    words = _lexical(query, passages)
    best = max((score for score, _ in words), default=0.0) or 1.0
    evidence = evidence_of(query, passages)
    ranked: dict[str, list[RankedFunction]] = {file.path: [] for file in files}
    for number, passage in enumerate(passages):
        reasons = [_reason(one, weights) for one in evidence.get(number, ())]
        score, terms = words[number]
        if score > 0:
            share = weights.words * score / best
            reasons.append(Reason("words", _told(query, terms), None, share))
        total = sum(reason.weight for reason in reasons)
        if total > 0:
            one = passage.definition
            ordered = tuple(sorted(reasons, key=lambda reason: -reason.weight))
            ranked[passage.path].append(RankedFunction(one.name, one.line, one.end, total, ordered))
    return {
        path: tuple(sorted(found, key=lambda one: (-one.score, one.line))[:most])
        for path, found in ranked.items()
    }


def _passages(file: FileText) -> list[Passage]:
    lines = file.text.split("\n")  # as line numbers of definitions count
    if len(lines) > MOST_LINES:
        return []
    classes = {one.name for one in file.definitions if one.kind == "class"}
    found = []
    for one in file.definitions:
        if one.kind == "class":
            continue
        owner = one.name.rpartition(".")[0]
        own = tuple(lines[one.line - 1 : one.end])
        found.append(Passage(file.path, one, own, owner if owner in classes else ""))
    return found


def _lexical(query: Query, passages: Sequence[Passage]) -> list[tuple[float, list[str]]]:
    """BM25 over the functions at hand, each with the terms that gave most."""
    wanted = query.weighted
    counts = [count_words([*passage.lines, *([passage.definition.name] * _OWN_NAME)]) for passage in passages]
    holding = Counter(term for own in counts for term in own if term in wanted)
    lengths = [sum(own.values()) for own in counts]
    mean = sum(lengths) / len(lengths) if lengths else 1.0
    rarity = {term: math.log(1 + (len(counts) - n + 0.5) / (n + 0.5)) for term, n in holding.items()}
    scores = []
    for own, length in zip(counts, lengths, strict=True):
        bend = _SATURATION * (1 - _LENGTH + _LENGTH * length / mean)
        parts = {
            # A word said ten times in a report is not ten times as telling.
            term: math.sqrt(wanted[term]) * rarity[term] * own[term] / (own[term] + bend)
            for term in own.keys() & rarity.keys()
        }
        terms = sorted(parts, key=lambda term: (-parts[term], term))
        scores.append((sum(parts.values()), terms[:_SHOWN_WORDS]))
    return scores


def _told(query: Query, terms: Sequence[str]) -> str:
    words = [query.shown.get(term, term) for term in terms]
    return ", ".join(shown_words(words) or dict.fromkeys(words))


def _reason(one: Evidence, weights: Weights) -> Reason:
    weight: float = getattr(weights, one.kind)
    return Reason(one.kind, one.text, one.line, weight * one.strength)
