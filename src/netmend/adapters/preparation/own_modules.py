"""The modules of the program itself: the one that was started and those that lie beside or below it."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netmend.observe.sites import Sites

_MOST = 24


def own_modules(sites: Sites) -> list[ModuleType]:
    """None where the program is not known: a tool that runs tests, an interpreter without a script."""
    started = getattr(sys.modules.get("__main__"), "__file__", None)
    if not isinstance(started, str) or not sites.is_user_file(started):
        return []
    root = str(Path(started).parent)
    own = (
        module
        for name, module in list(sys.modules.items())
        if isinstance(file := getattr(module, "__file__", None), str)
        and file.startswith(root)
        and sites.is_user_file(file)
        and not name.startswith("netmend")
    )
    return list(islice(own, _MOST))
