"""Whether what is cut off the texts would say the class: asked at the end, of the texts in the files beside the program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from time import thread_time
from typing import TYPE_CHECKING, Any

import numpy as np

from netmend.adapters.preparation.own_modules import own_modules
from netmend.adapters.preparation.probes import Answers, Words, lift, say_by_numbers
from netmend.adapters.preparation.records import Texts, classes_of, labelled_texts
from netmend.adapters.preparation.written_cuts import LETTERS, WORDS, Cut, sources_of, written_cuts
from netmend.adapters.preparation.written_filters import Filter, written_filters
from netmend.vocabulary import PreparationFact, Site

if TYPE_CHECKING:
    from netmend.adapters.preparation.watch import Preparation

_WORD = re.compile(r"\w+|[^\w\s]")
_FEWEST = 120  # texts
_SECONDS = 0.6
_MOST_COLUMNS = 2000
_MOST_WIDTH = 2  # tokens beside the words: beginning and end


def ask(preparation: Preparation) -> None:
    """One fact for each cut: how well a simple model says the class from whole texts, from what is kept, and from what reached the network."""
    started = thread_time()
    batches = preparation.batches.training
    targets = classes_of([batch.targets for batch in batches])
    if targets is None or not batches:
        return
    inputs, classes = _shown(batches)
    if inputs is None or len(classes) < _FEWEST:
        return
    sources = sources_of(own_modules(preparation.sites))
    cuts: list[Cut | Filter] = list(dict.fromkeys((*_watched(preparation), *written_cuts(sources))))
    cuts += written_filters(sources)
    if not cuts:
        return
    shown: Answers | None = None
    for texts in labelled_texts(Path.cwd(), preparation.began, targets):
        for cut in cuts:
            if thread_time() - started > _SECONDS:
                return
            if shown is None:
                shown = _from(inputs, classes)
            if isinstance(cut, Filter):
                fact = _left_out(cut, texts, shown, len(classes))
            else:
                fact = _tried(cut, texts, shown, len(classes), _width(inputs))
            if fact is not None:
                _keep_best(preparation, fact)


def _keep_best(preparation: Preparation, fact: PreparationFact) -> None:
    """Of several readings of the labels the one that the texts say best."""
    known = preparation.facts.get(fact.name)
    if known is None or known.seen["whole"] < fact.seen["whole"]:
        preparation.add(fact)


def _watched(preparation: Preparation) -> Iterator[Cut]:
    for fact in preparation.facts.values():
        size = fact.seen.get("kept_items")
        if fact.kind == "cut" and fact.site is not None and isinstance(size, int):
            yield Cut(fact.site, size, WORDS, str(fact.seen.get("keeps", "first")))


def _shown(batches: Any) -> tuple[Any, Any]:
    """What the network was shown, each different sample once, and the classes of these."""
    width = {batch.inputs.shape[1:] for batch in batches}
    rank = {len(shape) for shape in width}
    if rank != {1} or batches[0].inputs.dtype.kind not in "iuf":
        return None, None
    most = max(shape[0] for shape in width)
    rows = [
        np.pad(batch.inputs, ((0, 0), (0, most - batch.inputs.shape[1])), mode="edge") for batch in batches
    ]
    inputs = np.concatenate(rows)
    classes = np.concatenate(
        [np.asarray(batch.targets).reshape(len(batch.targets), -1)[:, 0] for batch in batches]
    )
    _, first = np.unique(inputs, axis=0, return_index=True)
    first.sort()
    return inputs[first], classes[first]


def _from(inputs: Any, classes: Any) -> Answers:
    """How well the class is said from what the network was shown."""
    if inputs.dtype.kind in "iu":
        return Words(inputs.tolist()).say(classes)
    spread = inputs.std(0)
    best = np.argsort(-spread)[: min(_MOST_COLUMNS, len(classes) // 3)]
    return say_by_numbers(inputs[:, best], classes)


def _width(inputs: Any) -> int | None:
    """How many tokens a row of numbers holds at most."""
    return inputs.shape[1] if inputs.dtype.kind in "iu" else None


def _chosen(texts: Texts, rows: int) -> tuple[list[str], Any] | None:
    """As many texts as rows were shown, so that both are said from the same number."""
    some = np.linspace(0, len(texts.texts) - 1, min(rows, len(texts.texts))).astype(int)
    chosen, classes = [texts.texts[place] for place in some], texts.classes[some]
    few = len(chosen) < _FEWEST or np.unique(classes, return_counts=True)[1].min() < 5
    return None if few else (chosen, classes)


def _left_out(cut: Filter, texts: Texts, shown: Answers, rows: int) -> PreparationFact | None:
    some = _chosen(texts, rows)
    if some is None:
        return None
    chosen, classes = some
    before = [[match.group() for match in _WORD.finditer(text.lower())] for text in chosen]
    after = cut.keep(before)
    lengths = [len(one) for one in before]
    share = 1 - sum(map(len, after)) / max(1, sum(lengths))
    if not 0 < share < 1:
        return None
    whole, kept = Words(before).say(classes), Words(after).say(classes)
    return _fact(
        cut.site,
        {"left_out": cut.left_out, "texts": len(chosen), "cut_share": round(share, 3)},
        {"whole": whole, "kept": kept, "shown": shown},
        classes,
    )


def _fact(site: Site, seen: dict[str, Any], answers: dict[str, Answers], classes: Any) -> PreparationFact:
    told = {name: round(answer.balanced, 3) for name, answer in answers.items()}
    sure = {
        "lift": round(lift(answers["whole"], answers["kept"]), 1),
        "chance": round(1 / len(np.unique(classes)), 3),
    }
    return PreparationFact(
        f"cut@{site.short}:{site.column}", "cut", "cut", site, seen={**seen, **told, **sure}
    )


def _tried(cut: Cut, texts: Texts, shown: Answers, rows: int, width: int | None) -> PreparationFact | None:
    some = _chosen(texts, rows)
    if some is None:
        return None
    chosen, classes = some
    found = [list(_WORD.finditer(text.lower())) for text in chosen]
    words = Words([match.group() for match in matches] for matches in found)
    lengths = words.lengths()
    unit = cut.unit or (WORDS if width == cut.size else LETTERS)
    if unit == WORDS:
        if width is not None and width > cut.size + _MOST_WIDTH:
            return None  # more than that many reach the network: another sequence is cut
        kept = np.full(len(chosen), cut.size)
    else:
        sides = [_inside(matches, len(text), cut) for matches, text in zip(found, chosen, strict=True)]
        kept = np.array(sides)
    share = float((lengths > kept).mean())
    if share < 0.1:
        return None
    whole = words.say(classes)
    first = words.say(classes, last=kept)
    last = words.say(classes, first=lengths - kept)
    left, other = (first, last) if cut.keeps == "first" else (last, first)
    lost = words.say(classes, first=kept) if cut.keeps == "first" else words.say(classes, last=lengths - kept)
    seen = {
        "size": cut.size, "unit": unit, "keeps": cut.keeps, "texts": len(chosen), "cut_share": round(share, 3),
        "longest": int(lengths.max()), "usual": int(np.median(lengths)),
    }  # fmt: skip
    answers = {"whole": whole, "kept": left, "lost": lost, "other_end": other, "shown": shown}
    return _fact(cut.site, seen, answers, classes)


def _inside(matches: Any, length: int, cut: Cut) -> int:
    """How many words lie within the letters that are kept."""
    if cut.keeps == "first":
        return sum(match.end() <= cut.size for match in matches)
    return sum(match.start() >= length - cut.size for match in matches)
