"""Versions, ranges of them, and lines of requirement files (`name[extra]>=1,<2; python_version < "3.9"`), as far as checks of an environment need them: PEP 440 without its rare parts."""

from __future__ import annotations

import platform
import re
import sys
from dataclasses import dataclass
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


_LINE = re.compile(
    r"^\s*(?P<name>[A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?(?P<ranges>(?:(?:===|~=|==|!=|<=|>=|<|>)\s*[^\s,;()]+\s*,?\s*)*)\)?\s*(?:;(?P<marker>.*))?$"
)
_TEST = re.compile(
    r"^(?P<name>\w+)\s*(?P<operator>===|~=|==|!=|<=|>=|<|>|not in|in)\s*(?P<quote>['\"])(?P<value>[^'\"]*)(?P=quote)$"
)


@dataclass(frozen=True)
class Requirement:
    name: str
    ranges: str  # such as >=1.2,<2; empty: any
    applies: bool  # whether its marker is true here


def read_requirement(line: str) -> Requirement | None:
    """One requirement; None for what is none: a comment, an option, an address."""
    text = re.split(r"(?:^|\s)#", line)[0].strip().removesuffix("\\").strip()
    if not text or text.startswith("-") or "://" in text or " @ " in text:
        return None
    found = _LINE.match(text)
    if found is None:
        return None
    ranges = re.sub(r"\s+", "", found["ranges"]).rstrip(",")
    return Requirement(found["name"], ranges, _holds(found["marker"] or ""))


def _holds(marker: str) -> bool:
    """Whether a marker is true here. One that cannot be read counts as false: nothing is proven by it."""
    marker = marker.strip()
    if not marker:
        return True
    if "(" in marker:
        inner = re.search(r"\(([^()]*)\)", marker)
        if inner is None:
            return False
        value = "os_name == ''" if not _holds(inner[1]) else "os_name != ''"
        return _holds(marker[: inner.start()] + value + marker[inner.end() :])
    return any(
        all(_test(part) for part in re.split(r"\s+and\s+", way)) for way in re.split(r"\s+or\s+", marker)
    )


def _test(text: str) -> bool:
    found = _TEST.match(text.strip())
    if found is None:
        return False
    facts = {
        "python_version": f"{sys.version_info[0]}.{sys.version_info[1]}",
        "python_full_version": platform.python_version(),
        "sys_platform": sys.platform,
        "platform_system": platform.system(),
        "platform_machine": platform.machine(),
        "platform_python_implementation": platform.python_implementation(),
        "implementation_name": sys.implementation.name,
        "os_name": "nt" if sys.platform == "win32" else "posix",
    }
    mine = facts.get(found["name"])
    if mine is None:  # extra == "…": only what is asked for unconditionally counts
        return False
    operator, value = found["operator"], found["value"]
    if operator in ("in", "not in"):
        return (mine in value) is (operator == "in")
    if found["name"].startswith("python_") and operator != "===":
        try:
            return matches(mine, f"{operator}{value}")
        except ValueError:
            return False
    return {"==": mine == value, "!=": mine != value, "===": mine == value}.get(operator, False)
