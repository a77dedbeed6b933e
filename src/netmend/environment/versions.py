"""Comparing versions and version ranges, as far as checks of an environment need it (PEP 440 without its rare parts)."""

from __future__ import annotations

import re
from functools import total_ordering

_VERSION = re.compile(
    r"^\s*v?(?:\d+!)?(?P<release>\d+(?:\.\d+)*)(?:[-_.]?(?P<pre>a|b|c|rc|alpha|beta|pre|preview)[-_.]?(?P<pre_number>\d*))?"
    r"(?:[-_.]?(?P<post>post|rev|r)[-_.]?(?P<post_number>\d*)|-(?P<post_dash>\d+))?(?:[-_.]?(?P<dev>dev)[-_.]?(?P<dev_number>\d*))?(?:\+(?P<local>[\w.-]+))?",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"^\s*(?P<operator>===|~=|==|!=|<=|>=|<|>)\s*(?P<version>[^\s,;]+?)(?P<star>\.\*)?\s*$")
_STAGES = {"a": 0, "alpha": 0, "b": 1, "beta": 1, "c": 2, "rc": 2, "pre": 2, "preview": 2}


@total_ordering
class Version:
    """A version that can be compared; what stands behind `+` is ignored."""

    def __init__(self, text: str) -> None:
        found = _VERSION.match(text)
        if found is None:
            raise ValueError(f"{text!r} is not a version")
        self.text = text.strip()
        self.release = tuple(int(part) for part in found["release"].split("."))
        stage = (
            (3, 0) if found["pre"] is None else (_STAGES[found["pre"].lower()], int(found["pre_number"] or 0))
        )
        if found["pre"] is None and found["dev"] and not found["post"]:
            stage = (-1, 0)  # 2.0.dev1 comes before 2.0a1
        post = (
            int(found["post_number"] or found["post_dash"] or 0) + 1
            if found["post"] or found["post_dash"]
            else 0
        )
        dev = int(found["dev_number"] or 0) if found["dev"] else 1_000_000_000
        self.early = stage != (3, 0)
        self.late = post > 0
        self._key = (self._padded(), stage, post, dev)

    def _padded(self) -> tuple[int, ...]:
        """Without zeros at the end: 2.0 and 2.0.0 are the same."""
        parts = list(self.release)
        while len(parts) > 1 and parts[-1] == 0:
            parts.pop()
        return tuple(parts)

    def begins_with(self, other: Version) -> bool:
        """Whether `other` is a beginning of this release: 2.3.1 begins with 2.3."""
        wanted = other.release
        mine = self.release + (0,) * (len(wanted) - len(self.release))
        return mine[: len(wanted)] == wanted

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._key == other._key

    def __lt__(self, other: Version) -> bool:
        return self._key < other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"Version({self.text!r})"


def matches(version: str, ranges: str) -> bool:
    """Whether a version lies in ranges such as `>=1.2,<2` or `==1.4.*`; an empty text means any."""
    mine = Version(version)
    return all(_clause(mine, clause) for clause in ranges.split(",") if clause.strip())


def _clause(mine: Version, clause: str) -> bool:
    found = _CLAUSE.match(clause)
    if found is None:
        raise ValueError(f"{clause!r} is not a range of versions; write for example >=1.2,<2")
    operator, text = found["operator"], found["version"]
    if operator == "===":
        return mine.text == text
    wanted = Version(text)
    if found["star"]:
        return mine.begins_with(wanted) is (operator == "==")
    if operator == "~=":
        front = Version(".".join(str(part) for part in wanted.release[:-1]) or text)
        return mine >= wanted and mine.begins_with(front)
    if operator == "<":  # a release candidate of 2.0 is not "<2.0"
        return mine < wanted and (wanted.early or not mine.begins_with(wanted))
    if operator == ">":  # and 2.0.post1 not ">2.0"
        return mine > wanted and not (mine.late and mine.release == wanted.release)
    return {
        "==": mine == wanted,
        "!=": mine != wanted,
        "<=": mine <= wanted,
        ">=": mine >= wanted,
    }[operator]
