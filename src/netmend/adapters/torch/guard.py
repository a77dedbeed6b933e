"""The two promises of a good guest, for every function that runs inside the user's training:

our failure never reaches the program (the part is switched off and the report says so), and our time is counted.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from netmend.adapters.torch.session import TorchSession


class Part(Protocol):
    session: TorchSession


Method = TypeVar("Method", bound=Callable[..., Any])


def guarded(part: str) -> Callable[[Method], Method]:
    """Run a method of a session's part safely and against the clock; while it runs, netmend sees nothing else."""

    def decorate(method: Method) -> Method:
        @functools.wraps(method)
        def call(self: Part, *args: Any, **kwargs: Any) -> Any:
            session = self.session
            if session.busy or not session.alive or session.recorder.is_off(part):
                return None
            started = perf_counter()
            session.busy = True
            try:
                return method(self, *args, **kwargs)
            except Exception as problem:  # noqa: BLE001 - the user's training must go on whatever failed here
                session.recorder.switch_off(part, problem)
                return None
            finally:
                session.busy = False
                session.recorder.own += perf_counter() - started

        return call  # type: ignore[return-value]

    return decorate
