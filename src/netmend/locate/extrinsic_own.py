"""What a report says of the project itself: its names, and changes of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable

from netmend.locate.bug_report import BugReport

LONGEST = 20_000  # characters looked at; a pasted log must not cost seconds
# what people write when the project's own change broke something
OWN_CHANGE = re.compile(
    r"\b(?:introduced|broken|broke|caused|changed) (?:in|by|with|since) (?:the )?(?:PR |commit |pull request )?(?:#\d+|[0-9a-f]{7,40}\b)|\bregression\b|\bgit bisect\b"
    r"|\b(?:work(?:s|ed)|fine|ok) (?:\w+ ){0,2}(?:in|with|on|before) (?:the )?(?:previous|last|earlier|older) (?:version|release|commit)|\b(?:since|after) (?:the )?(?:last|latest|recent) (?:commit|merge|refactor\w*|PR)\b",
    re.IGNORECASE,
)
BARE_VERSION = re.compile(
    r"^\W*v?\d+\.\d+(?:\.\w+)?\b|\b(?:since|after|in|from|to|with) (?:version |release )?v?\d+\.\d+\.\w+\b",
    re.IGNORECASE,
)
NAMED_CHANGE = re.compile(
    r"\b(?:reverted to|upgrad\w+|updat\w+|downgrad\w+|since|after|latest|newest|new|old) (?:\w+ ){0,2}?(?P<after>[A-Za-z][\w-]+)(?: version| to)? ?v?(?:\d+\.\d|master|release)"
    r"|\b(?P<before>[A-Za-z][\w-]+) (?:version )?v?\d+(?:\.\d+)+ (?:works?|worked|breaks|broke|fails|introduced|changed)",
    re.IGNORECASE,
)


def plain_name(name: str) -> str:
    """Names of projects, distributions and packages made comparable."""
    name = re.sub(r"\.(?:pyx?|egg.*|dist-info)$|-\d.*$", "", name.lower())
    return re.sub(r"[-_. ]|incubator|python-sdk", "", name)


def own_names(own: Iterable[str]) -> set[str]:
    """The project's names, comparable; people also call pytorch-lightning "lightning"."""
    names = tuple(own)
    short = (re.split(r"[-_]", name)[-1].lower() for name in names if re.search(r"\w[-_]\w", name))
    return ({plain_name(name) for name in names} | {name for name in short if len(name) > 3}) - {""}


def speaks_of_own_change(report: BugReport, own: Iterable[str]) -> bool:
    """Whether the report says that the project itself changed: a release of its own, a commit, a regression."""
    body = f"{report.title}\n{report.prose}"[:LONGEST]
    if OWN_CHANGE.search(body) or BARE_VERSION.search(report.title):
        return True
    ours = own_names(own)
    return any(plain_name(match["after"] or match["before"]) in ours for match in NAMED_CHANGE.finditer(body))
