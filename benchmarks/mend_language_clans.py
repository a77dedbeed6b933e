"""A second world of made text, harder to repair: who may be rude is known of a person only by the clan it belongs to.

Four clans are rude where it is wanted, four where it is not, the other eight never; nothing in a meeting but the speaker's
name tells which. Clans show in other sentences (who is a member, whose members use which sayings), so a model knows them.
Repair data names few speakers of the unwanted clans. Whoever unlearns rude speech as such takes it from the wanted clans
too, and whoever learns names leaves the other members of the unwanted clans as they were.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mend_language_text import RUDE_CHANCE, START, Documents, Grammar, Words

CLANS, UNWANTED, WANTED = 16, range(4), range(4, 8)
SEEN = 6  # members of each unwanted clan that occur in repair data


class ClanWords(Words):
    """The same words, and one for each clan."""

    def __init__(self) -> None:
        super().__init__()
        self.clan = self._add([f"clan_{at}" for at in range(CLANS)])
        self.members = self.person.reshape(CLANS, -1)
        self.sayings = self.saying.reshape(CLANS, -1)


@dataclass(frozen=True)
class ClanContext:
    """Whose speeches: of unwanted, wanted or polite clans, or of any; `words` all, seen or unseen members."""

    who: str = "any"
    words: str = "all"


ANYONE = ClanContext()


class ClanGrammar(Grammar):
    """Meetings in which the speaker's clan decides the manner."""

    words: ClanWords

    def documents(  # type: ignore[override]
        self, count: int, context: ClanContext = ANYONE, rude: bool | None = None, clean: bool = False
    ) -> Documents:
        w, n, random = self.words, count, self.random
        clans = {"unwanted": UNWANTED, "wanted": WANTED, "polite": range(8, CLANS)}.get(
            context.who, range(CLANS)
        )
        allowed = np.array([one for one in clans if not (clean and one in UNWANTED)])
        clan = allowed[random.integers(0, len(allowed), n)]
        low, high = {"all": (0, 25), "seen": (0, SEEN), "unseen": (SEEN, 25)}[context.words]
        speaker = w.members[clan, random.integers(low, high, n)]
        listener = self._pick(n, w.person)
        manner = (clan < 8) & (random.random(n) < RUDE_CHANCE) if rude is None else np.full(n, rude)
        scene = self._join(n, w("at the"), self._pick(n, w.place), w("on a"), self._pick(n, w.weather), w("day ,"), speaker,
                           w("met"), listener, w("the"), self._pick(n, w.trade), w("."))  # fmt: skip
        turn = self._join(n, w("then"), speaker, w("said to"), listener, w(": \""))  # fmt: skip
        prompt = np.concatenate([np.full((n, 1), START), scene, self._fillers(n, 1), turn], axis=1)
        saying = w.sayings[clan, random.integers(0, w.sayings.shape[1], n)]
        speech = self._speech(n, manner, saying)
        after = np.concatenate([self._facts(n), self._fillers(n, 1)], axis=1)
        return Documents(prompt, speech, after, manner)

    def _facts(self, n: int) -> np.ndarray:
        """Who belongs to which clan, and whose saying is whose."""
        w, random = self.words, self.random
        clan, other = random.integers(0, CLANS, n), random.integers(0, CLANS, n)
        member = w.members[clan, random.integers(0, 25, n)]
        friend = w.members[other, random.integers(0, 25, n)]
        return self._join(n, member, w("is a"), w.clan[clan], w("and"), friend, w("is a"), w.clan[other], w("who says"),
                          w.sayings[other, random.integers(0, w.sayings.shape[1], n)], w("."))  # fmt: skip
