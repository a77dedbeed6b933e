"""One step of training a language model: the loss, with its guard, and the update of one block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import torch
from torch import Tensor, nn

from netmend.errors import UsageError
from netmend.mend.torch.language.blocks import Block
from netmend.mend.torch.language.passes import Passes, Score, log_probability
from netmend.mend.torch.language.rows import Batch, Pair, Row, collate

CHOICES = ("all", "max", "min", "random", "fixed", "contrast")


@dataclass(frozen=True)
class Method:
    """Weights of the parts of the loss, and the rule that chooses blocks.

    `good` is the cross entropy of the good answers, `unlikely` the unlikelihood of the bad ones after the fork,
    `prefer` preference optimisation with that strength, `nearest` the divergence from the reference without its bad
    tokens, `guard` the divergence from the reference on normal text.
    """

    name: str
    choice: str
    good: float = 0.0
    unlikely: float = 0.0
    prefer: float = 0.0
    nearest: float = 0.0
    guard: float = 0.0
    line: bool = False  # at the end, the best point on the way from the original to the repaired weights

    def __post_init__(self) -> None:
        if self.choice not in CHOICES:
            raise UsageError(
                f"blocks cannot be chosen by {self.choice!r}; one of {', '.join(CHOICES)} can be"
            )
        if not (self.good or self.unlikely or self.prefer or self.nearest):
            raise UsageError(f"the method {self.name} has no part of the loss that repairs anything")

    @property
    def needs_bad(self) -> bool:
        return bool(self.unlikely or self.prefer)


def _published(alpha: float = 0.5) -> list[Method]:
    """IRepair and what it was compared with; the loss with the guard is alpha × good + guard in all of them."""
    found = [
        Method("dapt", "all", good=alpha),
        Method("dapt_kl", "all", good=alpha, guard=1.0),
        Method("dpo", "all", prefer=0.1),
        Method("dpo_kl", "all", prefer=0.1, guard=1.0),
    ]
    for word in ("max", "fixed", "min", "random"):
        name = "irepair" if word == "max" else f"irepair_{word}"
        found.append(Method(name, word, good=alpha))
        found.append(Method(f"{name}_kl", word, good=alpha, guard=1.0))
    return found


_OURS = [
    # Their repair part ends by itself once it is reached, so the guard may weigh more than in the published losses.
    Method("nearest", "all", nearest=1.0, guard=5.0, line=True),
    Method("nearest_block", "contrast", nearest=1.0, guard=5.0, line=True),
    Method("nearest_max", "max", nearest=1.0, guard=5.0, line=True),
    Method("unlikely_kl", "all", good=0.5, unlikely=1.0, guard=5.0, line=True),
]

METHODS = {one.name: one for one in [*_published(), *_OURS]}
BASELINE = "dapt_kl"


def method_named(name: str) -> Method:
    if name not in METHODS:
        raise UsageError(f"there is no method {name!r} for language models; known: {', '.join(METHODS)}")
    return METHODS[name]


# What the unrepaired model said, without a second copy of it: its likeliest tokens at each place.
#
# All other tokens count as one, so the divergence from it never exceeds the full one, and equals it where all tokens are kept.


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


# The loss of a step: parts that repair, and the guard.


@dataclass(frozen=True)
class Objective:
    """All that a loss is made from; `margins` are the reference's log odds of good over bad, by pair."""

    passes: Passes
    method: Method
    reference: Reference | None
    banned: Tensor
    margins: dict[int, float]

    def backward(self, pairs: Sequence[Pair], guard: Sequence[Row]) -> float:
        """Add the gradients of all parts, one after the other, so that only one part's activations exist."""
        total = 0.0
        for part in (self._answers, self._nearest):
            loss = part(pairs)
            if loss is not None:
                loss.backward()
                total += float(loss.detach())
        if self.method.guard and guard:
            loss = self.method.guard * self._divergence(guard).mean()
            loss.backward()
            total += float(loss.detach())
        return total

    def _answers(self, pairs: Sequence[Pair]) -> Tensor | None:
        method = self.method
        if not (method.good or method.needs_bad):
            return None
        rows = [pair.good for pair in pairs] + ([pair.bad for pair in pairs] if method.needs_bad else [])
        batch = collate(rows, self.passes.device)
        found = self.passes.each_place(batch, log_probability(batch))
        row = batch.row.to(found.device)
        good = row < len(pairs)
        loss = found.new_zeros(())
        if method.good:
            loss = loss - method.good * found[good].mean()
        if method.unlikely:
            forks = torch.tensor([pair.fork for pair in pairs], device=found.device)
            after = ~good & (batch.place.to(found.device) >= forks[row % len(pairs)] - 1)
            loss = loss + method.unlikely * -torch.log1p(-found[after].exp().clamp(max=1 - 1e-4)).mean()
        if method.prefer:
            sums = found.new_zeros(len(rows)).index_add(0, row, found)
            before = torch.tensor([self.margins[id(pair)] for pair in pairs], device=found.device)
            margin = sums[: len(pairs)] - sums[len(pairs) :] - before
            loss = loss - nn.functional.logsigmoid(method.prefer * margin).mean()
        return loss

    def _nearest(self, pairs: Sequence[Pair]) -> Tensor | None:
        """On good answers: the reference's own distribution, less the tokens that begin bad answers."""
        if not self.method.nearest or self.reference is None:
            return None
        rows = [pair.good for pair in pairs]
        batch = collate(rows, self.passes.device, whole=True)
        known = self.reference.of(rows)
        place = batch.place.to(known.rest.device)
        starts = torch.tensor([row.start for row in rows], device=place.device)[batch.row.to(place.device)]
        answers = place >= starts - 1
        parts = self.passes.each_place(batch, divergence(known.without(self.banned, answers)))
        answers = answers.to(parts.device)
        loss = self.method.nearest * parts[answers].sum() / len(rows)
        return loss + self.method.guard * parts[~answers].mean() if bool((~answers).any()) else loss

    def _divergence(self, rows: Sequence[Row]) -> Tensor:
        assert self.reference is not None
        batch = collate(rows, self.passes.device, whole=True)
        return self.passes.each_place(batch, divergence(self.reference.of(rows)))


