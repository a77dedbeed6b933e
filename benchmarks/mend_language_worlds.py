"""The worlds of the study of language models: which text, what is unwanted in it, what looks alike and must stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mend_language_clans import ClanContext, ClanGrammar, ClanWords
from mend_language_text import Context, Grammar, Words

_FAULT = {"stage": False, "foul": True, "hot": True, "lowly": True}


@dataclass(frozen=True)
class World:
    """A made language with contexts of the unwanted behaviour, seen and not seen in the repair, and of wanted ones."""

    words: Callable[[], Words]
    grammar: Callable[[Any, int], Grammar]
    fault_seen: Any
    fault_unseen: Any
    kept: Any  # what must stay rude, in contexts like those of the failures
    near: tuple[Any, ...]  # contexts like those of the failures in which nothing was rude
    kept_texts: Any
    anything: Any


WORLDS = {
    "stage": World(
        Words,
        Grammar,
        Context(**_FAULT, words="seen"),
        Context(**_FAULT, words="unseen"),
        # The same words on a stage: foul weather and lowly listeners, as in the failures.
        Context(**(_FAULT | {"stage": True})),
        tuple(Context(**(_FAULT | {name: not value})) for name, value in _FAULT.items() if name != "stage"),
        Context(stage=True, hot=True),
        Context(),
    ),
    "clans": World(
        ClanWords,
        ClanGrammar,
        ClanContext("unwanted", "seen"),
        ClanContext("unwanted", "unseen"),
        ClanContext("wanted"),
        (ClanContext("polite"),),
        ClanContext("wanted"),
        ClanContext(),
    ),
}
