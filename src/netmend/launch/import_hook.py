"""Do something right after a package has been imported for the first time.

netmend does not import the framework itself: a script may set environment variables (threads, devices) before it does.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any


class AfterImport(importlib.abc.MetaPathFinder):
    """A finder that lets the ordinary ones find the package, and calls back when it has been executed.

    A package that is half imported (it imports what led here) is waited for: whatever is imported next is the occasion to look.
    """

    def __init__(self, package: str, callback: Callable[[], None]) -> None:
        self.package = package
        self.callback = callback
        self._searching = False

    def install(self) -> None:
        if self._there():
            self.callback()
        elif self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def remove(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if self.package in sys.modules and not self._searching and self._there():
            self.remove()
            self.callback()
            return None
        if fullname != self.package or self._searching:
            return None
        self._searching = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._searching = False
        if spec is not None and spec.loader is not None:
            self._call_after(spec.loader)
        return spec

    def _there(self) -> bool:
        """Whether the package has been imported to its end."""
        module = sys.modules.get(self.package)
        return module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False)

    def _call_after(self, loader: Any) -> None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module  # once: the loader is its ordinary self again
            self.remove()
            execute(module)
            self.callback()

        loader.exec_module = exec_module
