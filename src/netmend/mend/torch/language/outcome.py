"""What a session of repairs is asked for, and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from netmend.mend.patch import Patch
from netmend.mend.torch.language.blocks import PATTERN
from netmend.mend.torch.language.loop import Budget
from netmend.mend.torch.language.memory_plan import Plan
from netmend.mend.torch.language.methods import BASELINE


@dataclass(frozen=True)
class Options:
    """What is tried. `bound` is the growth of perplexity on normal text beyond which no patch is recommended."""

    methods: tuple[str, ...] = (BASELINE, "irepair_kl", "irepair_fixed_kl", "unlikely_kl")
    rates: tuple[float, ...] = (1e-5, 1e-4)
    budget: Budget = field(default_factory=Budget)
    longest: int = 256
    bound: float = 0.01
    seed: int = 0
    device: str = ""  # "": an accelerator if there is one
    spread: bool = False
    blocks: str = PATTERN


@dataclass(frozen=True)
class Tried:
    """One method at its better rate: shares repaired and growth of perplexity on validation data and on unseen data."""

    method: str
    rate: float
    score: float
    repaired: float
    growth: float
    repaired_unseen: float
    growth_unseen: float
    touched: float
    seconds: float
    steps: int
    chosen: dict[str, int]


@dataclass(frozen=True)
class Outcome:
    """All that was tried; `patch` is the recommended method's, or None where none kept to the bound."""

    tried: tuple[Tried, ...]
    recommended: str | None
    patch: Patch | None
    plans: tuple[Plan, ...]
