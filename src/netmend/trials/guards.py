"""What a trial must not do: reach the network, write into the user's own folders. Refusals are errors of the program's own kind.

Python tells of what it does (audit events); of what libraries do past it, saving models is covered and nothing else.
"""

from __future__ import annotations

import functools
import os
import socket
import sys
import tempfile
from collections.abc import Callable
from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
_CHANGES: dict[str, tuple[tuple[int, int], ...]] = {  # audit events, where paths that get changed stand in them, and
    # where the descriptors of the folders that these are relative to (99: nowhere)
    "os.remove": ((0, 1),), "os.rmdir": ((0, 1),), "os.mkdir": ((0, 2),), "os.rename": ((0, 2), (1, 3)),
    "os.symlink": ((1, 2),), "os.link": ((0, 2), (1, 3)),  # a second name for a file is a way to write it
    "os.chmod": ((0, 2),), "os.chown": ((0, 3),), "os.utime": ((0, 3),), "os.truncate": ((0, 99),),
    "os.setxattr": ((0, 99),), "os.removexattr": ((0, 99),), "shutil.rmtree": ((0, 1),), "shutil.move": ((0, 99), (1, 99)),
}  # fmt: skip
_BEHIND_LINKS = {"os.chmod", "os.chown", "os.utime", "os.truncate"}  # the others concern the link itself
_LOCAL = ("127.", "::1", "localhost", "0.0.0.0")


class Guards:
    """`own` is the trial's own folder, `protected` what is the user's; `refused` is told of everything that was."""

    def __init__(
        self, own: str, protected: tuple[str, ...], network: bool, refused: Callable[[str], None]
    ) -> None:
        self.own = os.path.realpath(own)
        self.places = tuple(os.path.realpath(place) for place in protected)
        self.network, self.refused = network, refused
        self.scratch = os.path.realpath(tempfile.gettempdir())
        self.here = socket.gethostname()
        self.process = os.getpid()

    def install(self) -> None:
        """Watch this process from now on, and its forks."""
        sys.addaudithook(self._hook)

    def is_protected(self, path: Any, folder: Any = -1, follow: bool = True) -> bool:
        if not isinstance(path, str | bytes | os.PathLike):
            return False
        text = os.fsdecode(path)
        if isinstance(folder, int) and folder >= 0:
            text = os.path.join(os.path.realpath(f"/proc/self/fd/{folder}"), text)  # noqa: PTH118 - may be absolute
        if follow:
            full = os.path.realpath(text)
        else:
            parent, name = os.path.split(os.path.abspath(text))  # noqa: PTH100 - links stay
            full = os.path.join(os.path.realpath(parent), name)  # noqa: PTH118
        if _is_below(full, self.own):
            return False
        if _is_below(full, self.scratch) and not any(_is_below(place, self.scratch) for place in self.places):
            return False  # the user works in a folder that everything lies below
        return any(_is_below(full, place) for place in self.places)

    def check_writing(self, path: Any) -> None:
        if self.is_protected(path):
            self._refuse(
                f"writing {os.fsdecode(path)}", f"may not write outside its copy: {os.fsdecode(path)}"
            )

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            if isinstance(mode, str):
                writes = any(sign in mode for sign in "wax+")
            else:
                writes = bool((flags or 0) & _WRITING)
            if writes:
                self.check_writing(path)
        elif event in _CHANGES:
            self._changing(event, arguments)
        elif event.startswith("socket.") and not self.network:
            self._connecting(event, arguments)
        elif event == "os.exec" and os.getpid() == self.process:
            self._refuse("replacing its process", "may not replace its process: nothing would be seen of it")

    def _changing(self, event: str, arguments: tuple[Any, ...]) -> None:
        for at, beside in _CHANGES[event]:
            path = arguments[at]
            folder = arguments[beside] if beside < len(arguments) else -1
            if self.is_protected(path, folder, event in _BEHIND_LINKS):
                shown = os.fsdecode(path)
                self._refuse(f"changing {shown}", f"may not change {shown}")

    def _connecting(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
            address = arguments[1]
            host = address[0] if isinstance(address, tuple) else None  # others are sockets of this machine
        elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
            host = arguments[0]
        else:
            return
        name = host.decode(errors="replace") if isinstance(host, bytes) else str(host or "")
        if name and name != self.here and not name.startswith(_LOCAL):
            self._refuse(f"connecting to {name}", f"has no network ({name}); allow it with --network")

    def _refuse(self, what: str, why: str) -> None:
        self.refused(what)
        raise PermissionError(f"netmend: a trial {why}")


def _is_below(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip(os.sep) + os.sep)


def guard_saving(torch: Any, guards: Guards) -> None:
    """torch writes models in C++, past Python."""
    for owner in (torch, torch.jit.RecursiveScriptModule):
        owner.save = _checked(owner.save, guards)


def _checked(save: Callable[..., Any], guards: Guards) -> Callable[..., Any]:
    @functools.wraps(save)
    def checked(*args: Any, **kwargs: Any) -> Any:
        guards.check_writing(kwargs["f"] if "f" in kwargs else args[1] if len(args) > 1 else None)
        return save(*args, **kwargs)

    return checked
