"""One step of training a language model: the loss, with its guard, and the update of one block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from netmend.mend.torch.language.blocks import Block
from netmend.mend.torch.language.methods import Method
from netmend.mend.torch.language.passes import Passes, log_probability
from netmend.mend.torch.language.reference import Reference, divergence
from netmend.mend.torch.language.rows import Batch, Pair, Row, collate

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
            after = ~good & (
                batch.place.to(found.device) >= _forks(pairs, found.device)[row % len(pairs)] - 1
            )
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


def _forks(pairs: Sequence[Pair], device: torch.device) -> Tensor:
    return torch.tensor([pair.fork for pair in pairs], device=device)


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
