"""What the program was doing when it raised: facts that only somebody inside the process could see."""

from __future__ import annotations

from dataclasses import dataclass

Shape = tuple[int, ...]


@dataclass(frozen=True)
class GivenFact:
    """One tensor that took part: its form, and its range where that was cheap and safe to read."""

    shape: Shape = ()
    dtype: str = ""
    device: str = ""
    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True)
class CrashFact:
    """The innermost module whose forward raised, what it was given, and what it holds; or the loss that raised."""

    name: str = "crash"
    step: int = 0
    model: str = ""  # the outermost module of the call in progress
    batch: tuple[GivenFact, ...] = ()  # what that model was given
    first_batch: tuple[Shape, ...] = ()  # shapes of what it was given when it was first seen
    module: str = ""  # the innermost module that raised: "net.0"
    kind: str = ""  # its class name
    given: tuple[GivenFact, ...] = ()
    wants: str = ""  # the size that does not fit, in words: "10 features"
    got: str = ""
    dtype: str = ""  # of its weights
    device: str = ""
    loss: str = ""  # the loss function that raised
    prediction: GivenFact | None = None
    target: GivenFact | None = None
