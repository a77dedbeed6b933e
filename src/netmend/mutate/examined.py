"""What the examination of a trained model found: for every test set, which inputs were handled rightly, or how far off it was."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

NAME = "examination.npz"
DATA = "examined-data.npz"  # the inputs and labels themselves, in the folders of originals
META = "meta"
WEIGHTS = "weights"

Array = np.ndarray


@dataclass(frozen=True)
class Examined:
    """One trained model on all test sets. Names of parts: `SET/right`, `SET/error`, `weights/CODE/PLACE/VALUE/SET/right`."""

    arrays: Mapping[str, Array]
    meta: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def read(folder: Path) -> Examined | None:
        """None where no examination was made, or only half of it was written."""
        try:
            with np.load(folder / NAME, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files if name != META}
                return Examined(arrays, json.loads(str(file[META])))
        except (OSError, ValueError, KeyError, zipfile.BadZipFile):
            return None

    def write(self, folder: Path) -> None:
        """Whole or not at all: a trial may be ended at any moment."""
        temporary = folder / f"new-{NAME}"
        np.savez_compressed(temporary, **{**self.arrays, META: np.array(json.dumps(dict(self.meta)))})  # type: ignore[arg-type]
        temporary.replace(folder / NAME)

    @property
    def sets(self) -> tuple[str, ...]:
        return tuple(self.meta.get("sets", {}))

    @property
    def higher_is_better(self) -> bool:
        return bool(self.meta.get("higher_is_better", True))

    def values(self, test: str, mutant: str = "") -> Array:
        """One number per input: 1 for a right answer, or how far off the answer was."""
        place = f"{mutant}/{test}" if mutant else test
        right = self.arrays.get(f"{place}/right")
        return np.asarray(self.arrays[f"{place}/error"] if right is None else right, dtype=float)

    def right(self, test: str, mutant: str = "") -> Array | None:
        """Whether each input was handled rightly; None for tasks without right and wrong."""
        place = f"{mutant}/{test}" if mutant else test
        found = self.arrays.get(f"{place}/right")
        return None if found is None else np.asarray(found, dtype=bool)

    def score(self, test: str, mutant: str = "", index: Array | None = None) -> float:
        """Accuracy, or the mean error; of some inputs only, where `index` names them."""
        values = self.values(test, mutant)
        chosen = values if index is None else values[index]
        return float(chosen.mean()) if len(chosen) else float("nan")

    def labels(self, test: str) -> Array | None:
        """The class of each input; None where there are no classes."""
        return self.arrays.get(f"{test}/label")

    def digest(self, test: str) -> str:
        """The same for the same inputs in the same order."""
        return str(self.meta.get("sets", {}).get(test, {}).get("digest", ""))

    def constant(self, test: str) -> float | None:
        """The score of the best answer that does not look at the input; None where it is not known."""
        found = self.meta.get("sets", {}).get(test, {}).get("constant")
        return None if found is None else float(found)

    def order(self, test: str) -> Array:
        """Rows in an order that depends on their content only: batches of training come shuffled."""
        found = self.arrays.get(f"{test}/order")
        return np.arange(self.inputs(test)) if found is None else found

    def inputs(self, test: str) -> int:
        return len(self.values(test))

    @property
    def weight_mutants(self) -> tuple[str, ...]:
        """`weights/CODE/PLACE/VALUE` of the mutants that were made of this model's weights."""
        return tuple(self.meta.get("weight_mutants", ()))

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(self.meta.get("notes", ()))
