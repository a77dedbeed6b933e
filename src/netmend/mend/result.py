"""What came of a search for a patch."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netmend.errors import UsageError
from netmend.mend.gate import Tally, Verdict
from netmend.mend.options import MendOptions
from netmend.mend.patch import Patch
from netmend.shown import Shown


@dataclass(frozen=True, eq=False)
class Tried:
    """One method at one rate: its patch, and what that does on the three parts of the data."""

    method: str
    rate: float | None  # None: it knows no rate
    patch: Patch
    seen: Tally  # what repair learned from
    validation: Tally
    unseen: Tally
    seconds: float
    steps: int
    part: float = 1.0  # of the way to the new weights; less where the whole way broke too much
    notes: tuple[str, ...] = ()
    known: bool = False  # from an earlier search

    @property
    def touched(self) -> int:
        return self.patch.touched

    @property
    def share(self) -> float:
        """Of the model's values."""
        return self.patch.share


@dataclass(frozen=True)
class Counts:
    """Inputs of one kind: given, used, and how they were divided."""

    given: int
    repair: int
    validation: int
    unseen: int
    shared: bool = False  # too few to keep any back: those that repair learns from choose, too


@dataclass(frozen=True, eq=False)
class Mended(Shown):
    """Every method at its best rate, the baseline first, and the verdict. Made by `netmend.mend`."""

    model: str
    baseline: str
    tried: tuple[Tried, ...]
    verdict: Verdict
    failing: Counts
    guard: Counts
    options: MendOptions
    left_out: tuple[tuple[str, str], ...] = ()  # methods that could not be tried, and why
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    files: tuple[Path, ...] = field(default=())  # that were written

    @property
    def recommended(self) -> Tried | None:
        """The attempt whose patch is worth applying."""
        return (
            self.tried[self.verdict.at] if self.verdict.recommended and self.verdict.at is not None else None
        )

    @property
    def patch(self) -> Patch | None:
        """The recommended patch, or None."""
        return None if self.recommended is None else self.recommended.patch

    def apply(self, model: Any) -> None:
        """Put the recommended patch into the model (a PyTorch module), in place."""
        from netmend.mend.patch import State
        from netmend.mend.torch.state_file import change_module

        change_module(model, self._wanted(), State.IN)

    def revert(self, model: Any) -> None:
        """Take it out again, bit for bit."""
        from netmend.mend.patch import State
        from netmend.mend.torch.state_file import change_module

        change_module(model, self._wanted(), State.OUT)

    def save(self, path: Path | str) -> None:
        """Write the recommended patch, for `netmend mend apply`."""
        from netmend.mend.patch_file import write_patch

        write_patch(self._wanted(), Path(path))

    def _wanted(self) -> Patch:
        if self.patch is None:
            raise UsageError(f"no patch is recommended: {'; '.join(self.verdict.reasons)}")
        return self.patch
