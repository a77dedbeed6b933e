"""Token rows: prompts with answers, pairs of them, and batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from netmend.errors import UsageError


@dataclass(frozen=True, eq=False)
class Row:
    """Tokens of one text; the answer begins at `start`, what stands before it is the prompt."""

    ids: tuple[int, ...]
    start: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.start < len(self.ids):
            raise UsageError(
                f"a text of {len(self.ids)} tokens cannot have an answer that begins at token {self.start}; "
                "there must be at least one token before the answer and one in it"
            )


@dataclass(frozen=True, eq=False)
class Pair:
    """The same prompt with an answer that is wanted and one that is not."""

    good: Row
    bad: Row

    @cached_property
    def fork(self) -> int:
        """The first token at which the two differ."""
        for at, (good, bad) in enumerate(zip(self.good.ids, self.bad.ids, strict=False)):
            if good != bad:
                if at == 0:
                    raise UsageError("the good and the bad answer of a pair must follow the same prompt")
                return at
        raise UsageError("the good and the bad answer of a pair must differ in a token that both have")


@dataclass(frozen=True)
class Data:
    """What a repair is made from, and what decides when to stop; the two halves must not overlap."""

    pairs: Sequence[Pair]
    guard: Sequence[Row]
    validation_pairs: Sequence[Pair]
    validation_guard: Sequence[Row]


@dataclass(frozen=True)
class Batch:
    """Rows side by side, padded on the right, with the places that are to be predicted.

    A causal model looks to the left only, so padding on the right needs no mask.
    """

    ids: Tensor
    row: Tensor  # of each place: its row ...
    place: Tensor  # ... and the position whose output predicts the label
    labels: Tensor


def collate(rows: Sequence[Row], device: torch.device, whole: bool = False) -> Batch:
    """One batch; the places are those of the answers, or (whole) of all tokens but the first."""
    ids = torch.zeros((len(rows), max(len(row.ids) for row in rows)), dtype=torch.long)
    number: list[int] = []
    place: list[int] = []
    for at, row in enumerate(rows):
        ids[at, : len(row.ids)] = torch.tensor(row.ids)
        first = 0 if whole else row.start - 1
        number += [at] * (len(row.ids) - 1 - first)
        place += range(first, len(row.ids) - 1)
    rows_of, places = torch.tensor(number), torch.tensor(place)
    labels = ids[rows_of, places + 1]
    return Batch(ids.to(device), rows_of.to(device), places.to(device), labels.to(device))
