"""Named ways to repair a language model: which blocks learn, from which loss."""

from __future__ import annotations

from dataclasses import dataclass

from netmend.errors import UsageError

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
