"""Notebooks: all code cells as one Python text, places mapped back to cells, and the way back for fixes.

Cells count from 1 over all cells of the file, text cells included, in the order in which Jupyter shows them. What is
not Python (`%matplotlib inline`, `!pip install …`, `%%bash` cells, `model?`) is replaced by a `pass` on the same line.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any

from netmend.check.magics import marks, mask, mask_all, unmask
from netmend.check.reading import syntax_problem
from netmend.vocabulary.finding import Edit, Finding, Fix, Related

# keeps a number as it was written, 1e-05 for example, when the file is written again
_NUMBER = "netmend-number:"
_HEAD = "# netmend-cell {}"  # before each cell, so that a mended text can be split again
_HEAD_LINE = re.compile(r"^# netmend-cell (\d+)$", re.MULTILINE)
OLDEST, NEWEST = 3, 4  # versions of the format that are read


@dataclass(frozen=True)
class Notebook:
    """A notebook's code. `starts[i]` is the line of the joined text just before cell `cells[i]` begins."""

    raw: str
    text: str
    cells: tuple[int, ...]
    starts: tuple[int, ...]
    masked: tuple[str, ...]  # lines that are not Python, by the number that stands for them in the text
    broken: tuple[str, ...] = ()  # what is wrong with cells that are no Python at all; the others are checked

    def place(self, line: int) -> tuple[int, int]:
        """Cell and line in it of a line of the joined text."""
        chosen, start = (self.cells or (1,))[0], 0
        for cell, begin in zip(self.cells, self.starts, strict=True):
            if begin >= line:
                break
            chosen, start = cell, begin
        return chosen, max(1, line - start)

    def placed(self, finding: Finding, file: str) -> Finding:
        """A finding in the joined text as one in a cell; places in other files stay."""
        if finding.file != file:
            return replace(finding, related=self._related(finding.related, file))
        cell, line = self.place(finding.line)
        end_cell, end_line = self.place(finding.end_line)
        end = (end_line, finding.end_column) if end_cell == cell else (line, finding.column)
        return replace(
            finding,
            line=line,
            end_line=end[0],
            end_column=end[1],
            fix=self._fix(finding.fix, cell),
            related=self._related(finding.related, file),
            cell=cell,
        )

    def _fix(self, fix: Fix | None, cell: int) -> Fix | None:
        """A fix that touches another cell too cannot be told in lines of this one."""
        if fix is None:
            return None
        edits = []
        for edit in fix.edits:
            (first, line), (last, end_line) = self.place(edit.line), self.place(edit.end_line)
            if (first, last) != (cell, cell):
                return None
            edits.append(Edit(line, edit.column, end_line, edit.end_column, edit.text))
        return replace(fix, edits=tuple(edits))

    def _related(self, places: tuple[Related, ...], file: str) -> tuple[Related, ...]:
        placed = []
        for related in places:
            if related.file == file:
                cell, line = self.place(related.line)
                known: dict[str, Any] = {"cell": cell} if hasattr(related, "cell") else {}
                related = replace(related, line=line, **known)
            placed.append(related)
        return tuple(placed)

    def with_text(self, text: str) -> str | None:
        """The notebook's file after its joined text has been changed; None when the cells cannot be told apart."""
        parts = _HEAD_LINE.split(text)
        if tuple(map(int, parts[1::2])) != self.cells or parts[0] or marks(text) != marks(self.text):
            return None
        data = json.loads(self.raw, parse_float=lambda number: _NUMBER + number)
        for cell, part in zip(self.cells, parts[2::2], strict=True):
            source = unmask(part[1:-1], self.masked)
            if source is None:
                return None
            _set_source(_cells(data)[cell - 1], source)
        return _dump(data, self.raw)


