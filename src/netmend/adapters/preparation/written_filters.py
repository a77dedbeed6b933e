"""Lines that leave words out of texts: stop words, and the limits of a vocabulary; with the values of this run."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from netmend.adapters.preparation.written_cuts import Reader, Source, above_of, last_name, site_of
from netmend.vocabulary import Site

Texts = list[list[str]]
_VECTORISERS = ("CountVectorizer", "TfidfVectorizer")
_MOST_STOPPED = 2000


@dataclass(frozen=True)
class Filter:
    """One line that leaves words out."""

    site: Site
    left_out: str  # which words, for people
    keep: Callable[[Texts], Texts]


def written_filters(sources: Sequence[Source]) -> Iterator[Filter]:
    for source in sources:
        reader = Reader(source, sources, above_of(source.tree))
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.NotIn):
                words = _words(reader.live(node.comparators[0], node))
                if words:
                    yield _stopped(site_of(source, node), words)
            elif isinstance(node, ast.Call):
                yield from _of_call(source, reader, node)


def _of_call(source: Source, reader: Reader, call: ast.Call) -> Iterator[Filter]:
    name, site = last_name(call.func), site_of(source, call)
    given = {word.arg: word.value for word in call.keywords}
    if name in _VECTORISERS:
        stop = given.get("stop_words")
        words = (
            _english()
            if isinstance(stop, ast.Constant) and stop.value == "english"
            else _words(stop and reader.live(stop, call))
        )
        if words:
            yield _stopped(site, words)
    if name in _VECTORISERS or name == "most_common":
        most = given.get("max_features") or (call.args[0] if name == "most_common" and call.args else None)
        number = reader.number(most, call) if most is not None else None
        if number is not None and number >= 10:
            yield Filter(
                site, f"all but the {number} most common words", lambda texts: _common(texts, number)
            )
    least = reader.number(given.get("min_df"), call) if name in _VECTORISERS else None
    if least is not None and least > 1:
        yield Filter(site, f"words in fewer than {least} texts", lambda texts: _frequent(texts, least))


def _words(found: Any) -> frozenset[str]:
    if not isinstance(found, set | frozenset | list | tuple) or not 1 <= len(found) <= _MOST_STOPPED:
        return frozenset()
    return frozenset(found) if all(isinstance(word, str) for word in found) else frozenset()


def _english() -> frozenset[str]:
    return frozenset(getattr(sys.modules.get("sklearn.feature_extraction.text"), "ENGLISH_STOP_WORDS", ()))


def _stopped(site: Site, words: frozenset[str]) -> Filter:
    return Filter(
        site,
        f"{len(words)} stop words",
        lambda texts: [[w for w in text if w not in words] for text in texts],
    )


def _common(texts: Texts, number: int) -> Texts:
    kept = {word for word, _ in Counter(chain.from_iterable(texts)).most_common(number)}
    return [[word for word in text if word in kept] for text in texts]


def _frequent(texts: Texts, least: int) -> Texts:
    found = Counter(chain.from_iterable(map(set, texts)))
    return [[word for word in text if found[word] >= least] for text in texts]
