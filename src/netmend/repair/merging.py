"""Two changes of the same thing, one after the other, as one."""

from __future__ import annotations

from dataclasses import replace

from netmend.program.text.spans import Span
from netmend.repair.version import Part, Version


def merged(version: Version) -> Version:
    """The last two parts turn the same knob: one part that leads from the text before both to the text after both."""
    *rest, first, second = version.parts
    if second.change.knob != first.change.knob:
        return version
    base = Version(version.originals, version.arguments, tuple(rest))
    spans: dict[str, tuple[Span, ...]] = {}
    for file in {**first.spans, **second.spans}:
        old, new = base.text(file, ""), version.text(file, "")
        start = _shared(old, new)
        end = _shared(old[start:][::-1], new[start:][::-1])
        spans[file] = (Span(start, len(old) - end, new[start : len(new) - end]),)
    title = _titled(first.change.title, second.change.title)
    arguments = second.arguments or first.arguments
    if first.arguments is not None and second.arguments is not None:
        arguments = (first.arguments[0], second.arguments[1])
    change = replace(second.change, title=title, cause=first.change.cause, forced=())
    return Version(version.originals, version.arguments, (*rest, Part(change, spans, arguments)))


def _titled(first: str, second: str) -> str:
    """`rate 1 → 0.1` and `rate 0.1 → 0.3` are `rate 1 → 0.3` together; `Adam, rate 0.1` and the latter, `Adam, rate 0.3`."""
    old, _, new = (part.strip() for part in second.rpartition("→"))
    value = old.rpartition(" ")[2]
    if value and (
        first.endswith(old) or (first.endswith(f"→ {value}") and first.split()[0] == old.split()[0])
    ):
        return f"{first[: -len(value)]}{new}"
    return f"{first}; {second}"


def _shared(one: str, other: str) -> int:
    """How many signs two texts have in common at their beginning."""
    pairs = zip(one, other, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