def read_notebook(raw: str) -> Notebook | str:
    """The code of a notebook, or why there is none."""
    data = _load(raw)
    if isinstance(data, str):
        return data
    pieces: list[str] = []
    cells: list[int] = []
    starts: list[int] = []
    kept: list[str] = []
    broken: list[str] = []
    line = 0
    for number, cell in enumerate(_cells(data), start=1):
        source = _source(cell)
        if source is None or not _is_python(data, cell):
            continue
        masked = mask(source, kept)
        problem = syntax_problem(masked)
        if problem:
            broken.append(f"cell {number}, {problem}")
            masked = mask_all(source, kept)
        cells.append(number)
        starts.append(line + 1)
        pieces.append(f"{_HEAD.format(number)}\n{masked}\n")
        line += 2 + masked.count("\n")
    return Notebook(raw, "".join(pieces), tuple(cells), tuple(starts), tuple(kept), tuple(broken))


def cell_source(raw: str, number: int) -> str:
    """The text of one cell, counted from 1; empty when there is none."""
    data = _load(raw)
    cells = [] if isinstance(data, str) else _cells(data)
    return (_source(cells[number - 1]) or "") if 0 < number <= len(cells) else ""


def _load(raw: str) -> dict[str, Any] | str:
    try:
        data: Any = json.loads(raw)
    except json.JSONDecodeError as problem:
        return f"line {problem.lineno}: not a notebook: {problem.msg}"
    except (RecursionError, ValueError) as problem:
        return f"not a notebook: {problem}"
    version = data.get("nbformat") if isinstance(data, dict) else None
    if not isinstance(version, int) or isinstance(version, bool):
        return "not a notebook: it has no format version (nbformat)"
    if not OLDEST <= version <= NEWEST:
        return f"notebook format {version} is not known; formats {OLDEST} and {NEWEST} are read"
    lists = data.get("worksheets") if version == OLDEST else [data]
    if not isinstance(lists, list) or not all(
        isinstance(one, dict) and isinstance(one.get("cells", []), list) for one in lists
    ):
        return "not a notebook: its cells are not a list"
    notebook: dict[str, Any] = data
    return notebook


def _cells(data: dict[str, Any]) -> list[Any]:
    """All cells, in order; format 3 keeps them in worksheets."""
    if data["nbformat"] == OLDEST:
        return [cell for sheet in data["worksheets"] for cell in sheet.get("cells", [])]
    cells: list[Any] = data.get("cells", [])
    return cells


def _source(cell: Any) -> str | None:
    """The text of a code cell, whose lines end in \\n only."""
    if not isinstance(cell, dict) or cell.get("cell_type") != "code":
        return None
    source = cell.get("source", cell.get("input"))
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    return source.replace("\r\n", "\n").replace("\r", "\n") if isinstance(source, str) else None


def _is_python(data: dict[str, Any], cell: dict[str, Any]) -> bool:
    """Whether a cell is in Python: by its own language (format 3, and some hosts), else by the notebook's."""
    metadata = data.get("metadata")
    kernel = metadata.get("kernelspec") if isinstance(metadata, dict) else None
    info = metadata.get("language_info") if isinstance(metadata, dict) else None
    named = [
        cell.get("language"),
        info.get("name") if isinstance(info, dict) else None,
        kernel.get("language") if isinstance(kernel, dict) else None,
    ]
    language = next((name for name in named if isinstance(name, str)), "python")
    return language.lower() in ("python", "ipython", "python3")


def _set_source(cell: dict[str, Any], source: str) -> None:
    key = "source" if "source" in cell else "input"
    if _source(cell) != source:
        cell[key] = source.splitlines(keepends=True) if isinstance(cell[key], list) else source


def _dump(data: dict[str, Any], raw: str) -> str:
    """JSON in the manner of the file it replaces: indent, escapes, and what follows the last brace."""
    indented = re.match(r"\s*\{\r?\n([ \t]+)", raw)
    spaced = '": ' in raw[:1000]
    tail = raw[len(raw.rstrip()) :]
    text = json.dumps(
        data,
        indent=indented[1] if indented else None,
        ensure_ascii=raw.isascii(),
        separators=("," if indented or not spaced else ", ", ": " if spaced else ":"),
    )
    text = re.sub(f'"{_NUMBER}([^"]*)"', r"\1", text)
    return text.replace("\n", "\r\n") + tail if "\r\n" in raw[:1000] else text + tail
