"""Particle swarms: Arachne's first version (constriction) and CARE's (small accelerations)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Swarm:
    """v ← inertia · v + own · r₁ (own best − x) + social · r₂ (best − x)."""

    inertia: float
    own: float
    social: float
    patience: int = 10  # iterations without gain before it stops
    reach: float | None = (
        2.0  # values within this many times the layer's range; None: within the bounds given as range
    )
    from_start: bool = False  # all particles start near the values as they are

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
        """The vector of the largest fitness; `go_on` sees the best of every iteration."""
        mean, deviation, low, high = spread
        reach = self.reach or 1.0
        bottom, top = torch.minimum(reach * low, low), torch.maximum(reach * high, high)
        noise = torch.randn(population, len(start), generator=random).to(start)
        middle = start if self.from_start else mean
        places = (middle + deviation * noise).clamp(bottom, top)
        places[0] = start
        fastest = 5.0 * (high - low).clamp_min(1e-12)
        speed = torch.zeros_like(places)
        own, own_worth = places.clone(), fitness(places)
        best, best_worth, without = own[int(own_worth.argmax())].clone(), float(own_worth.max()), 0
        for _ in range(generations):
            first, second = torch.rand(2, *places.shape, generator=random).to(places)
            speed = (
                self.inertia * speed
                + self.own * first * (own - places)
                + self.social * second * (best - places)
            )
            speed = speed.clamp(-fastest, fastest)
            places = (places + speed).clamp(bottom, top)
            worth = fitness(places)
            better = worth > own_worth
            own, own_worth = torch.where(better[:, None], places, own), torch.where(better, worth, own_worth)
            without = without + 1
            if float(own_worth.max()) > best_worth:
                best, best_worth, without = own[int(own_worth.argmax())].clone(), float(own_worth.max()), 0
            if not go_on(best) or without >= self.patience:
                break
        return best


def constricted(phi: float = 4.1) -> Swarm:
    """Arachne's first version: phi is split evenly, chi keeps the swarm from exploding."""
    chi = 2.0 / (phi - 2.0 + math.sqrt(phi * phi - 4.0 * phi))
    return Swarm(inertia=chi, own=chi * phi / 2, social=chi * phi / 2)


def care() -> Swarm:
    """CARE's settings: it starts at no change."""
    return Swarm(inertia=0.8, own=0.41, social=0.41, reach=None, from_start=True)
