"""Syntax trees that are kept for a while, the least recently used dropped first."""

from __future__ import annotations

import ast
from collections import OrderedDict

Parsed = tuple[ast.Module, str]  # the tree of a file, and its text


class Trees:
    """Trees by path, up to so many characters of source; a tree takes about a hundred times as much memory."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept = 0
        self._trees: OrderedDict[str, Parsed | None] = OrderedDict()

    def __contains__(self, path: str) -> bool:
        return path in self._trees

    def get(self, path: str) -> Parsed | None:
        found = self._trees.get(path)
        if path in self._trees:
            self._trees.move_to_end(path)
        return found

    def keep(self, path: str, parsed: Parsed | None) -> None:
        self.drop(path)
        self._trees[path] = parsed
        self._kept += _size(parsed)
        while self._kept > self._most and len(self._trees) > 1:
            self.drop(next(iter(self._trees)))

    def drop(self, path: str) -> None:
        self._kept -= _size(self._trees.pop(path, None))


def _size(parsed: Parsed | None) -> int:
    return len(parsed[1]) if parsed is not None else 0
