"""What netmend raises. Every message says what was wrong, the value seen, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class NetmendError(Exception):
    """Base of all errors that are shown to a user as one line, without a traceback."""


class UsageError(NetmendError):
    """The command or call cannot be carried out as it was given."""


class RunNotFound(NetmendError):
    """No recorded run has the given name."""


class RunUnreadable(NetmendError):
    """A run directory exists but cannot be read: corrupt, of a newer version, or not a run at all."""


class MissingExtra(NetmendError):
    """A feature needs an optional package that is not installed."""


@contextmanager
def needing_torch(why: str) -> Iterator[None]:
    """Imports of what needs PyTorch; a sentence with advice where it is not installed."""
    try:
        yield
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] != "torch":
            raise
        raise MissingExtra(f"{why}: pip install torch") from None
