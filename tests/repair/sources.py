"""A small program on disk, as repairs see it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

from netmend.program.text.file import File
from netmend.program.text.queries import last_name, site_of
from netmend.program.text.sources import Code, Sources
from netmend.repair.apply import applied
from netmend.vocabulary import Site
from netmend.vocabulary.change import FileEdit


class Program:
    """Files in a folder; `train.py` is the script."""

    def __init__(self, folder: Path, source: str, files: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        for name, text in {"train.py": source, **(files or {})}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(text.encode())
        self.script = str(folder / "train.py")
        self.code = Code(Sources(str(folder), self.script))

    @property
    def file(self) -> File:
        found = self.code.file(self.script)
        assert found is not None
        return found

    def call(self, name: str, nth: int = 0) -> ast.Call:
        return [node for node in ast.walk(self.file.tree) if _is_call(node, name)][nth]  # type: ignore[return-value]

    def site(self, name: str, nth: int = 0) -> Site:
        return site_of(self.script, self.call(name, nth))

    def after(self, edits: Iterable[FileEdit]) -> dict[str, str]:
        """Texts of the files that edits change, by their names in the folder."""
        texts = applied({}, edits)
        assert texts is not None, "the edits cannot be made"
        return {str(Path(file).relative_to(self.folder)): text for file, text in texts.items()}


def _is_call(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) == name
