"""Other seeds for the same program: every seed that it sets is moved by the trial's number, whatever it is.

Trial 0 leaves the program's own seeds alone. A program that sets none starts from the trial's number, so that a trial can
be repeated.
"""

from __future__ import annotations

import random
import sys
from typing import Any

_STRIDE = 1_000_003
_MOST = 2**32 - 1  # NumPy takes no larger ones


def moved(seed: Any, number: int) -> Any:
    """The seed that the program gets for the one it asks for."""
    if number == 0 or isinstance(seed, bool) or not isinstance(seed, int):
        return seed
    return (seed + _STRIDE * number) % _MOST


def move_seeds(number: int) -> None:
    """For Python's and NumPy's generators; NumPy is here already."""
    original = random.seed

    def seed(a: Any = None, version: int = 2) -> None:
        original(number if a is None else moved(a, number), version)

    original(number)
    random.seed = seed
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        _move_numpy(numpy, number)


def _move_numpy(numpy: Any, number: int) -> None:
    generators = numpy.random
    plain_seed, plain_default, plain_state = generators.seed, generators.default_rng, generators.RandomState
    drawn = iter(range(number * 1000, sys.maxsize))

    def seed(seed: Any = None) -> None:
        plain_seed(next(drawn) if seed is None else moved(seed, number))

    def default_rng(seed: Any = None) -> Any:
        return plain_default(next(drawn) if seed is None else moved(seed, number))

    class RandomState(plain_state):  # type: ignore[misc, valid-type]
        def __init__(self, seed: Any = None) -> None:
            super().__init__(next(drawn) if seed is None else moved(seed, number))

        def __reduce__(self) -> Any:
            plain = plain_state()
            plain.set_state(self.get_state())
            return plain.__reduce__()

    plain_seed(number)
    generators.seed, generators.default_rng = seed, default_rng
    if number:
        generators.RandomState = RandomState


def move_torch_seeds(number: int) -> None:
    """For torch; called once the program has imported it."""
    torch: Any = sys.modules["torch"]
    plain = torch.manual_seed
    plain(number)
    if not number:
        return

    def manual_seed(seed: int) -> Any:
        return plain(moved(seed, number))

    torch.manual_seed = torch.random.manual_seed = manual_seed
    for name in ("manual_seed", "manual_seed_all"):
        original = getattr(torch.cuda, name)
        setattr(torch.cuda, name, lambda seed, original=original: original(moved(seed, number)))
    _move_generators(torch, number)


def _move_generators(torch: Any, number: int) -> None:
    """`torch.Generator().manual_seed(1)`: splits of data are often drawn so."""

    class Generator(torch.Generator):  # type: ignore[misc]
        def manual_seed(self, seed: int) -> Any:
            super().manual_seed(moved(seed, number))
            return self

    try:
        Generator().manual_seed(0)
    except Exception:  # noqa: BLE001 - then they keep their seeds
        return
    torch.Generator = Generator
