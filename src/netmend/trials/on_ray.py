"""Trials on the machines of a Ray cluster: each node runs them as this machine would, in processes of their own."""

from __future__ import annotations

import contextlib
import importlib
import json
import logging
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from netmend.errors import UsageError
from netmend.trials import local, workspace
from netmend.trials.examination import needed
from netmend.trials.local import LocalExecutor
from netmend.trials.parcel import Answer, Parcel, data_of, pack, unpack, variables
from netmend.trials.trial import LOST, Outcome, Trial, from_json, to_json
from netmend.version import VERSION

_LOOK = 0.2  # seconds between looks at whether to stop
_RETRIES = 3  # by Ray itself, when a node or a worker is gone; then the runner tries again
_PATIENCE = 10.0  # seconds for calls in progress to notice that the executor is closed


class RayExecutor:
    """Runs trials one per call; calls may come from several threads.

    `address`: "local" starts Ray on this machine, "auto" or an address joins a cluster. None starts it, too, unless the
    environment names a cluster (RAY_ADDRESS), as it does in jobs of one.
    """

    def __init__(self, address: str | None = None, jobs: int | None = None) -> None:
        self._ray = _import_ray()
        self._connected = not self._ray.is_initialized()  # else it is the caller's, and stays as it is
        if self._connected:
            _connect(self._ray, address, jobs)
        self.jobs = jobs or max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        self._task = self._ray.remote(max_retries=_RETRIES)(on_node)
        self._lock = threading.Lock()
        self._data: dict[str, tuple[Any, dict[str, str]]] = {}  # by folder: what its trials share
        self._running: set[Any] = set()
        self._closed = threading.Event()

    def run(
        self, folder: Path, trial: Trial, protected: tuple[str, ...], stopping: Callable[[], bool]
    ) -> Outcome:
        """One trial: sent to a node, its outcome and record brought back into its folder."""
        directory = Path(trial.target.directory)
        local.clear(folder)
        workspace.make(directory, folder / "program", trial.texts, sources_only=True)
        data, environment = self._shared(directory)
        given = pack(folder, iter(needed(trial.examination, folder)))
        parcel = Parcel(trial, pack(folder / "program"), protected, environment, VERSION, given)
        task = self._task.options(num_cpus=max(1, trial.limits.threads))
        answer = self._await(task.remote(parcel, data), stopping)
        if isinstance(answer, str):
            return Outcome(LOST, exception=answer, root=str(folder / "program"))
        unpack(answer.files, folder)
        there, here = (json.dumps(str(place))[1:-1] for place in (answer.folder, folder))
        outcome = from_json(answer.outcome.replace(there, here))
        return outcome or Outcome(LOST, exception="the node answered in another version's words")

    def _shared(self, directory: Path) -> tuple[Any, dict[str, str]]:
        """The program's data, put once where all nodes get it from."""
        with self._lock:
            if str(directory) not in self._data:
                self._data[str(directory)] = (self._ray.put(data_of(directory)), variables(directory))
            return self._data[str(directory)]

    def _await(self, reference: Any, stopping: Callable[[], bool]) -> Answer | str:
        """The answer, or why there is none."""
        self._running.add(reference)
        try:
            while not (stopping() or self._closed.is_set()):
                ready, _ = self._ray.wait([reference], timeout=_LOOK)
                if ready:
                    answer: Answer = self._ray.get(reference)
                    return answer
            with contextlib.suppress(Exception):
                self._ray.cancel(reference)
            return "interrupted"
        except UsageError as problem:  # raised on the node; Ray adds a traceback to its text
            raise UsageError(str(problem).strip().splitlines()[-1].partition("UsageError: ")[2]) from None
        except self._ray.exceptions.RayError as problem:
            return f"{type(problem).__name__}: {problem}"[:2000]
        finally:
            self._running.discard(reference)

    def close(self) -> None:
        """End what runs and leave the cluster; it ends only if it was started here."""
        self._closed.set()
        last = time.monotonic() + _PATIENCE
        while self._running and time.monotonic() < last:
            time.sleep(_LOOK / 4)
        if self._connected and self._ray.is_initialized():
            self._ray.shutdown()
        self._connected = False


def _import_ray() -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError:
        raise UsageError(
            "trials on a cluster need Ray, which is not installed: pip install 'netmend[scale]'"
        ) from None


def _connect(ray: Any, address: str | None, jobs: int | None) -> None:
    logging.getLogger("ray").setLevel(logging.ERROR)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # of what is started here, nobody is told
    if address is None:
        address = "auto" if os.environ.get("RAY_ADDRESS") else "local"
    if address != "local":
        try:
            ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
        except (ConnectionError, RuntimeError, ValueError) as problem:
            raise UsageError(f"no Ray cluster answers at {address!r}: {problem}") from None
        return
    ray.init(
        address="local",
        num_cpus=jobs,
        include_dashboard=False,
        logging_level=logging.ERROR,
        log_to_driver=False,
    )


# A trial on a node of a cluster: unpacked, run as this machine runs its trials, packed up again.

_PREFIX = "netmend-trial-"


def on_node(parcel: Parcel, data: Any) -> Answer:
    """On a node: the trial in a folder of its own, run by an executor that lasts as long as Ray keeps the process."""
    if parcel.version != VERSION:
        raise UsageError(
            f"this node has netmend {VERSION}, the caller {parcel.version}; install the same one"
        )
    sweep()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
    with held(folder):
        return _tried(folder, parcel, data)


def _tried(folder: Path, parcel: Parcel, data: Any) -> Answer:
    try:
        for files in (data, parcel.sources):
            unpack(files, folder / "program")
        unpack(parcel.given, folder)
        (folder / "program").mkdir(exist_ok=True)
        limits = parcel.trial.limits
        if limits.megabytes is None:
            limits = replace(limits, megabytes=local.memory_limit(os.cpu_count() or 1))
        trial = replace(parcel.trial, limits=limits)
        local.describe(folder, trial, parcel.protected, parcel.environment)
        outcome = _executor().attend(folder, limits, lambda: False)
        run = Path(outcome.run) if outcome.run else None
        left = [*(run.iterdir() if run else ()), *folder.glob("*.npz"), *folder.glob("*.json")]
        names = {"outcome.json", "trial.json"}  # everything else that lies there, an examination has left
        record = pack(folder, ((str(f.relative_to(folder)), f) for f in left if f.name not in names))
        return Answer(to_json(outcome), str(folder), record)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def held(folder: Path) -> Iterator[bool]:
    """A lock on a folder as long as this process is at work there; false if another one has it."""
    import fcntl

    with (folder / "lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True


def sweep() -> None:
    """Take away the folders of trials whose process was killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if (folder / "lock").exists():
                with held(folder) as alone:
                    if alone:
                        shutil.rmtree(folder, ignore_errors=True)


_executors: list[LocalExecutor] = []  # of this process, on a node


def _executor() -> LocalExecutor:
    if not _executors:
        _executors.append(LocalExecutor(1))
    return _executors[0]
