"""The data sets by name: where they are kept, how they are made, and what they stand in for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from bench.datasets import arrays, fashion, higgs, mnist, words
from netmend.errors import UsageError

SETS: dict[str, Callable[[Path], str]] = {
    "mnist": mnist.prepare,
    "fashion": fashion.prepare,
    "words": words.prepare,
    "higgs": higgs.prepare,
}
# Need no network, so they are made when first asked for, and again when an older generator made them.
GENERATED = {"words": words.ABOUT, "higgs": higgs.ABOUT}

# What a program runs on where the data of the study cannot be had from any package.
STAND_INS = {
    "fashion": "Fashion-MNIST photographs (repeated to 3 channels) in place of CIFAR-10",
    "words": "generated Zipf bags of words, 46 skewed classes, in place of Reuters topics",
    "higgs": "generated events, 31 unscaled columns with -999, in place of the Higgs challenge",
}


def default_folder() -> Path:
    """NETMEND_BENCH_DATA, else a folder in the user's cache."""
    chosen = os.environ.get("NETMEND_BENCH_DATA", "")
    if chosen:
        return Path(chosen)
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(cache) if cache else Path.home() / ".cache") / "netmend" / "bench"


def get(name: str, folder: Path | None = None) -> Path:
    """The file of a data set that was set up before."""
    if name not in SETS:
        raise UsageError(f"there is no data set {name!r}; known are {', '.join(SETS)}")
    file = (folder or default_folder()) / f"{name}.npz"
    if not _is_there(name, file):
        if name not in GENERATED:
            raise UsageError(
                f"the data set {name!r} is not in {file.parent}: run `netmend bench setup` first"
            )
        SETS[name](file)
    return file


def _is_there(name: str, file: Path) -> bool:
    return file.is_file() and (name not in GENERATED or arrays.about(file) == GENERATED[name])


def prepare_all(folder: Path | None = None, told: Callable[[str], None] = lambda line: None) -> None:
    """Fetches or generates what is missing, and says of every set what it is."""
    folder = folder or default_folder()
    problems = []
    for name, prepare in SETS.items():
        file = folder / f"{name}.npz"
        try:
            line = arrays.about(file) if _is_there(name, file) else prepare(file)
        except UsageError as problem:
            problems.append(f"{name}: {problem}")
            continue
        told(f"{name}: {line}")
    if problems:
        raise UsageError("; ".join(problems))
