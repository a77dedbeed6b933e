"""Lines of requirement files and of metadata: `name[extra]>=1,<2; python_version < "3.9"`."""

from __future__ import annotations

import platform
import re
import sys
from dataclasses import dataclass

from netmend.environment.versions import matches

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
