"""Which file of the repository a printed path means: paths of other machines, installed packages, bare names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from netmend.locate.corpus import Corpus

_INSTALLED = re.compile(r".*(?:site-packages|dist-packages)/(?:[^/]+\.egg/)?", re.DOTALL)
_STANDARD = re.compile(r".*/lib(?:64)?/python\d(?:\.\d+)?/", re.DOTALL)


@dataclass(frozen=True)
class PathMatch:
    rows: tuple[int, ...]  # all that fit equally well
    parts: int  # how many parts of the path agree, counted from the end
    whole: bool  # all parts of one of the two paths agree


NO_MATCH = PathMatch((), 0, False)


def match_path(corpus: Corpus, printed: str) -> PathMatch:
    """The files whose paths end most like the printed one."""
    path = printed.replace("\\", "/").strip().lstrip("./")
    installed = _INSTALLED.match(path)
    if installed is None and _STANDARD.match(path):
        return NO_MATCH  # Python's own library
    if installed:
        path = path[installed.end() :]
    parts = [part for part in path.split("/") if part]
    if not parts:
        return NO_MATCH
    best: list[int] = []
    most = 0
    whole = False
    for row in corpus.by_basename.get(parts[-1], ()):
        own = corpus.paths[row].split("/")
        same = _same_end(own, parts)
        if installed and same < len(parts):
            continue  # another package's file of the same name
        if same > most:
            best, most, whole = [], same, False
        if same == most:
            best.append(row)
            whole = whole or same == min(len(own), len(parts))
    return PathMatch(tuple(best), most, whole)


def _same_end(one: list[str], other: list[str]) -> int:
    same = 0
    for a, b in zip(reversed(one), reversed(other), strict=False):
        if a != b:
            break
        same += 1
    return same
