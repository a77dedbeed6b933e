"""Looking at the variables of a running frame without keeping them alive."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any, TypeVar

Result = TypeVar("Result")
_OURS = 3  # references to a snapshot that only the frame, our variable and the counting itself hold


def search_variables(frame: FrameType, search: Callable[[Mapping[str, Any]], Result]) -> Result:
    """`search` the local variables of a frame.

    Before Python 3.13 a function's variables are copied into a dictionary that the frame keeps: batches and graphs of one
    step would live until the function returns. The copy is emptied again, unless the user's code holds it (`locals()`).
    """
    variables = frame.f_locals
    try:
        return search(variables)
    finally:
        copied = sys.version_info < (3, 13) and frame.f_code.co_flags & inspect.CO_OPTIMIZED
        if copied and sys.getrefcount(variables) <= _OURS:
            variables.clear()
