"""What a program does before it trains: objects it creates, parameters it initialises, saved states it loads."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader

from netmend.adapters.patches import HIDDEN
from netmend.adapters.torch.guard import RAISED, guarded
from netmend.adapters.torch.watch.eligible import plain
from netmend.adapters.torch.watch.known import Known
from netmend.vocabulary import Event, ProbeFact, Site

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession


# Creation: remembers the user's line that created each module, optimiser, scheduler and DataLoader.


_CREATING, _COMPILING = "the lines that create layers", "the use of torch.compile"


class Creation:
    def __init__(self, session: TorchSession) -> None:
        self.session = session

    def install(self) -> None:
        watch = self.session.watch
        schedulers = [
            kind for kind in vars(lr_scheduler).values() if isinstance(kind, type) and _initialises(kind)
        ]
        for owner in (torch.nn.Module, torch.optim.Optimizer, DataLoader, *schedulers):
            watch(_CREATING, owner, "__init__", self._creating, self._made, always=True)
        for place in (torch, torch.nn.Module):
            watch(_COMPILING, place, "compile", self._compiling, self._compiled, always=True)

    def _creating(self, args: Any, kwargs: Any) -> bool:
        self.session.loop.scheduler_depth += 1  # a scheduler steps itself while it is built
        return True

    def _made(self, token: Any, args: Any, kwargs: Any, result: Any) -> None:
        self.session.loop.scheduler_depth -= 1
        if result is not RAISED:
            self._created(args[0])

    def _compiling(self, args: Any, kwargs: Any) -> bool:
        self._compile_seen()
        return True

    def _compiled(self, token: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Without hooks nobody would discover a compiled model: get to know it now."""
        model = result if isinstance(result, torch.nn.Module) else args[0] if args else None
        if isinstance(model, torch.nn.Module) and result is not RAISED:
            self.session.models.expect(model)

    @guarded(_CREATING)
    def _created(self, thing: Any) -> None:
        site = self.session.sites.of_creation(thing)
        if site is not None:
            self.session.created.put(thing, site)
        if isinstance(thing, torch.optim.Optimizer):
            self.session.optimizers.created(thing)
            self.session.recorder.look_closely()

    @guarded(_COMPILING)
    def _compile_seen(self) -> None:
        """Module hooks inside a compiled graph would be traced into it or break it, so there are none from now on."""
        session = self.session
        session.compiled = True
        session.environment_changed(compiled=True)
        session.layers.disarm()
        session.recorder.missing(
            "torch.compile is used: statistics of activations are not taken; gradients, weights and updates are"
        )


def _initialises(kind: type) -> bool:
    return issubclass(kind, lr_scheduler.LRScheduler) and "__init__" in vars(kind)


# Initialisers: parameters that one line of the program initialises again and again before training begins.

AGAIN = "initialised again"
RAN = "initialisers"
_INITIALISING = "initialisers"
_NAMES_SHOWN = 5
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
                self.session.watch(_INITIALISING, torch.nn.init, name, self._called, always=True)

    def _called(self, args: Any, kwargs: Any) -> None:
        tensor = args[0] if args else kwargs.get("tensor")
        # Once steps are made, starting anew is a method: lottery tickets, resets of single layers.
        if isinstance(tensor, nn.Parameter) and plain(tensor) and self.session.recorder.step == 0:
            self._count(tensor)

    @guarded(_INITIALISING)
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
                "names": sorted(filter(None, names))[:_NAMES_SHOWN],
            }
            site = self._sites.get(line)
            name = site.short if site is not None else str(line[1])
            component = next(iter(values["names"]), "")  # type: ignore[call-overload]
            session.recorder.probe(AGAIN, component, values, site, name)


def _caller(frame: FrameType | None) -> FrameType | None:
    """The frame that called the wrapped function."""
    while frame is not None and frame.f_code.co_filename != HIDDEN:
        frame = frame.f_back
    return frame.f_back if frame is not None else None


# Checkpoints: what load_state_dict really took over.

_MOST_EVENTS = 100
_KEYS_SHOWN = 5  # names of missing and unexpected keys that are kept


class Checkpoints:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self._told: set[tuple[Any, ...]] = set()
        self._depth = 0

    def install(self) -> None:
        watch = self.session.watch
        watch("loaded states", nn.Module, "load_state_dict", self._loading, self._loaded, always=True)

    def _loading(self, args: Any, kwargs: Any) -> tuple[int]:
        self._depth += 1
        return (self._aliased(args, kwargs) or 0 if self._depth == 1 else 0,)

    def _loaded(self, token: tuple[int], args: Any, kwargs: Any, result: Any) -> None:
        self._depth -= 1
        if self._depth == 0 and result is not RAISED:
            self._note(token[0], args, kwargs, result)

    @guarded("loaded states")
    def _aliased(self, args: Any, kwargs: Any) -> int:
        """How many of the given tensors are the module's own: loading those changes nothing."""
        state = _argument(args, kwargs, 1, "state_dict", None)
        if not isinstance(state, Mapping):
            return 0
        own = {tensor.data_ptr() for tensor in (*args[0].parameters(), *args[0].buffers()) if tensor.numel()}
        given = (tensor for tensor in state.values() if isinstance(tensor, Tensor) and tensor.numel())
        return sum(tensor.data_ptr() in own for tensor in given)

    @guarded("loaded states")
    def _note(self, aliased: int, args: Any, kwargs: Any, result: Any) -> None:
        session, module = self.session, args[0]
        state = _argument(args, kwargs, 1, "state_dict", {})
        missing = list(getattr(result, "missing_keys", ()))
        unexpected = list(getattr(result, "unexpected_keys", ()))
        matched = max(0, len(state) - len(unexpected))
        site = session.sites.here()
        told = (site, type(module), matched, len(missing), len(unexpected), aliased)
        if told in self._told or len(self._told) >= _MOST_EVENTS:
            return
        self._told.add(told)
        name = session.names.get(module) or session.sites.name_here(module) or type(module).__name__
        session.recorder.event(
            Event(
                session.recorder.step,
                "state loaded",
                f"{matched} of {len(state)} entries of a saved state were loaded into {name}; "
                f"{len(missing)} of the module's own were not in it",
                name,
                site,
                {
                    "matched": matched,
                    "missing": len(missing),
                    "unexpected": len(unexpected),
                    "strict": bool(_argument(args, kwargs, 2, "strict", True)),
                    "module": type(module).__name__,
                    "aliased": aliased,
                    "missing_keys": missing[:_KEYS_SHOWN],
                    "unexpected_keys": unexpected[:_KEYS_SHOWN],
                },
            )
        )


def _argument(args: Any, kwargs: Any, position: int, name: str, default: Any) -> Any:
    return args[position] if len(args) > position else kwargs.get(name, default)
