"""What overhead.py found, as a table."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Cell:
    """One variant on one model: seconds per step of each segment, wall and processor time."""

    model: str
    variant: str
    title: str
    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    steps: int = 0
    problem: str = ""
    note: str = ""
    looks: int = 0  # timed steps (and the untimed one before each segment) with all statistics

    def ratios(self, bare: Cell) -> list[float]:
        return [mine / theirs for mine, theirs in zip(self.wall, bare.wall, strict=False)]

    def processor_ratios(self, bare: Cell) -> list[float]:
        return [mine / theirs for mine, theirs in zip(self.processor, bare.processor, strict=False)]


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.3f} [{min(values):.3f} - {max(values):.3f}]"


def as_markdown(facts: dict[str, str], cells: list[Cell], sizes: dict[str, Any]) -> str:
    lines = [", ".join(f"{name} {value}" for name, value in facts.items()), ""]
    if cells:
        lines.append(
            "| model | variant | ms per step | ratio to bare [min - max] | ratio in processor time | segments x steps |"
        )
        lines.append("|---|---|---|---|---|---|")
    for cell in cells:
        bare = next(other for other in cells if other.model == cell.model and other.variant == "bare")
        if cell.problem or not cell.wall or not bare.wall:
            lines.append(f"| {cell.model} | {cell.title} | - | {cell.problem or 'not measured'} | - | - |")
            continue
        pace = statistics.median(cell.wall) * 1e3
        row = (
            cell.model,
            cell.title,
            f"{pace:.2f}",
            spread(cell.ratios(bare)),
            spread(cell.processor_ratios(bare)),
        )
        lines.append(f"| {' | '.join(row)} | {len(cell.wall)} x {cell.steps} |")
    notes = [
        f"{cell.model}, {cell.title}: all statistics at {cell.looks} of {len(cell.wall) * cell.steps} steps; {cell.note}."
        for cell in cells
        if cell.note
    ]
    if notes:
        lines += ["", " ".join(notes)]
    if "memory" in sizes:
        lines += ["", "| model | peak memory bare, MB | with netmend, MB | extra, MB |", "|---|---|---|---|"]
        for model, found in sizes["memory"].items():
            if "problem" in found:
                lines.append(f"| {model} | - | - | {found['problem']} |")
            else:
                lines.append(
                    f"| {model} | {found['bare_mb']:.0f} | {found['watched_mb']:.0f} | {found['extra_mb']:.1f} |"
                )
    if "trace" in sizes:
        lines += [
            "",
            f"Trace of {sizes['trace']['steps']} steps of the MLP: {sizes['trace']['bytes'] / 1e6:.3f} MB.",
        ]
    return "\n".join(lines) + "\n"
