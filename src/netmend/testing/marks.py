"""A program with a change marked in it: `⟨old → new⟩` in a line, `+ line` and `- line` for whole lines, `⟨here⟩` for a place."""

from __future__ import annotations

import re

_MARKED = re.compile(r"⟨([^⟨⟩]*)⟩")
_LINE = re.compile(r"( *)([+-])(?: (.*))?")
_ARROW = re.compile(r" ?→ ?")


def one_side(marked: str, side: int) -> str:
    """The text before the change (side 0) or after it (side -1), whole lines aside."""
    return _MARKED.sub(lambda found: _ARROW.split(found[1])[side], marked)


def read_marked(marked: str) -> tuple[str, str, int]:
    """The program before and after, and the line of the place, or else of the first change; 0 without any."""
    before: list[str] = []
    after: list[str] = []
    changed: list[int] = []
    pointed: list[int] = []
    for line in marked.splitlines():
        whole = _LINE.fullmatch(line)
        if whole:
            (after if whole[2] == "+" else before).append(whole[1] + whole[3] if whole[3] else "")
            changed.append(len(before))
            continue
        before.append(one_side(line, 0))
        after.append(one_side(line, -1))
        if before[-1] != after[-1]:
            changed.append(len(before))
        elif before[-1] != line:
            pointed.append(len(before))
    return _joined(before), _joined(after), next(iter((*pointed, *changed)), 0)


def _joined(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"
