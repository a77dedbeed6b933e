"""What the unrepaired model said, without a second copy of it: its likeliest tokens at each place.

All other tokens count as one, so the divergence from it never exceeds the full one, and equals it where all tokens are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from netmend.mend.torch.language.passes import Passes, Score
from netmend.mend.torch.language.rows import Row, collate


@dataclass(frozen=True)
class Known:
    """At each place: tokens, their probabilities, and that of all others together."""

    tokens: Tensor
    chances: Tensor
    rest: Tensor

    def to(self, device: torch.device) -> Known:
        return Known(*(one.to(device, non_blocking=True) for one in (self.tokens, self.chances, self.rest)))

    def without(self, banned: Tensor, answers: Tensor) -> Known:
        """The nearest distribution (in divergence) in which, where `answers` says so, no banned token is left."""
        hit = torch.isin(self.tokens, banned.to(self.tokens.device)) & answers.to(self.tokens.device)[:, None]
        chances = self.chances.masked_fill(hit, 0.0)
        total = (chances.sum(1) + self.rest).clamp_min(1e-6)
        return Known(self.tokens, chances / total[:, None], self.rest / total)

    @staticmethod
    def joined(parts: Sequence[Known]) -> Known:
        return Known(
            torch.cat([one.tokens for one in parts]),
            torch.cat([one.chances for one in parts]),
            torch.cat([one.rest for one in parts]),
        )


class Reference(Protocol):
    """Gives what the unrepaired model said of whole rows."""

    def of(self, rows: Sequence[Row]) -> Known: ...


class Cached:
    """Computed once, for all rows that will be asked for; must be made before the first step."""

    def __init__(
        self, passes: Passes, rows: Sequence[Row], tokens: int, at_once: int = 16, keep_on: str | None = None
    ) -> None:
        self._known: dict[int, Known] = {}
        self._rows = list(rows)  # held, so that no other row can take over an id
        device = torch.device(keep_on) if keep_on else passes.device
        for start in range(0, len(self._rows), at_once):
            part = self._rows[start : start + at_once]
            known = _said(passes, part, tokens).to(device)
            sizes = [len(row.ids) - 1 for row in part]
            pieces = zip(
                known.tokens.split(sizes), known.chances.split(sizes), known.rest.split(sizes), strict=True
            )
            for row, piece in zip(part, pieces, strict=True):
                self._known[id(row)] = Known(*piece)

    def of(self, rows: Sequence[Row]) -> Known:
        return Known.joined([self._known[id(row)] for row in rows])


class Recomputed:
    """Computed when asked for, with the original values put back for that moment."""

    def __init__(
        self, passes: Passes, restored: Callable[[], AbstractContextManager[None]], tokens: int
    ) -> None:
        self._passes, self._restored, self._tokens = passes, restored, tokens

    def of(self, rows: Sequence[Row]) -> Known:
        with self._restored():
            return _said(self._passes, rows, self._tokens)


def divergence(known: Known) -> Score:
    """A score for `Passes.each_place`: KL(reference ‖ model)."""

    def score(logits: Tensor, piece: slice) -> Tensor:
        told = Known(known.tokens[piece], known.chances[piece], known.rest[piece]).to(logits.device)
        log_now = logits.float().log_softmax(-1).gather(1, told.tokens.long())
        found = (torch.xlogy(told.chances, told.chances) - told.chances * log_now).sum(1)
        if told.tokens.shape[1] == logits.shape[1]:
            return found
        others = (1.0 - log_now.exp().sum(1)).clamp_min(1e-6)
        return found + torch.xlogy(told.rest, told.rest) - told.rest * others.log()

    return score


@torch.no_grad()
def _said(passes: Passes, rows: Sequence[Row], tokens: int) -> Known:
    kept: list[tuple[Tensor, Tensor]] = []

    def score(logits: Tensor, piece: slice) -> Tensor:
        chances, places = logits.float().softmax(-1).topk(min(tokens, logits.shape[-1]), dim=-1)
        kept.append((places.int(), chances))
        return chances[:, 0]

    passes.each_place(collate(rows, passes.device, whole=True), score)
    places, chances = (torch.cat(part) for part in zip(*kept, strict=True))
    return Known(places, chances, (1.0 - chances.sum(1)).clamp_min(0.0))
