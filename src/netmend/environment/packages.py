"""Installed distributions, from their metadata: nothing is imported, so this is quick and cannot crash a driver."""

from __future__ import annotations

import importlib.metadata as metadata
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from netmend.environment.facts import TorchBuild
from netmend.environment.versions import matches, read_requirement

_ASSIGNED = r"^{name}\s*(?::[^=\n]+)?=\s*(?P<value>None|'[^']*'|\"[^\"]*\")"


def normalised(name: str) -> str:
    """PEP 503: one spelling for My_Package, my.package and my-package."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed(folders: list[str] | None = None) -> tuple[dict[str, str], tuple[str, ...]]:
    """Every distribution with its version, and what they ask of each other and do not get (as `pip check` says)."""
    found = metadata.distributions(path=folders) if folders is not None else metadata.distributions()
    versions: dict[str, str] = {}
    asked: dict[str, list[str]] = {}
    for one in found:
        name = one.metadata["Name"] if one.metadata else None
        if not name or normalised(name) in versions:  # the first on the path is the one that is imported
            continue
        versions[normalised(name)] = one.version or ""
        asked[normalised(name)] = list(one.requires or ())
    return dict(sorted(versions.items())), tuple(_conflicts(versions, asked))


def _conflicts(versions: Mapping[str, str], asked: Mapping[str, Iterable[str]]) -> Iterable[str]:
    for name in sorted(asked):
        for line in asked[name]:
            wish = read_requirement(line)
            if wish is None or not wish.applies:
                continue
            have = versions.get(normalised(wish.name))
            if have is None:
                yield f"{name} {versions[name]} needs {wish.name}{wish.ranges}, which is not installed"
                continue
            try:
                fits = matches(have, wish.ranges)
            except ValueError:
                continue  # a version or a range of an odd form proves nothing
            if not fits:
                yield f"{name} {versions[name]} needs {wish.name}{wish.ranges}, but {have} is installed"


def torch_build(folders: list[str] | None = None) -> TorchBuild | None:
    """What torch was built for, from torch/version.py as text."""
    found = (
        metadata.distributions(name="torch", path=folders)
        if folders is not None
        else metadata.distributions(name="torch")
    )
    for one in found:
        file = Path(str(one.locate_file("torch/version.py")))
        try:
            text = file.read_text("utf-8", "replace")
        except OSError:
            return TorchBuild(one.version, None, None, str(file.parent))
        return TorchBuild(one.version, _assigned(text, "cuda"), _assigned(text, "hip"), str(file.parent))
    return None


def _assigned(text: str, name: str) -> str | None:
    found = re.search(_ASSIGNED.format(name=name), text, re.MULTILINE)
    if found is None or found["value"] == "None":
        return None
    return found["value"].strip("'\"") or None
