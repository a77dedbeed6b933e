"""What notebooks allow beside Python, replaced line by line so that the rest can be parsed, and put back afterwards."""

from __future__ import annotations

import re

_MARK = "pass  # netmend-magic {}"
_MARKED = re.compile(r"pass  # netmend-magic (\d+)$", re.MULTILINE)
# A line that IPython would take before Python does. A leading % can only be the end of a wrapped expression, and
# `x?` is never Python; both are looked at only where Python could begin a statement.
_LINE = re.compile(r"^\s*(?:[%!]|\?{1,2}[A-Za-z_]|[A-Za-z_][\w.\[\]'\"]*\?{1,2}\s*$)")
_ASSIGNED = re.compile(r"^(\s*[A-Za-z_][\w.,\s\[\]'\"]*=\s*)([%!].*)$")
_PYTHON_CELLS = ("%%time", "%%timeit", "%%capture", "%%prun", "%%python", "%%python3")
_OPENING, _CLOSING = "([{", ")]}"


def mask(source: str, kept: list[str]) -> str:
    """The source with everything that is not Python replaced by `pass`; the replaced lines are added to `kept`."""
    lines = source.split("\n")
    first = next((index for index, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%") and not _runs_python(lines[first]):
        return mask_all(source, kept)
    masked: list[str] = []
    depth, quote, continued, shell, indent = 0, "", False, False, ""
    for line in lines:
        fresh = depth == 0 and not quote and not continued
        goes_on = shell and continued  # a shell command after its backslash
        shell = goes_on or (fresh and (_LINE.match(line) or _ASSIGNED.match(line)) is not None)
        continued = line.endswith("\\")
        if shell:
            indent = indent if goes_on else line[: len(line) - len(line.lstrip())]
            masked.append(_replaced(line, kept, indent))
        else:
            masked.append(line)
            depth, quote = _after(line, depth, quote)
    return "\n".join(masked)


def mask_all(source: str, kept: list[str]) -> str:
    """A cell that is not Python: every line replaced."""
    return "\n".join(_replaced(line, kept) if line.strip() else line for line in source.split("\n"))


def unmask(text: str, kept: tuple[str, ...]) -> str | None:
    """The text with the replaced lines back in their places; None when one of them has become something else."""
    lines = text.split("\n")
    for index, line in enumerate(lines):
        found = _MARKED.search(line)
        if found is None:
            continue
        number = int(found[1])
        if number >= len(kept) or line[: found.start()].strip():
            return None
        lines[index] = kept[number]
    return "\n".join(lines)


def marks(text: str) -> list[str]:
    """The numbers of the replaced lines, in their order."""
    return _MARKED.findall(text)


def _runs_python(line: str) -> bool:
    return line.split()[0] in _PYTHON_CELLS


def _replaced(line: str, kept: list[str], indent: str = "") -> str:
    kept.append(line)
    return indent + _MARK.format(len(kept) - 1)


def _after(line: str, depth: int, quote: str) -> tuple[int, str]:
    """How deep in brackets, and inside which triple quote, the next line begins."""
    index = 0
    while index < len(line):
        if quote:
            if line[index] == "\\":
                index += 2
                continue
            if line.startswith(quote, index):
                index += len(quote)
                quote = ""
                continue
            index += 1
            continue
        sign = line[index]
        if sign == "#":
            break
        if sign in "'\"":
            quote = sign * 3 if line.startswith(sign * 3, index) else sign
            index += len(quote)
            continue
        if sign in _OPENING:
            depth += 1
        elif sign in _CLOSING:
            depth = max(0, depth - 1)
        index += 1
    return depth, quote if len(quote) == 3 else ""
