"""Which rules a text can concern at all, and where: the reason why most of a code base costs next to nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import chain

from netmend.check.rule import NOWHERE, StaticRule
from netmend.program.text.identifiers import identifiers

# A program that trains names one of these; a text without any concerns no rule.
_FRAMEWORKS = (
    "torch",
    "keras",
    "pandas",
    "polars",
    "cv2",
    "PIL",
    "tensorflow",
    "sklearn",
    "numpy",
    "lightning",
    "accelerate",
    "DataLoader",
    "optimizer",
    "nn.",
)
_LENGTH_OF_CLASS_NAME = 6
_MOST_WORDS = 200_000
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def triggered(rule: StaticRule, text: str) -> bool:
    """Does the text hold one of the rule's triggers?"""
    return rule.needs in text and any(trigger in text for trigger in rule.triggers)


def concerned(rules: Iterable[StaticRule], *texts: str) -> list[StaticRule]:
    """The rules that a program's texts can concern: a trigger in one of them, and what the rule needs besides."""
    chosen = tuple(rules)
    found = [_present(chosen, text) for text in texts]
    present = frozenset().union(*found) if len(found) > 1 else found[0]
    return [
        rule
        for rule in chosen
        if (not rule.needs or rule.needs in present) and not present.isdisjoint(rule.triggers)
    ]


@lru_cache(maxsize=1024)
def _present(rules: tuple[StaticRule, ...], text: str) -> frozenset[str]:
    """The triggers, and the needed texts, that a text holds; kept, as many programs import the same files.

    Hundreds of triggers are looked for: first among the text's words, and only then in the text.
    """
    if not any(framework in text for framework in _FRAMEWORKS):
        return frozenset()
    words = identifiers(text)
    whole, parts = _fragments(rules)
    likely = {trigger for word in words.intersection(whole) for trigger in whole[word]}
    likely.update(*map(parts.of, words), parts.anywhere)
    return frozenset(trigger for trigger in likely if trigger in text)


def _telling(word: str) -> int:
    """How much it says that a text holds a word."""
    return 0 if word in ("import", "from", "torch", "self", "nn", "numpy") else len(word)


def _is_class_name(word: str) -> bool:
    """`DataLoader` in `DataLoader(` is a whole word; `Loss` in `Loss(` may be the end of one."""
    return word[0].isupper() and len(word) >= _LENGTH_OF_CLASS_NAME


class _Parts:
    """Triggers by a part of a word in them; which ones a word has is worked out once, as all programs share their words."""

    def __init__(self) -> None:
        self.anywhere: list[str] = []  # those without a word
        self._triggers: dict[str, list[str]] = {}
        self._known: dict[str, tuple[str, ...]] = {}

    def add(self, trigger: str, part: str) -> None:
        (self._triggers.setdefault(part, []) if part else self.anywhere).append(trigger)

    def of(self, word: str) -> tuple[str, ...]:
        """The triggers that a text with this word may hold."""
        known = self._known.get(word)
        if known is None:
            if len(self._known) > _MOST_WORDS:
                self._known.clear()
            matching = (self._triggers[part] for part in self._triggers if part in word)
            known = self._known[word] = tuple(chain.from_iterable(matching))
        return known


@lru_cache(maxsize=16)
def _fragments(rules: tuple[StaticRule, ...]) -> tuple[dict[str, list[str]], _Parts]:
    """Triggers by a whole word in them (`backward` in `.backward(`), and the others with a part of a word."""
    whole: dict[str, list[str]] = {}
    parts = _Parts()
    for need in {rule.needs for rule in rules if rule.needs}:
        parts.add(need, need)
    for trigger in {trigger for rule in rules for trigger in rule.triggers}:
        found = list(_WORD.finditer(trigger))
        inner = [
            match.group()
            for match in found
            if match.end() < len(trigger) and (match.start() > 0 or _is_class_name(match.group()))
        ]
        if inner:
            whole.setdefault(max(inner, key=_telling), []).append(trigger)
        else:
            parts.add(trigger, max((match.group() for match in found), key=_telling, default=""))
    return whole, parts


def places(rules: Sequence[StaticRule], text: str) -> list[int]:
    """Where in the text functions are worth entering: at the rules' patterns or, without one, at their triggers."""
    found: list[int] = []
    for trigger in {trigger for rule in rules if not rule.patterns for trigger in rule.triggers}:
        position = text.find(trigger)
        while position >= 0:
            found.append(position)
            position = text.find(trigger, position + 1)
    # Python's regular expressions look for a line's beginning at every character; for a newline they jump.
    lines = "\n" + text
    for pattern in {pattern for rule in rules for pattern in rule.patterns if pattern != NOWHERE}:
        where = lines if pattern.startswith("^") else text
        found.extend(match.start() for match in _compiled(pattern).finditer(where))
    found.sort()
    return found


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile("\n" + pattern[1:] if pattern.startswith("^") else pattern)
