"""Protocol: what the training loop calls, in which order, from which lines."""

from __future__ import annotations

from dataclasses import dataclass

from netmend.vocabulary.site import Site

# What a Call can be. "step" ends a pattern; everything since the previous step belongs to it.
CALLS = (
    "zero_grad",
    "forward",  # detail: train|eval, grad|no_grad
    "loss",
    "backward",
    "unscale",
    "clip",  # detail: norm|value
    "step",  # detail: "" | by hand | skipped by GradScaler
    "scheduler",
    "train",
    "eval",
    "epoch",  # a DataLoader was iterated anew
    "batch",  # a DataLoader handed out a batch
    "gap",  # watching began within a step that was to be passed over: what came before it is not known
    "end",  # the program ended; the calls before it followed the last step
)


@dataclass(frozen=True)
class Call:
    """One call of the loop; `times` counts direct repetitions."""

    what: str
    component: str = ""
    detail: str = ""
    site: Site | None = None
    times: int = 1


@dataclass(frozen=True)
class Pattern:
    """The calls between two optimiser steps, in order, and the steps at which exactly these happened."""

    calls: tuple[Call, ...]
    spans: tuple[tuple[int, int], ...]  # inclusive step ranges
    more_steps: int = 0  # further steps of a long run, of which only the number was kept

    @property
    def steps(self) -> int:
        return sum(last - first + 1 for first, last in self.spans) + self.more_steps

    def times(self, what: str) -> int:
        return sum(call.times for call in self.calls if call.what == what)

    def first(self, what: str) -> Call | None:
        return next((call for call in self.calls if call.what == what), None)
