"""Packages that are called: `netmend.diagnose` is a folder of code and a verb of the interface at once.

Importing anything from such a package puts the package where the verb was; so it forwards calls to the verb.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class CallablePackage(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from netmend import api

        return getattr(api, self.__name__.rpartition(".")[2])(*arguments, **options)


def make_callable(name: str) -> None:
    """Let the package of this name forward calls to the function of `netmend.api` that is called like it."""
    sys.modules[name].__class__ = CallablePackage
