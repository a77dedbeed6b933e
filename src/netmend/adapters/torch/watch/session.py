"""TorchSession: everything that watches one PyTorch program, installed and removed together."""

from __future__ import annotations

import os
import platform
import threading
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch

from netmend.adapters.patches import Patches
from netmend.adapters.torch.guard import After, Before, around, attempt, cost_of_a_pass, leave_modes
from netmend.adapters.torch.meters.host_meter import HostMeter
from netmend.adapters.torch.meters.meter import Meter
from netmend.adapters.torch.watch.construction import Checkpoints, Creation, Initialisers
from netmend.adapters.torch.watch.crash import crash_fact
from netmend.adapters.torch.watch.data import Data
from netmend.adapters.torch.watch.first_batch import FirstBatch
from netmend.adapters.torch.watch.functions import Functions, Spy
from netmend.adapters.torch.watch.graphs import Graphs, Loose, Passages
from netmend.adapters.torch.watch.known import Known
from netmend.adapters.torch.watch.layers import Layers
from netmend.adapters.torch.watch.loop import Loop
from netmend.adapters.torch.watch.losses import Losses
from netmend.adapters.torch.watch.models import Models
from netmend.adapters.torch.watch.nonfinite import Nonfinite
from netmend.adapters.torch.watch.often import Often
from netmend.adapters.torch.watch.optimizers import Optimizers
from netmend.adapters.torch.watch.progress import Evaluation, Progress
from netmend.adapters.torch.watch.readiness import Readiness
from netmend.adapters.torch.watch.steps import ByHand, Steps
from netmend.observe.recorder import Recorder
from netmend.observe.schedule import FULL, LIGHT, LINE
from netmend.observe.session import Adapter
from netmend.vocabulary import EnvironmentFact, Site


@runtime_checkable
class OnDevice(Protocol):
    """A meter whose work takes time on a device of its own."""

    def take_device_seconds(self) -> float: ...


