"""An environment against what is known not to work together. The knowledge is data: known/*.json, each with its source."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from netmend.environment.facts import Environment, Problem
from netmend.environment.versions import Version, matches

KNOWN = Path(__file__).parent / "known"
SMALL_SHARED_MEMORY = 1024**3  # bytes; docker gives 64 MB unless told otherwise
FEW_OPEN_FILES = 1024  # workers and checkpoints of larger trainings need more


@cache
def known(name: str) -> Any:
    return json.loads((KNOWN / f"{name}.json").read_text("utf-8"))


def problems_of(environment: Environment) -> tuple[Problem, ...]:
    """All known problems of an environment, the sure ones first."""
    found = [
        *_combinations(environment),
        *_pairs(environment),
        *_torch_for_python(environment),
        *_driver(environment),
        *_capability(environment),
        *_limits(environment),
        *_asked(environment),
    ]
    return tuple(sorted(found, key=lambda problem: problem.level != "bad"))


def _fits(environment: Environment, name: str, ranges: str | None) -> bool:
    have = environment.version(name)
    if ranges is None:
        return have is None
    if have is None:
        return False
    if name == "system":
        return have == ranges
    try:
        return matches(have, ranges)
    except ValueError:
        return False  # a version of an odd form (a local build) proves nothing


def _combinations(environment: Environment) -> Iterator[Problem]:
    for entry in known("combinations")["entries"]:
        if all(_fits(environment, name, ranges) for name, ranges in entry["when"].items()):
            present = [
                f"{name} {environment.version(name)}"
                for name, ranges in entry["when"].items()
                if ranges is not None
            ]
            yield Problem(
                entry["level"], " with ".join(present), entry["happens"], entry["do"], entry["source"]
            )


def _release(version: str) -> str:
    """The first two numbers: releases are compiled against each other by those."""
    return ".".join(str(part) for part in (*Version(version).release, 0)[:2])


def _pairs(environment: Environment) -> Iterator[Problem]:
    for table in known("pairs")["tables"]:
        of, other = table["of"], table["with"]
        have, partner = environment.version(of), environment.version(other)
        if have is None or partner is None:
            continue
        wanted = table["pairs"].get(_release(have))
        if wanted is None:
            continue
        if table["relation"] == "same release":
            wrong, command = _release(partner) != _release(wanted), f'pip install "{other}=={wanted}.*"'
        else:
            wrong, command = Version(partner) < Version(wanted), f'pip install "{other}>={wanted}"'
        if wrong:
            what = f"{table['happens']} {of} {have} belongs with {other} {wanted}{'' if table['relation'] == 'same release' else ' or later'}."
            yield Problem(
                table["level"], f"{of} {have} with {other} {partner}", what, f"{command}.", table["source"]
            )


def _torch_for_python(environment: Environment) -> Iterator[Problem]:
    table = known("torch_python")
    have = environment.version("torch")
    ranges = table["ranges"].get(_release(have)) if have else None
    if have and ranges and not matches(environment.python, ranges):
        what = f"torch {have} is built for Python {ranges}, and this is Python {environment.python}."
        yield Problem(
            "warning",
            f"torch {have} with Python {environment.python}",
            what,
            "Use another Python or another torch.",
            table["source"],
        )


def _driver(environment: Environment) -> Iterator[Problem]:
    cuda, driver = environment.version("cuda"), environment.driver
    if environment.torch and cuda is None and environment.torch.hip is None and environment.gpus:
        what = f"torch {environment.torch.version} is built without CUDA, and this machine has {environment.gpus[0].name}: training runs on the processor."
        yield Problem(
            "warning",
            f"torch {environment.torch.version}",
            what,
            "Install a CUDA build: https://pytorch.org/get-started/locally/",
            "torch/version.py",
        )
    if cuda is None or driver is None:
        return
    for entry in known("cuda")["drivers"]:
        if Version(cuda).begins_with(Version(entry["cuda"])):
            if Version(driver) < Version(entry["driver"]):
                what = f"torch is built for CUDA {cuda}, which needs driver {entry['driver']} or later: “CUDA driver version is insufficient for CUDA runtime version”."
                do = f"Update the NVIDIA driver, or install a torch built for an older CUDA (driver {driver} is here)."
                yield Problem("bad", f"CUDA {cuda} with driver {driver}", what, do, entry["source"])
            return


def _capability(environment: Environment) -> Iterator[Problem]:
    cuda = environment.version("cuda")
    if cuda is None:
        return
    needed = {entry["capability"]: entry for entry in known("cuda")["capabilities"]}
    for gpu in {gpu.name: gpu for gpu in environment.gpus}.values():
        entry = needed.get(gpu.capability or "")
        if entry and Version(cuda) < Version(entry["cuda"]):
            what = f"{gpu.name} (compute capability {gpu.capability}) needs CUDA {entry['cuda']}, and torch is built for {cuda}: “no kernel image is available for execution on the device”."
            yield Problem(
                "bad",
                f"{gpu.name} with CUDA {cuda}",
                what,
                f"Install a torch built for CUDA {entry['cuda']} or later.",
                entry["source"],
            )


def _limits(environment: Environment) -> Iterator[Problem]:
    shared = environment.shared_memory
    if shared is not None and shared.total < SMALL_SHARED_MEMORY:
        what = f"/dev/shm has {shared.total // 1024**2} MB: DataLoader workers hand batches over through it and die with “Bus error”."
        yield Problem(
            "warning",
            "shared memory",
            what,
            "In a container: --ipc=host or --shm-size=8g; else num_workers=0.",
            "https://github.com/pytorch/pytorch#docker-image",
        )
    if environment.open_files is not None and environment.open_files < FEW_OPEN_FILES:
        what = f"A process may open {environment.open_files} files: many workers or shards fail with “Too many open files”."
        yield Problem(
            "warning",
            "open files",
            what,
            "ulimit -n 65536, or torch.multiprocessing.set_sharing_strategy('file_system').",
            "ulimit -n",
        )
    if (
        environment.memory
        and environment.memory_free is not None
        and environment.memory_free < environment.memory // 20
    ):
        what = (
            f"{environment.memory_free // 1024**2} MB of memory are free: the system may kill the training."
        )
        yield Problem(
            "warning",
            "memory",
            what,
            "End other programs, or use smaller batches and fewer workers.",
            "/proc/meminfo",
        )
    for space in environment.spaces:
        if space.free < 1024**3:
            what = f"{space.path} has {space.free // 1024**2} MB free: checkpoints fail with “No space left on device”."
            yield Problem("warning", "disk", what, "Make room, or write checkpoints elsewhere.", "statvfs")


def _asked(environment: Environment) -> Iterator[Problem]:
    for line in environment.conflicts:
        yield Problem(
            "warning",
            line.split(" ", 1)[0],
            f"{line}.",
            "Install what is asked for, in one pip call, so that pip can resolve them together.",
            "metadata of the installed packages",
        )


def removed_name(text: str) -> dict[str, str] | None:
    """The removed name that a message misses, if it is a known one: library, name, since, instead, source."""
    for entry in known("removed_names")["entries"]:
        module, _, attribute = entry["name"].rpartition(".")
        by_attribute = module and f"module '{module}' has no attribute '{attribute}'" in text
        if by_attribute or f"No module named '{entry['name']}'" in text:
            return dict(entry)
        if f"No module named {entry['name']}" in text.splitlines():
            return dict(entry)
    return None