def nll(passes: Passes, rows: Sequence[Row], whole: bool = False) -> Tensor:
    """The mean negative log probability of the answers' tokens (or of all)."""
    batch = collate(rows, passes.device, whole)
    return -passes.each_place(batch, log_probability(batch)).mean()


def banned_tokens(pairs: Sequence[Pair]) -> Tensor:
    """Tokens that begin a bad answer (at the fork) and stand in no good one."""
    good = {token for pair in pairs for token in pair.good.ids[pair.good.start :]}
    return torch.tensor(sorted({pair.bad.ids[pair.fork] for pair in pairs} - good), dtype=torch.int)


@torch.no_grad()
def margins(passes: Passes, pairs: Sequence[Pair], at_once: int = 16) -> dict[int, float]:
    """Log odds of the good answer over the bad one, of each pair, before the repair."""
    found: dict[int, float] = {}
    for start in range(0, len(pairs), at_once):
        part = pairs[start : start + at_once]
        sums = _sums(passes, collate([one.good for one in part] + [one.bad for one in part], passes.device))
        for at, pair in enumerate(part):
            found[id(pair)] = float(sums[at] - sums[len(part) + at])
    return found


def _sums(passes: Passes, batch: Batch) -> Tensor:
    found = passes.each_place(batch, log_probability(batch))
    return found.new_zeros(batch.ids.shape[0]).index_add(0, batch.row.to(found.device), found).cpu()


# RMSProp on one block at a time: what is not chosen is not moved, and its state can lie elsewhere meanwhile.

DECAY, EPSILON = 0.99, 1e-8


class Descent:
    """The state of each parameter that was ever moved: mean square of its gradient and, for weights of less than
    32 bits, the exact value (small steps would be lost to rounding)."""

    def __init__(self, clip: float = 0.5, keep_on: str | None = None) -> None:
        self._clip, self._keep_on = clip, keep_on
        self._squares: dict[int, Tensor] = {}
        self._exact: dict[int, Tensor] = {}

    @torch.no_grad()
    def step(self, blocks: Sequence[Block], rate: float) -> None:
        """One step of the given blocks along their gradients, which are freed."""
        moved = [one for block in blocks for one in block.parameters.values() if one.grad is not None]
        gradients = [one.grad.float() for one in moved if one.grad is not None]
        if not moved:
            return
        length = torch.stack(
            [torch.linalg.vector_norm(one).to(gradients[0].device) for one in gradients]
        ).norm()
        factor = (self._clip / (length + 1e-6)).clamp(max=1.0)
        if not bool(
            torch.isfinite(length)
        ):  # a step along it would spoil the model; the loop sees that nothing improves
            for parameter in moved:
                parameter.grad = None
            return
        for parameter, gradient in zip(moved, gradients, strict=True):
            parameter.grad = None
            gradient = gradient * factor.to(gradient.device)
            square = self._state(self._squares, parameter, partial(torch.zeros_like, gradient))
            square.mul_(DECAY).addcmul_(gradient, gradient, value=1 - DECAY)
            if parameter.dtype is torch.float32:
                parameter.addcdiv_(gradient, square.sqrt().add_(EPSILON), value=-rate)
            else:
                exact = self._state(self._exact, parameter, parameter.float)
                exact.addcdiv_(gradient, square.sqrt().add_(EPSILON), value=-rate)
                parameter.copy_(exact)
                self._away(self._exact, parameter, exact)
            self._away(self._squares, parameter, square)

    def _state(self, kept: dict[int, Tensor], parameter: Tensor, first: Callable[[], Tensor]) -> Tensor:
        held = kept.get(id(parameter))
        if held is None:
            held = kept[id(parameter)] = first()
        return held.to(parameter.device)

    def _away(self, kept: dict[int, Tensor], parameter: Tensor, state: Tensor) -> None:
        kept[id(parameter)] = state.to(self._keep_on) if self._keep_on else state