class TorchSession:
    """Holds what the parts share; each part watches one aspect of the program."""

    def __init__(
        self, recorder: Recorder, *, everything: bool = False, trap: bool = False, probe: bool = False
    ) -> None:
        self.recorder = recorder
        self.sites = recorder.sites
        self.everything = everything  # the costlier statistics on every full step
        self.trap = trap  # wait for the device at each step to catch non-finite values where they arise
        self.probe = probe  # train copies of the model on its first batch
        self.alive = False
        self.passes = 0  # calls of the program through a wrapper of ours since that was last accounted for
        self.pass_cost = 0.0  # seconds of one of them
        self.quiet = False  # the step in progress is light: nothing is recorded
        self.busy = False  # netmend's own code is running: its tensor operations are not the user's
        self.in_backward = False
        self.compiled = False
        self.thread: int | None = None
        self.created: Known[Site] = Known()
        self.names: Known[str] = Known()  # modules, parameters, optimisers, schedulers, loaders
        self.patches = Patches()
        self.environment = EnvironmentFact()
        self._meters: dict[str, Meter] = {}
        self._taken: dict[str, int] = {}
        self.steps = Steps(self)
        self.creation = Creation(self)
        self.initialisers = Initialisers(self)
        self.readiness = Readiness(self)
        self.functions = Functions(self)
        self.layers = Layers(self)
        self.often = Often(self)
        self.models = Models(self)
        self.losses = Losses(self)
        self.graphs = Graphs(self)
        self.loose = Loose(self)
        self.passages = Passages(self)
        self.checkpoints = Checkpoints(self)
        self.progress = Progress(self)
        self.loop = Loop(self)
        self.optimizers = Optimizers(self)
        self.by_hand = ByHand(self)
        self.data = Data(self)
        self.evaluation = Evaluation(self)
        self.nonfinite = Nonfinite(self)
        self.first_batch = FirstBatch(self)
        self.companions: tuple[Adapter, ...] = ()  # of libraries built on PyTorch
        os.register_at_fork(after_in_child=self._abandon)

    def install(self) -> None:
        self.alive = True
        self.pass_cost = cost_of_a_pass(self)
        self.environment_changed(**environment())
        for part in (
            self.creation,
            self.initialisers,
            self.loop,
            self.losses,
            self.checkpoints,
            self.optimizers,
            self.data,
            self.models,
        ):
            part.install()
        if self.recorder.level == FULL:
            self.layers.arm()
        for companion in self.companions:  # one that fails takes no other down
            attempt(self, type(companion).__name__.lower(), companion.install)

    def remove(self) -> None:
        """Take every hook and patch away; what was recorded stays until `finish`."""
        for companion in reversed(self.companions):
            attempt(self, "the removal of hooks", companion.remove)
        attempt(self, "the removal of hooks", self.layers.disarm)
        attempt(self, "the removal of hooks", self.optimizers.remove)
        attempt(self, "the removal of hooks", self.patches.undo)
        self.alive = False
        leave_modes(Spy)

    def crashed(self, problem: BaseException) -> None:
        """Record what raised; the exception is only looked at."""

        def record() -> None:
            fact = crash_fact(self, problem)
            if fact is not None:
                self.recorder.fact(fact)

        attempt(self, "the crash", record)

    def finish(self) -> None:
        """Close what is open and hand out the last results; call before `remove`."""
        parts = (
            self.data.finish,  # the last batch, about which companions ask
            *(companion.finish for companion in reversed(self.companions)),
            self.evaluation.close,
            self.steps.finish,
            self.loop.finish,
            self.optimizers.finish,
            self.models.finish,
            self.progress.finish,
        )
        for part in (*parts, self._collect_all):
            attempt(self, "the end of the run", part)

    def _collect_all(self) -> None:
        self.collect(wait=True)
        for device, meter in self._meters.items():
            skipped = getattr(meter, "skipped_steps", 0)
            if skipped:
                self.recorder.missing(
                    f"statistics of {skipped} steps were left out: {device} had not finished earlier ones"
                )
            meter.release()

    def _abandon(self) -> None:
        """In a forked child (a DataLoader worker): watch nothing."""
        self.alive = False

    def account(self) -> None:
        """The wrappers' own time becomes part of what the step in progress has cost."""
        self.recorder.own += self.passes * self.pass_cost
        self.passes = 0

    def watch(
        self,
        part: str,
        owner: Any,
        name: str,
        before: Before | None,
        after: After | None = None,
        *,
        always: bool = False,
    ) -> None:
        """Have a part see the calls of a function of the framework; see guard.around."""
        self.patches.wrap(owner, name, around(self, part, before, after, always=always))

    # -- shared services --------------------------------------------------------------------------------------

    def watching(self) -> bool:
        """Whether calls of the current thread are recorded now: ordinary training, at more than light level."""
        return (
            self.alive
            and not self.busy
            and self.recorder.level != LIGHT
            and (self.thread is None or self.thread == threading.get_ident())
        )

    def promote(self) -> None:
        """Something rare and worth seeing begins (an epoch, an evaluation): look at least at line level."""
        if self.recorder.level == LIGHT:
            self.recorder.level = LINE
            self.quiet = False
            self.recorder.patterns.note("gap")  # what the step in progress has called before was not seen

    def meter(self, device: torch.device) -> Meter:
        key = str(device)
        meter = self._meters.get(key)
        if meter is None:
            meter = self._meters[key] = _new_meter(device)
            meter.start(self.recorder.step)
        return meter

    def start_meters(self) -> None:
        for meter in self._meters.values():
            meter.start(self.recorder.step)

    def finish_meters(self) -> None:
        for meter in self._meters.values():
            meter.finish()

    def device_seconds(self) -> float:
        """Time that statistics took on devices since the last time this was asked."""
        return sum(m.take_device_seconds() for m in self._meters.values() if isinstance(m, OnDevice))

    def collect(self, wait: bool = False) -> None:
        for meter in self._meters.values():
            meter.collect(self.recorder.row, _arrived, wait)

    def unique_name(self, name: str) -> str:
        """The name itself, or with a number when it is taken."""
        number = self._taken[name] = self._taken.get(name, 0) + 1
        return name if number == 1 else f"{name}#{number}"

    def environment_changed(self, **changes: Any) -> None:
        """Something about the environment became known while running (mixed precision, device)."""
        updated = replace(self.environment, **changes)
        if updated != self.environment:
            self.environment = updated
            self.recorder.fact(updated)


def _arrived(take: object, value: float) -> None:
    if callable(take):
        take(value)


def _new_meter(device: torch.device) -> Meter:
    if device.type == "cuda":
        from netmend.adapters.torch.meters.device.meter import DeviceMeter

        return DeviceMeter(device)
    return HostMeter()


def environment() -> dict[str, Any]:
    """Fields of an EnvironmentFact that are known at the start; initialises no device."""
    version = torch.__version__
    return {
        "python": platform.python_version(),
        "framework": f"torch {version}",
        "numpy": str(np.__version__),
        "platform": platform.platform(terse=True),
        "default_dtype": str(torch.get_default_dtype()).removeprefix("torch."),
        "threads": torch.get_num_threads(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "rank": int(os.environ.get("RANK", "0")),
        "world_size": int(os.environ.get("WORLD_SIZE", "1")),
    }
