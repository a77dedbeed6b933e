"""A trial on a node of a cluster: unpacked, run as this machine runs its trials, packed up again."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from netmend.errors import UsageError
from netmend.trials import local
from netmend.trials.local import LocalExecutor
from netmend.trials.parcel import Answer, Parcel, pack, unpack
from netmend.trials.trial import to_json
from netmend.version import VERSION

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
