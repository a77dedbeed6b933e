"""What a trial must not do: reach the network, write into the user's own folders. Refusals are errors of the program's own kind."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
_CHANGES = {  # audit events whose first arguments are paths that get changed
    "os.remove": 1, "os.rmdir": 1, "os.rename": 2, "os.mkdir": 1, "os.truncate": 1, "os.chmod": 1, "os.link": 2,
    "os.symlink": 2, "shutil.rmtree": 1, "shutil.move": 2,
}  # fmt: skip
_LOCAL = ("127.", "::1", "localhost", "0.0.0.0")


def install(root: str, protected: tuple[str, ...], network: bool, refused: Callable[[str], None]) -> None:
    """Watch this process from now on; `root` is the trial's own copy, `protected` what is the user's."""
    own = os.path.realpath(root)
    places = tuple(os.path.realpath(place) for place in protected)
    scratch = os.path.realpath(tempfile.gettempdir())

    def is_protected(path: Any) -> bool:
        if not isinstance(path, str | bytes | os.PathLike):
            return False
        full = os.path.realpath(os.fsdecode(path))
        if full == own or full.startswith(own + os.sep):
            return False
        return any(full == place or full.startswith(place + os.sep) for place in places) and not (
            full.startswith(scratch + os.sep) and not any(place.startswith(scratch) for place in places)
        )

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            writes = (
                any(sign in mode for sign in "wax+")
                if isinstance(mode, str)
                else bool((flags or 0) & _WRITING)
            )
            if writes and is_protected(path):
                refused(f"writing {os.fsdecode(path)}")
                raise PermissionError(f"netmend: a trial may not write outside its copy: {os.fsdecode(path)}")
        elif event in _CHANGES:
            for path in arguments[: _CHANGES[event]]:
                if is_protected(path):
                    refused(f"changing {os.fsdecode(path)}")
                    raise PermissionError(f"netmend: a trial may not change {os.fsdecode(path)}")
        elif event == "socket.connect" and not network:
            address = arguments[1]
            if isinstance(address, tuple) and not str(address[0]).startswith(_LOCAL):
                refused(f"connecting to {address[0]}")
                raise PermissionError(
                    f"netmend: trials have no network ({address[0]}); allow it with --network"
                )
        elif event == "socket.getaddrinfo" and not network:
            host = arguments[0]
            if host and not str(host).startswith(_LOCAL):
                refused(f"connecting to {host}")
                raise PermissionError(f"netmend: trials have no network ({host}); allow it with --network")

    sys.addaudithook(hook)
