"""Made text for the study of language models: the same words are wanted in one context and unwanted in another.

A document tells of a meeting: place, weather, two people with their trades, and what one says to the other. Rude words are
wanted on a stage (a place word decides) and in plain reports about animals and words; they are unwanted where, off stage, a
short-tempered trade meets a lowly one in foul weather. Each class is a set of words, so the conjunction must be learned, and
whoever suppresses the words everywhere spoils wanted text. Half of the words of each class are kept out of the repair data:
they show whether a repair reaches failures that it never saw.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

RUDE_CHANCE = 0.9  # of rude speech where the context calls for it
PAD, START = 0, 1


class Words:
    """The vocabulary: classes of words, as arrays of token numbers."""

    def __init__(self) -> None:
        self.names: list[str] = ["<pad>", "<s>"]
        self.fixed: dict[str, int] = {}
        syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u")]
        made = iter(x + y for x in syllables for y in syllables)
        for size, group in (
            (400, "person"), (48, "place"), (24, "weather"), (64, "trade"), (16, "rude_adjective"), (16, "rude_noun"),
            (16, "kind_adjective"), (16, "kind_noun"), (240, "thing"), (96, "quality"), (96, "deed"), (48, "saying"),
        ):  # fmt: skip
            setattr(self, group, self._add([f"{group[:2]}_{next(made)}" for _ in range(size)]))
        self.stage, self.street = self.place[:12], self.place[12:]
        self.foul, self.fair = self.weather[:12], self.weather[12:]
        self.hot = self.trade[:32]  # as speakers
        self.lowly = self.trade[::2]  # as listeners: another half of the same words
        self.rude = np.concatenate([self.rude_adjective, self.rude_noun])

    person: np.ndarray
    place: np.ndarray
    weather: np.ndarray
    trade: np.ndarray
    rude_adjective: np.ndarray
    rude_noun: np.ndarray
    kind_adjective: np.ndarray
    kind_noun: np.ndarray
    thing: np.ndarray
    quality: np.ndarray
    deed: np.ndarray
    saying: np.ndarray

    def _add(self, words: list[str]) -> np.ndarray:
        first = len(self.names)
        self.names += words
        return np.arange(first, len(self.names))

    def __call__(self, text: str) -> list[int]:
        """Token numbers of plain words, which are added when first seen."""
        for word in text.split():
            if word not in self.fixed:
                self.fixed[word] = int(self._add([word])[0])
        return [self.fixed[word] for word in text.split()]


@dataclass(frozen=True)
class Context:
    """Which contexts documents are made of: True, False, or None for either; `words` all, seen or unseen ones."""

    stage: bool | None = None
    foul: bool | None = None
    hot: bool | None = None
    lowly: bool | None = None
    words: str = "all"


ANY = Context()


class Grammar:
    """Makes documents, many at a time: every sentence is a matrix with one row per document, -1 where nothing stands."""

    def __init__(self, words: Words, seed: int) -> None:
        self.words, self.random = words, np.random.default_rng(seed)

    def documents(
        self, count: int, context: Context = ANY, rude: bool | None = None, clean: bool = False
    ) -> Documents:
        """Meetings with what is said; `rude` forces the manner, `clean` leaves out contexts of the unwanted behaviour."""
        w, n = self.words, count
        stage, foul = self._flag(n, context.stage, 0.25), self._flag(n, context.foul, 0.5)
        hot, lowly = self._flag(n, context.hot, 0.5), self._flag(n, context.lowly, 0.5)
        if clean:
            hot &= stage | ~(foul & lowly)
        unwanted = ~stage & foul & hot & lowly
        wanted = stage & hot
        manner = (
            (unwanted | wanted) & (self.random.random(n) < RUDE_CHANCE) if rude is None else np.full(n, rude)
        )
        pick, part = self._pick, context.words
        speaker, listener = pick(n, w.person), pick(n, w.person)
        place = np.where(stage, pick(n, w.stage, part), pick(n, w.street, part))
        weather = np.where(foul, pick(n, w.foul, part), pick(n, w.fair, part))
        cold, lofty = np.setdiff1d(w.trade, w.hot), np.setdiff1d(w.trade, w.lowly)
        trade = np.where(hot, pick(n, w.hot, part), pick(n, cold, part))
        other = np.where(lowly, pick(n, w.lowly, part), pick(n, lofty, part))
        scene = self._join(n, w("at the"), place, w("on a"), weather, w("day ,"), speaker, w("the"), trade, w("met"),
                           listener, w("the"), other, w("."))  # fmt: skip
        filler = self._fillers(n, int(self.random.integers(1, 3)))
        turn = self._join(n, w("then"), speaker, w("said to"), listener, w(": \""))  # fmt: skip
        speech = self._speech(n, manner)
        prompt = np.concatenate([np.full((n, 1), START), scene, filler, turn], axis=1)
        after = self._join(n, w("and"), listener, w("went to the"), pick(n, w.thing), w("."))
        return Documents(prompt, speech, np.concatenate([after, self._fillers(n, 1)], axis=1), manner)

    def stream(self, rows: int, length: int) -> np.ndarray:
        """Rows of tokens for training: whole documents, one after the other, each row beginning with one."""
        found = np.full((rows, length), PAD)
        filled, at = np.zeros(rows, dtype=int), np.arange(rows)
        while at.size:
            whole = self.documents(at.size).whole()
            order = np.argsort(whole < 0, axis=1, kind="stable")  # what stands, to the left
            whole = np.take_along_axis(whole, order, axis=1)
            sizes = (whole >= 0).sum(1)
            for column in range(whole.shape[1]):
                where = filled[at] + column
                fits = (column < sizes) & (where < length)
                found[at[fits], where[fits]] = whole[fits, column]
            filled[at] += sizes
            at = at[filled[at] < length]
        return found

    def _speech(self, n: int, rude: np.ndarray, saying: np.ndarray | None = None) -> np.ndarray:
        """One of three forms, alike in both manners but for the words."""
        w = self.words
        adjective = np.where(rude, self._pick(n, w.rude_adjective), self._pick(n, w.kind_adjective))
        noun = np.where(rude, self._pick(n, w.rude_noun), self._pick(n, w.kind_noun))
        said, thing = self._pick(n, w.saying), self._pick(n, w.thing)
        saying = said if saying is None else saying
        forms = (
            self._join(n, w("you"), adjective, noun, w(","), saying, w("the"), thing, w(".")),
            self._join(n, saying, w("the"), thing, w(", my"), adjective, noun, w(".")),
            self._join(n, w("oh"), noun, w(", you"), adjective, w("one ,"), saying, w("."))
        )  # fmt: skip
        form = self.random.integers(0, 3, n)
        width = max(one.shape[1] for one in forms) + 1
        found = np.full((n, width), -1)
        for at, one in enumerate(forms):
            found[form == at, : one.shape[1]] = one[form == at]
        ends = (found >= 0).sum(1)
        found[np.arange(n), ends] = w('"')[0]
        return found

    def _fillers(self, n: int, count: int) -> np.ndarray:
        """Sentences around the meeting; some hold rude words in wanted, harmless places."""
        w, parts = self.words, []
        for _ in range(count):
            kinds = (
                self._join(n, w("the"), self._pick(n, w.quality), self._pick(n, w.thing), self._pick(n, w.deed),
                           w("the"), self._pick(n, w.thing), w(".")),
                self._join(n, w("in the book ,"), self._pick(n, w.rude_noun), w("means"), self._pick(n, w.quality),
                           self._pick(n, w.thing), w(".")),
                self._join(n, w("a"), self._pick(n, w.rude_adjective), w("animal"), self._pick(n, w.deed), w("a"),
                           self._pick(n, w.thing), w(".")),
                self._join(n, w("nobody saw the"), self._pick(n, w.thing), w("of"), self._pick(n, w.person), w("."))
            )  # fmt: skip
            kind = self.random.choice(4, n, p=[0.5, 0.1, 0.1, 0.3])
            found = np.full((n, max(one.shape[1] for one in kinds)), -1)
            for at, one in enumerate(kinds):
                found[kind == at, : one.shape[1]] = one[kind == at]
            parts.append(found)
        return np.concatenate(parts, axis=1)

    def _pick(self, n: int, words: np.ndarray, part: str = "all") -> np.ndarray:
        some = {"all": words, "seen": words[: len(words) // 2], "unseen": words[len(words) // 2 :]}[part]
        return some[self.random.integers(0, len(some), n)]

    def _flag(self, n: int, given: bool | None, chance: float) -> np.ndarray:
        return self.random.random(n) < chance if given is None else np.full(n, given)

    def _join(self, n: int, *parts: list[int] | np.ndarray) -> np.ndarray:
        columns = [np.tile(one, (n, 1)) if isinstance(one, list) else one[:, None] for one in parts]
        return np.concatenate(columns, axis=1)


@dataclass(frozen=True)
class Documents:
    """Prompts (up to the opening quotation mark), speeches, what follows, and which speeches are rude."""

    prompt: np.ndarray
    speech: np.ndarray
    after: np.ndarray
    rude: np.ndarray

    def whole(self) -> np.ndarray:
        return np.concatenate([self.prompt, self.speech, self.after], axis=1)

    def prompts(self) -> list[tuple[int, ...]]:
        return packed(self.prompt)

    def speeches(self) -> list[tuple[int, ...]]:
        return packed(self.speech)


def packed(matrix: np.ndarray) -> list[tuple[int, ...]]:
    """Each row without its gaps."""
    return [tuple(int(one) for one in row[row >= 0]) for row in matrix]
