"""Initialisers: parameters that one line of the program initialises again and again before training begins."""

from __future__ import annotations

import sys
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from netmend.adapters.torch.guard import around, guarded
from netmend.adapters.torch.watch.eligible import plain
from netmend.adapters.torch.watch.known import Known
from netmend.adapters.torch.watch.patches import HIDDEN
from netmend.vocabulary import ProbeFact, Site

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession

WHAT = "initialised again"
RAN = "initialisers"
_PART = "initialisers"
_SHOWN = 5
_Line = tuple[str, int]


class Initialisers:
    """Counts calls of `torch.nn.init` by parameter and by the line that makes them; what layers do themselves is left out."""

    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self._calls: Known[dict[_Line, int]] = Known()
        self._repeated: dict[_Line, Known[int]] = {}
        self._sites: dict[_Line, Site | None] = {}
        self._ran: set[str] = set()
        self._told: dict[_Line, int] = {}

    def install(self) -> None:
        for name, function in list(vars(torch.nn.init).items()):
            if name.endswith("_") and not name.startswith("_") and callable(function):
                self.session.patches.wrap(
                    torch.nn.init, name, around(self.session, _PART, self._called, always=True)
                )

    def _called(self, args: Any, kwargs: Any) -> None:
        tensor = args[0] if args else kwargs.get("tensor")
        # Once steps are made, starting anew is a method: lottery tickets, resets of single layers.
        if isinstance(tensor, nn.Parameter) and plain(tensor) and self.session.recorder.step == 0:
            self._count(tensor)

    @guarded(_PART)
    def _count(self, parameter: nn.Parameter) -> None:
        frame = _caller(sys._getframe(1))
        if frame is None or str(frame.f_globals.get("__name__", "")).split(".")[0] == "torch":
            return  # a layer's own start, or its reset_parameters()
        line = (frame.f_code.co_filename, frame.f_lineno)
        if line not in self._sites:
            self._sites[line] = self.session.sites.of(self.session.sites.user_frame(frame))
        counts = self._calls.get(parameter)
        if counts is None:
            counts = {}
            self._calls.put(parameter, counts)
        counts[line] = counts.get(line, 0) + 1
        if counts[line] > 1:
            self._repeated.setdefault(line, Known()).put(parameter, counts[line])

    def tell(self) -> None:
        """Write down what was seen; called when names are known."""
        session = self.session
        ran = {site.short for site in self._sites.values() if site is not None}
        if ran != self._ran:
            self._ran = ran
            session.recorder.fact(ProbeFact(RAN, RAN, values={"lines": sorted(ran)}))
        for line, known in self._repeated.items():
            found = list(known.items())
            if self._told.get(line) == len(found):
                continue
            self._told[line] = len(found)
            names = [session.names.get(parameter) or "" for parameter, _ in found]
            values = {
                "parameters": len(found),
                "most": max((times for _, times in found), default=0),
                "names": sorted(filter(None, names))[:_SHOWN],
            }
            site = self._sites.get(line)
            name = f"{WHAT}@{site.short if site is not None else line[1]}"
            component = next(iter(values["names"]), "")  # type: ignore[call-overload]
            session.recorder.fact(ProbeFact(name, WHAT, component, session.recorder.step, values, site))


def _caller(frame: FrameType | None) -> FrameType | None:
    """The frame that called the wrapped function."""
    while frame is not None and frame.f_code.co_filename != HIDDEN:
        frame = frame.f_back
    return frame.f_back if frame is not None else None
