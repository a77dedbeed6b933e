"""A program being written: its lines, and which of them belong to which layer."""

from __future__ import annotations


class Page:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.layers: dict[int, list[int]] = {}  # layer: its line numbers, from 1

    def add(self, text: str = "", layer: int | None = None, indent: int = 0) -> None:
        """One or more lines; `layer` says that they belong to it."""
        for line in text.split("\n"):
            self.lines.append((" " * indent + line).rstrip())
            if layer is not None:
                self.layers.setdefault(layer, []).append(len(self.lines))

    def gap(self) -> None:
        """An empty line, unless there is one."""
        if self.lines and self.lines[-1]:
            self.lines.append("")

    @property
    def text(self) -> str:
        return "\n".join(self.lines).rstrip("\n") + "\n"
