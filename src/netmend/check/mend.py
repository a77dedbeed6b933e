"""Mends files by the fixes of their findings: reads each again, hands it to `fix`, and keeps old and new side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from netmend.check import fix
from netmend.check.notebook import Notebook, read_notebook
from netmend.check.reading import Bytes, decode, is_notebook, read_bytes
from netmend.check.select import UNUSED
from netmend.check.session import Session, shown
from netmend.errors import UsageError
from netmend.vocabulary.finding import Finding

Filter = Callable[
    [Sequence[Finding], str], Sequence[Finding]
]  # findings and the text that they are in → those to mend


@dataclass(frozen=True)
class Change:
    """One file before and after. Nothing is written yet."""

    path: str
    content: bytes
    old: str
    new: str
    encoding: str
    fixed: tuple[Finding, ...]
    mark: str = ""  # byte order mark

    def write(self) -> None:
        fix.write(Path(self.path), self.content, self.mark + self.new, self.encoding)

    def diff(self) -> str:
        return fix.diff(shown(self.path), self.old, self.new)


def changes(
    session: Session, files: Sequence[str], unsafe: bool, wanted: Filter
) -> Iterator[Change | tuple[str, str]]:
    """What the fixes make of each file; a file and a line where that cannot be told."""
    for path in files:
        data = read_bytes(Path(path))
        found = data if isinstance(data, str) else change(session, path, data, unsafe, wanted)
        if isinstance(found, str):
            yield shown(path), found
        elif found is not None:
            yield found


def change(session: Session, path: str, data: Bytes, unsafe: bool, wanted: Filter) -> Change | str | None:
    """What the fixes make of one file; None when they leave it as it is."""
    source = decode(data.content, is_notebook(path))
    if isinstance(source, str):
        return source
    notebook = read_notebook(source.text) if is_notebook(path) else None
    if isinstance(notebook, str):
        return notebook
    unused = UNUSED in session.selection.codes and not session.entangled(path)

    def check(text: str) -> Sequence[Finding]:
        return wanted(session.checker.findings_of(text, path, unused), text)

    result = fix.fixed_point(source.text if notebook is None else notebook.text, check, unsafe)
    if not result.fixed:
        return None
    new = result.text if notebook is None else notebook.with_text(result.text)
    if new is None:
        return "the fixes reach across cells; make them by hand"
    if new == source.text:
        return None
    mark = "\ufeff" if source.mark else ""
    fixed = tuple(_named(finding, path, notebook) for finding in result.fixed)
    return Change(path, data.content, source.text, new, source.encoding, fixed, mark)


def _named(finding: Finding, path: str, notebook: Notebook | None) -> Finding:
    placed = finding if notebook is None else notebook.placed(finding, path)
    return replace(placed, file=shown(path))


def write_all(mended: Sequence[Change]) -> tuple[list[Change], list[str]]:
    """Writes them; gives those that were written, and a line for each that could not be."""
    written: list[Change] = []
    complaints: list[str] = []
    for one in mended:
        try:
            one.write()
            written.append(one)
        except UsageError as problem:
            complaints.append(str(problem))
    return written, complaints
