"""Other seeds for the same program: every seed that it sets is moved by the trial's number, whatever it is.

Trial 0 leaves the program's own seeds alone. A program that sets none starts from the trial's number, so that a trial can
be repeated.

Where the data shall stay the same (a test set is judged by many trainings), seeds are moved from the first model on only: what a program draws
before it makes one, data and splits most of all, is then the same in all trials.
"""

from __future__ import annotations

import operator
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from types import FrameType
from typing import Any

_STRIDE = 1_000_003
_MOST = 2**32 - 1  # NumPy takes no larger ones
_SEEDED = (
    "RandomState",
    "SeedSequence",
    "MT19937",
    "PCG64",
    "PCG64DXSM",
    "Philox",
    "SFC64",
)  # of numpy.random
_UNSEEDED = 67280421310721  # what a torch.Generator starts from by itself


def moved(seed: Any, number: int) -> Any:
    """The seed that the program gets for the one it asks for."""
    if number == 0 or isinstance(seed, bool):
        return seed
    if isinstance(seed, str):
        return f"{seed} {number}"
    if isinstance(seed, bytes | bytearray):
        return bytes(seed) + str(number).encode()
    if isinstance(seed, float):
        return seed + number
    if isinstance(seed, Sequence):
        return [*seed, number]
    try:
        return (operator.index(seed) + _STRIDE * number) % _MOST
    except TypeError:  # a generator, or a source of seeds that was moved itself
        return [*seed.tolist(), number] if hasattr(seed, "tolist") else seed


def move_seeds(number: int) -> None:
    """For Python's and NumPy's generators; NumPy is here already."""
    drawn = iter(range(number * 1000, sys.maxsize))
    _move_python(number, drawn)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        _move_numpy(numpy, number, drawn)


def _move_python(number: int, drawn: Iterator[int]) -> None:
    of_all, of_one = random.seed, random.Random.seed

    def seed(a: Any = None, version: int = 2) -> None:
        of_all(number if a is None else moved(a, number), version)

    def seed_one(self: random.Random, a: Any = None, version: int = 2) -> None:
        if a is None:
            a = None if _names_files(sys._getframe(1)) else next(drawn)
        else:
            a = moved(a, number)
        of_one(self, a, version)

    of_all(number)
    random.seed = seed
    random.Random.seed = seed_one  # type: ignore[method-assign]


def _names_files(frame: FrameType | None) -> bool:
    """Whether it is the standard library that wants random numbers: names of temporary files must differ."""
    while frame is not None and frame.f_globals.get("__name__") in ("random", __name__):
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__name__") == "tempfile"


def _move_numpy(numpy: Any, number: int, drawn: Iterator[int]) -> None:
    generators = numpy.random
    plain_seed, plain_default = generators.seed, generators.default_rng

    def change(seed: Any) -> Any:
        return next(drawn) if seed is None else moved(seed, number)

    def seed(seed: Any = None) -> None:
        plain_seed(change(seed))

    def default_rng(seed: Any = None) -> Any:
        return plain_default(change(seed))

    plain_seed(number)
    generators.seed, generators.default_rng = seed, default_rng
    for name in _SEEDED:
        if hasattr(generators, name):
            setattr(generators, name, _moving(getattr(generators, name), change))


def _moving(plain: Any, change: Callable[[Any], Any]) -> Any:
    """A class that makes instances of another one from changed seeds; nothing else about it is different."""

    class Moving(type(plain)):  # type: ignore[misc]
        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            if cls is not made:  # a subclass of the program's own
                return super().__call__(*args, **kwargs)
            for name in ("seed", "entropy"):
                if name in kwargs:
                    return plain(*args, **{**kwargs, name: change(kwargs[name])})
            return plain(change(args[0] if args else None), *args[1:], **kwargs)

        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, plain) if cls is made else super().__instancecheck__(instance)

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, plain) if cls is made else super().__subclasscheck__(subclass)

    made = Moving(plain.__name__, (plain,), {"__module__": plain.__module__, "__doc__": plain.__doc__})
    return made


def move_torch_seeds(number: int) -> None:
    """For torch; called once the program has imported it."""
    torch: Any = sys.modules["torch"]
    plain = torch.manual_seed
    plain(number)

    def seed() -> int:
        plain(number)
        return number

    torch.seed = torch.random.seed = seed
    if not number:
        return

    def manual_seed(seed: int) -> Any:
        return plain(moved(seed, number))

    torch.manual_seed = torch.random.manual_seed = manual_seed
    for name in ("manual_seed", "manual_seed_all"):
        original = getattr(torch.cuda, name)
        setattr(torch.cuda, name, lambda seed, original=original: original(moved(seed, number)))
    _move_generators(torch, number)


def move_from_first_model(number: int) -> None:
    """Call in the place of `move_torch_seeds`, with `move_seeds(0)` before: all seeds are moved once the program makes a model."""
    move_torch_seeds(0)
    if not number:
        return
    torch: Any = sys.modules["torch"]
    waiting = [number]

    def before(plain: Any) -> Any:
        def called(*args: Any, **kwargs: Any) -> Any:
            if waiting:
                move_seeds(waiting[0])
                move_torch_seeds(waiting.pop())
            return plain(*args, **kwargs)

        return wraps(plain)(called)

    # A model that is read from a file has no parameter registered; it is trained by an optimizer all the same.
    torch.nn.Module.register_parameter = before(torch.nn.Module.register_parameter)
    torch.optim.Optimizer.__init__ = before(torch.optim.Optimizer.__init__)


def _move_generators(torch: Any, number: int) -> None:
    """`torch.Generator().manual_seed(1)`: splits of data are often drawn so."""
    plain = torch.Generator

    class Moving(type(plain)):  # type: ignore[misc]
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, plain)

    class Generator(plain, metaclass=Moving):  # type: ignore[misc, valid-type]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().manual_seed(moved(_UNSEEDED, number))

        def manual_seed(self, seed: int) -> Any:
            super().manual_seed(moved(seed, number))
            return self

        def __reduce__(self) -> Any:
            return (plain, *super().__reduce__()[1:])

    try:
        torch.rand(1, generator=Generator())
    except Exception:  # noqa: BLE001 - then they keep their seeds
        return
    torch.Generator = Generator
