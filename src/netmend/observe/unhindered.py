"""Work of ours without the garbage collector: among a framework's objects one collection takes as long as half our imports."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unhindered() -> Iterator[None]:
    """No collection of cyclic garbage inside; the program's own setting afterwards."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
