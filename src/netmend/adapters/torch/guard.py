"""The border between netmend and the user's program. Whatever crosses it, in either direction, passes through here.

Our failure never reaches the program (the part is switched off and the report says so), our time is counted, our own tensor
operations are invisible to the user's modes, and the user's call happens exactly once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import _disable_current_modes

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession


is_compiling = torch.compiler.is_compiling
_function_modes = torch._C._len_torch_function_stack
_dispatch_modes = torch._C._len_torch_dispatch_stack
Before = Callable[[tuple[Any, ...], dict[str, Any]], Any]
After = Callable[[Any, tuple[Any, ...], dict[str, Any], Any], None]


class Part(Protocol):
    session: TorchSession


Method = TypeVar("Method", bound=Callable[..., Any])


def guarded(part: str, *, inside: bool = False) -> Callable[[Method], Method]:
    """Run a method of a session's part safely and against the clock; while it runs, netmend sees nothing else.

    `inside`: it also runs within another such method, and what fails in it switches off its own part only.
    """

    def decorate(method: Method) -> Method:
        @functools.wraps(method)
        def call(self: Part, *args: Any, **kwargs: Any) -> Any:
            session = self.session
            outer = session.busy
            if (outer and not inside) or not session.alive:
                return None
            started = perf_counter()
            session.busy = True
            try:
                if part in session.recorder.off:
                    return None
                if _function_modes() or _dispatch_modes():
                    return _unseen(method, self, args, kwargs)
                return method(self, *args, **kwargs)
            except Exception as problem:  # noqa: BLE001 - the user's training must go on whatever failed here
                failed(session, part, problem)
                return None
            finally:
                session.busy = outer
                session.recorder.own += perf_counter() - started

        return call  # type: ignore[return-value]

    return decorate


def _unseen(method: Callable[..., Any], self: Part, args: Any, kwargs: Any) -> Any:
    """Modes of the user (or our own) must not see what we compute: a count of operations would change."""
    with torch._C.DisableTorchFunction(), _disable_current_modes():
        return method(self, *args, **kwargs)


def failed(session: TorchSession, part: str, problem: BaseException) -> None:
    """Switch a part off; if not even that works, everything."""
    try:
        session.recorder.switch_off(part, problem)
    except Exception:  # noqa: BLE001 - nothing is left to tell it to
        session.alive = False


def shielded(
    session: TorchSession, part: str, hook: Callable[..., Any], *, always: bool = False
) -> Callable[..., None]:
    """A hook that the framework calls: returns nothing and never raises; on light steps it rests, unless `always`."""

    def call(*args: Any) -> None:
        if is_compiling() or (session.quiet and not always) or not session.alive:
            return
        try:
            hook(*args)
        except Exception as problem:  # noqa: BLE001
            failed(session, part, problem)

    return call


def around(
    session: TorchSession,
    part: str,
    before: Before | None,
    after: After | None = None,
    *,
    always: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a wrapper for a function of the framework; on light steps it does nothing, unless `always`.

    `before(args, kwargs)` returns None when the call is of no interest (without it every call is); otherwise its result is handed to
    `after(token, args, kwargs, result)` once the original has returned. When the original raises, `result` is `RAISED`.
    """

    begins = before or _every

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            # is_compiling comes first: the compiler folds it, and sees nothing else of this function.
            if is_compiling():
                return original(*args, **kwargs)
            session.passes += 1
            if (session.quiet and not always) or session.busy or not session.alive:
                return original(*args, **kwargs)
            token = None
            try:
                token = begins(args, kwargs)
            except Exception as problem:  # noqa: BLE001
                failed(session, part, problem)
            if token is None or after is None:
                return original(*args, **kwargs)
            try:
                result = original(*args, **kwargs)
            except BaseException:
                _finish(after, token, args, kwargs, RAISED)
                raise
            _finish(after, token, args, kwargs, result)
            return result

        def _finish(after: After, token: Any, args: Any, kwargs: Any, result: Any) -> None:
            try:
                after(token, args, kwargs, result)
            except Exception as problem:  # noqa: BLE001
                failed(session, part, problem)

        return wrapper

    return make


def _every(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return True


def cost_of_a_pass(session: TorchSession) -> float:
    """Seconds that a call takes longer because it goes through `around`: nothing else measures them."""
    plain: Callable[[int], int] = abs
    wrapped: Callable[[int], int] = around(session, "calibration", None, lambda *given: None, always=True)(
        plain
    )
    fastest: dict[Callable[[int], int], float] = {}
    for function in (plain, wrapped) * 3:
        started = perf_counter()
        for number in range(_PASSES):
            function(number)
        took = (perf_counter() - started) / _PASSES
        fastest[function] = min(took, fastest.get(function, took))
    session.passes = 0
    return max(0.0, fastest[wrapped] - fastest[plain])


RAISED = object()
_PASSES = 50


def leave_modes(kind: type[TorchFunctionMode]) -> None:
    """Take modes of a class off the stack of function modes, wherever they are; others stay in their order."""
    above = []
    while _function_modes():
        mode = torch.overrides._pop_mode()
        if not isinstance(mode, kind):
            above.append(mode)
    for mode in reversed(above):
        torch.overrides._push_mode(mode)


def attempt(session: TorchSession, part: str, action: Callable[[], None]) -> None:
    """One of several steps that must all be tried."""
    try:
        action()
    except Exception as problem:  # noqa: BLE001
        failed(session, part, problem)
