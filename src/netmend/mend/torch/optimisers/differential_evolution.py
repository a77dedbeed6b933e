"""Differential evolution as Arachne uses it: best member as base, random scale, binomial crossing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Evolution:
    """Published settings; the population and generations come from the budget."""

    scale: tuple[float, float] = (0.5, 1.0)
    recombination: float = 0.7
    reach: float = 2.0  # values stay within this many times the smallest and largest weight of the layer

    def search(
        self,
        fitness: Callable[[Tensor], Tensor],
        start: Tensor,
        spread: tuple[Tensor, Tensor, Tensor, Tensor],
        population: int,
        generations: int,
        random: torch.Generator,
        go_on: Callable[[Tensor], bool],
    ) -> Tensor:
        """The vector of the largest fitness; `go_on` sees the best of every generation."""
        mean, deviation, low, high = spread
        bottom, top = torch.minimum(self.reach * low, low), torch.maximum(self.reach * high, high)
        members = mean + deviation * torch.randn(population, len(start), generator=random).to(start)
        members[0] = start  # the model as it is takes part: the search can only do better
        members = members.clamp(bottom, top)
        members[0] = start
        worth = fitness(members)
        unchanged, limit = 0, max(10, generations // 10)
        for _ in range(generations):
            best = int(worth.argmax())
            tried = self._tried(members, best, random).clamp(bottom, top)
            found = fitness(tried)
            better = found > worth
            members = torch.where(better[:, None], tried, members)
            gained = float(torch.where(better, found, worth).max()) > float(worth.max())
            worth = torch.where(better, found, worth)
            unchanged = 0 if gained else unchanged + 1
            if not go_on(members[int(worth.argmax())]) or unchanged >= limit:
                break
        return members[int(worth.argmax())]

    def _tried(self, members: Tensor, best: int, random: torch.Generator) -> Tensor:
        count, width = members.shape
        # Two others for each member, never itself and never the same twice.
        one = (torch.arange(count) + torch.randint(1, count, (count,), generator=random)) % count
        two = (torch.arange(count) + torch.randint(1, count, (count,), generator=random)) % count
        two = torch.where(two == one, (two + 1) % count, two)
        two = torch.where(two == torch.arange(count), (two + 1) % count, two)
        two = torch.where(two == one, (two + 1) % count, two)
        drawn = torch.rand(count, 1, generator=random)
        factor = (self.scale[0] + (self.scale[1] - self.scale[0]) * drawn).to(members)
        mutant = members[best] + factor * (members[one] - members[two])
        crossed = torch.rand(count, width, generator=random) < self.recombination
        crossed[torch.arange(count), torch.randint(0, width, (count,), generator=random)] = True
        return torch.where(crossed.to(members.device), mutant, members)
