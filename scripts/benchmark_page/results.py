"""Result files, and where each comes from: when it was measured, on what, by which command."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

ORIGINS = "origins.json"  # for result files that carry no date themselves

# What makes each file; a section whose file is missing names it.
COMMANDS = {
    "diagnose-heldout.json": "python benchmarks/diagnose.py --part heldout --json benchmarks/results/diagnose-heldout.json",
    "diagnose-calibration.json": "python benchmarks/diagnose.py --part calibration --json benchmarks/results/diagnose-calibration.json",
    "diagnose-rivals.json": "python benchmarks/diagnose_rivals.py --python rivals/bin/python --json benchmarks/results/diagnose-rivals.json",
    "diagnose-speed.json": "python benchmarks/diagnose_speed_synthetic.py",
    "advice-heldout.json": "python benchmarks/advice.py --part heldout",
    "repair-heldout-faulty-netmend.json": "python benchmarks/repair.py --part heldout",
    "repair-calibration-faulty-netmend.json": "python benchmarks/repair.py --part calibration --every 5",
    "repair-bugs21-faulty-netmend.json": "python benchmarks/repair.py --part bugs21",
    "repair-heldout-faulty-tpe.json": "python benchmarks/repair.py --part heldout --every 3 --method tpe",
    "repair-heldout-faulty-random.json": "python benchmarks/repair.py --part heldout --every 3 --method random",
    "repair-heldout-faulty-autotrainer.json": "python benchmarks/repair.py --part heldout --every 3 --method autotrainer",
    "repair-heldout-healthy-netmend.json": "python benchmarks/repair.py --part heldout --kind healthy --every 2",
    "bench-faults22.json": "netmend bench faults22 --json benchmarks/results/bench-faults22.json",
    "bench-ports.json": "python benchmarks/bench_ports.py",
    "bench-bugs21.json": "netmend bench bugs21 --json benchmarks/results/bench-bugs21.json",
    "bench-silent.json": "netmend bench silent --json benchmarks/results/bench-silent.json",
    "bench-repair.json": "netmend bench repair --json benchmarks/results/bench-repair.json",
    "learned.json": "python benchmarks/learned/train.py && python benchmarks/learned/evaluate.py",
    "neutral-broken_rings.json": "netmend neutral examples/broken_rings.py --json benchmarks/results/neutral-broken_rings.json",
}


class Stale(Exception):
    """A result file is not the one that its origin was written for."""


@dataclass(frozen=True)
class Results:
    """A folder of result files."""

    folder: Path

    def has(self, name: str) -> bool:
        return (self.folder / name).exists()

    def read(self, name: str) -> Any:
        """The content; None when the file is missing."""
        return json.loads(self.text(name)) if self.has(name) else None

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def missing(self, name: str) -> str:
        """The line that stands in place of a section."""
        return f"*Not measured yet: `{COMMANDS[name]}` makes `{name}`.*"

    def origin(self, *names: str) -> str:
        """The line below a table: measured when and on what."""
        found = dict.fromkeys(self._origin(name) for name in names if self.has(name))
        return f"*Measured here: {'; '.join(found)}.*"

    def _origin(self, name: str) -> str:
        data = self.read(name)
        if isinstance(data, dict) and "date" in data:
            return f"{data['date']}, {_machine(data.get('machine'))}"
        known = self.read(ORIGINS) or {}
        entry = known.get(name)
        if entry is None or entry["sha256"] != self.digest(name):
            raise Stale(
                f"{name} has changed since its origin was written down, or has none; after measuring it run: "
                f"python scripts/document_benchmark.py --measured {name}"
            )
        note = f" ({entry['note']})" if "note" in entry else ""
        return f"{entry['date']}, {entry['machine']}{note}"

    def digest(self, name: str) -> str:
        return hashlib.sha256((self.folder / name).read_bytes()).hexdigest()

    def measured(self, name: str) -> None:
        """Write down that a file was measured today, on this machine."""
        if not self.has(name):
            raise Stale(
                f"there is no {name} in {self.folder.name}; it is made by: {COMMANDS.get(name, 'nothing')}"
            )
        known = self.read(ORIGINS) or {}
        known[name] = {
            "sha256": self.digest(name),
            "date": datetime.now(timezone.utc).date().isoformat(),
            "machine": f"{os.cpu_count()} CPU cores",
        }
        text = json.dumps(dict(sorted(known.items())), indent=1) + "\n"
        (self.folder / ORIGINS).write_text(text, encoding="utf-8")


def _machine(machine: Any) -> str:
    if not isinstance(machine, dict):
        return str(machine or "machine not noted")
    parts = [f"{machine.get('cpus', '?')} CPU cores"]
    parts += [f"{name} {machine[name]}" for name in ("python", "torch", "netmend") if name in machine]
    return ", ".join(parts)
