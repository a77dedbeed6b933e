"""Which rules a text can concern at all, and where: the reason why most of a code base costs next to nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from netmend.lint.rule import StaticRule

# A program that trains names one of these; a text without any concerns no rule.
_FRAMEWORKS = (
    "torch",
    "keras",
    "tensorflow",
    "sklearn",
    "numpy",
    "lightning",
    "accelerate",
    "DataLoader",
    "optimizer",
    "nn.",
)
_WORD = re.compile(r"[^\W\d]\w*")


def triggered(rule: StaticRule, text: str) -> bool:
    """Does the text hold one of the rule's triggers?"""
    return any(trigger in text for trigger in rule.triggers)


def concerned(rules: Iterable[StaticRule], text: str) -> list[StaticRule]:
    """The rules that the text can concern. One pass collects its words, so that most triggers cost one look-up."""
    if not any(framework in text for framework in _FRAMEWORKS):
        return []
    words = set(_WORD.findall(text))
    present: dict[str, bool] = {}

    def holds(trigger: str) -> bool:
        known = present.get(trigger)
        if known is None:
            known = present[trigger] = _whole_words(trigger) <= words and trigger in text
        return known

    return [rule for rule in rules if any(map(holds, rule.triggers))]


def places(rules: Sequence[StaticRule], text: str) -> list[int]:
    """Where in the text functions are worth entering: at the rules' patterns or, without one, at their triggers."""
    found: list[int] = []
    for trigger in {trigger for rule in rules if not rule.pattern for trigger in rule.triggers}:
        position = text.find(trigger)
        while position >= 0:
            found.append(position)
            position = text.find(trigger, position + 1)
    for pattern in {rule.pattern for rule in rules if rule.pattern}:
        found.extend(match.start() for match in _compiled(pattern).finditer(text))
    found.sort()
    return found


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


@cache
def _whole_words(trigger: str) -> frozenset[str]:
    """Words of a trigger that must stand in the text as they are; the ends may be parts of longer words."""
    return frozenset(
        match.group() for match in _WORD.finditer(trigger) if match.start() > 0 and match.end() < len(trigger)
    )
