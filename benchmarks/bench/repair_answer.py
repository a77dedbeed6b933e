"""What a repair says about a fault of the benchmark and what it is worth; as data and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from bench.faults22.facts import Atom
from bench.outcomes import atoms, spelled

OTHER_DATA = "searched on validation data, scored on test data with fresh seeds"
SAME_DATA = "searched and scored on the same test data, with fresh seeds"


@dataclass(frozen=True)
class RepairAnswer:
    """What a repair says about a fault, and what it is worth. Values are means over fresh seeds; None: some training failed."""

    atoms: tuple[Atom, ...]  # told faults, and the causes of a proven patch
    verdict: str  # proven | promising | none
    titles: tuple[str, ...]
    value_patched: float | None
    value_buggy: float | None
    value_fixed: float | None
    improvement_rate: float | None  # 0 without a patch; None where the known fix brings nothing
    trainings: float  # of the search
    seconds: float  # of all trainings of search and proof
    proof_trainings: int = 0
    verified: bool = False  # proven, and as good as the known fix within that fix's noise
    changes: int = 0  # of the patch
    lines: int = 0
    known_changes: int = 0  # of the known fix
    hold_out: str = SAME_DATA
    values: dict[str, tuple[float | None, ...]] = field(default_factory=dict)  # by side, per fresh seed

    @property
    def is_small(self) -> bool:
        """The patch makes no more changes than the known fix does."""
        return self.changes <= self.known_changes

    def as_data(self) -> dict[str, Any]:
        """For JSON, atoms as text; `answer_from` reads it."""
        return asdict(self) | {"atoms": [spelled(atom) for atom in self.atoms]}


def answer_from(data: Mapping[str, Any]) -> RepairAnswer:
    kept = {item.name: data[item.name] for item in fields(RepairAnswer) if item.name in data}
    kept["atoms"], kept["titles"] = atoms(data["atoms"]), tuple(data["titles"])
    kept["values"] = {name: tuple(values) for name, values in data.get("values", {}).items()}
    return RepairAnswer(**kept)
