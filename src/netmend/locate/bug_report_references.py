"""Commits, issues and pull requests that a report names."""

from __future__ import annotations

import re
from typing import NamedTuple

_NUMBER = r"(?P<number>[1-9]\d{0,5})(?![\w~-]|\.\d)"
_HASH = r"(?=\d*[a-f])(?P<hash>[\da-f]{7,40})(?![\w-]|\.\w)"
LINKED_HASH = re.compile(rf"/commits?/{_HASH}", re.IGNORECASE)
PLAIN_HASH = re.compile(rf"(?<![\w/+.@#-]){_HASH}", re.IGNORECASE)
LINKED_NUMBER = re.compile(
    rf"(?:(?<![\w.-])(?P<repository>\w[\w.-]{{0,100}})/)?(?:-/)?\b(?:pull|issues|merge_requests)/{_NUMBER}"
)
ELSEWHERE = re.compile(rf"(?<![\w./-])[\w.-]{{1,100}}/(?P<repository>\w[\w.-]{{0,100}})#{_NUMBER}")
PLAIN_NUMBER = re.compile(
    rf"(?:(?<![\w&/#.)}}-])#|\bGH-|\b(?i:PR|pull request|issue) ?#){_NUMBER}(?!\s+0x)"
    rf"|\b(?i:PR|pull request|issue) (?P<bare>[1-9]\d{{1,5}})(?![\w~-]|\.\d)"
)
IN_MESSAGE = re.compile(rf"(?:(?<![\w&/])#|\bGH-|\bPR ?#){_NUMBER}")
# What looks like a name and is none: the state that was used ("version: master (35cc49b)", "commit hash:", and below it
# the hash) or shown ("Line 12 in 17b60e1"), Linux's own version ("#38~20.04-Ubuntu SMP"), C++ ("{lambda()#4}").
NO_NAMES = re.compile(
    r"(?<!/)\b(?i:version|hash|head|installed|master|tag)\b[^\n]{0,40}?(?:\n\W{0,9})?\b[\da-f]{7,40}\b(?:\s+https?://\S+)?"
    r"|\bLines? \d+(?: to \d+)?\s+in\s+[\da-f]{7,40}\b"
    r"|#\d{1,6}(?:\s+https?://\S+)?[\s~\d.-]{0,60}(?:Ubuntu\s+)?SMP\b"
    r"|\)#\d{1,6}(?:\s+https?://\S+)?"
)


class Numbered(NamedTuple):
    """An issue or a pull request."""

    number: int
    repository: str  # the name in a link, without the owner; "" where none is given


class References(NamedTuple):
    hashes: tuple[str, ...] = ()  # of commits, or their beginnings
    numbers: tuple[Numbered, ...] = ()

    def numbers_of(self, repository: str) -> frozenset[int]:
        """Those that mean this repository; where its name is not known, those without a link."""
        plain = {one.number for one in self.numbers if not one.repository}
        if not repository:
            return frozenset(plain)
        linked = [one for one in self.numbers if one.repository]
        here = {one.number for one in linked if _same(one.repository, repository)}
        return frozenset(plain.difference(one.number for one in linked) | here)


NO_REFERENCES = References()


def references_in(text: str) -> References:
    """Once each, in the order of the text; a link to a file at a commit does not name the commit."""
    text = NO_NAMES.sub(" ", text)
    hashes = [match["hash"].lower() for match in (*LINKED_HASH.finditer(text), *PLAIN_HASH.finditer(text))]
    numbers = [
        Numbered(int(match["number"]), (match["repository"] or "").removesuffix(".git"))
        for pattern in (LINKED_NUMBER, ELSEWHERE)
        for match in pattern.finditer(text)
    ]
    numbers += [Numbered(int(match["number"] or match["bare"]), "") for match in PLAIN_NUMBER.finditer(text)]
    return References(tuple(dict.fromkeys(hashes)), tuple(dict.fromkeys(numbers)))


def numbers_in(message: str) -> tuple[int, ...]:
    """Issues and pull requests of its own repository that a commit's message names."""
    return tuple(dict.fromkeys(int(match["number"]) for match in IN_MESSAGE.finditer(message)))


def _same(one: str, other: str) -> bool:
    return _plain(one) == _plain(other)


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
