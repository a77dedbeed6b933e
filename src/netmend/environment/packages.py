"""What is installed, and what the project asks for."""

from __future__ import annotations

import configparser
import importlib.metadata as metadata
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from netmend.environment.facts import Environment, Problem, TorchBuild
from netmend.environment.known_bad import known
from netmend.environment.versions import Requirement, Version, matches, read_requirement

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


# What a project asks for (requirements*.txt, pyproject.toml, setup.cfg) against what is installed.

PATTERNS = ("requirements*.txt", "requirements/*.txt", "requirements.in")
LARGEST = 1_000_000  # bytes; no requirement file is larger


def wishes(folder: Path) -> Iterator[tuple[str, Requirement]]:
    """Every requirement of the project with the file that states it. Optional parts are left out."""
    for pattern in PATTERNS:
        for file in sorted(folder.glob(pattern)):
            # what tests, documents and benchmarks need is not what the program needs
            if any(
                word in file.stem.lower()
                for word in ("dev", "test", "doc", "lint", "bench", "optional", "extra")
            ):
                continue
            for line in _text(file).splitlines():
                if (wish := read_requirement(line)) is not None:
                    yield str(file.relative_to(folder)), wish
    yield from _of_pyproject(folder / "pyproject.toml")
    yield from _of_setup_cfg(folder / "setup.cfg")


def _of_pyproject(file: Path) -> Iterator[tuple[str, Requirement]]:
    project = _project_table(file)
    if isinstance(project.get("requires-python"), str):
        yield file.name, Requirement("python", project["requires-python"].replace(" ", ""), True)
    for line in project.get("dependencies") or ():
        if isinstance(line, str) and (wish := read_requirement(line)) is not None:
            yield file.name, wish


def _project_table(file: Path) -> dict[str, Any]:
    """The table [project]; empty where it cannot be read (the parser came with Python 3.11)."""
    if sys.version_info >= (3, 11) and file.is_file():
        import tomllib

        try:
            project = tomllib.loads(_text(file)).get("project")
        except (tomllib.TOMLDecodeError, RecursionError):
            return {}
        return project if isinstance(project, dict) else {}
    return {}


def _of_setup_cfg(file: Path) -> Iterator[tuple[str, Requirement]]:
    if not file.is_file():
        return
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(_text(file))
    except configparser.Error:
        return
    for line in parser.get("options", "install_requires", fallback="").splitlines():
        if (wish := read_requirement(line)) is not None:
            yield file.name, wish


def _text(file: Path) -> str:
    try:
        if file.stat().st_size > LARGEST:
            return ""
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""


def unmet(folder: Path, environment: Environment) -> tuple[Problem, ...]:
    """Requirements that the installed packages do not meet, and pins for which there is no build of this Python."""
    found: dict[Problem, None] = {}
    for file, wish in wishes(folder):
        if wish.applies and (problem := _judge(file, wish, environment)) is not None:
            found.setdefault(problem)
    return tuple(found)


def _judge(file: str, wish: Requirement, environment: Environment) -> Problem | None:
    name = normalised(wish.name)
    have = environment.python if name == "python" else environment.packages.get(name)
    asked = f"{wish.name}{wish.ranges}"
    if have is None:
        return Problem(
            "warning",
            name,
            f"{file} asks for {asked}, which is not installed.",
            f'pip install "{asked}"{_hint(name, wish, environment)}',
            file,
        )
    try:
        fits = matches(have, wish.ranges)
    except ValueError:
        return None
    if fits:
        return None
    do = (
        f'pip install "{asked}"{_hint(name, wish, environment)}'
        if name != "python"
        else f"Use a Python {wish.ranges}."
    )
    return Problem("bad", name, f"{file} asks for {asked}, and {have} is installed.", do, file)


def _hint(name: str, wish: Requirement, environment: Environment) -> str:
    """A pinned torch may have no build for this Python: then pip finds nothing, and says so badly."""
    if name != "torch" or not wish.ranges.startswith("=="):
        return "."
    release = ".".join(str(part) for part in Version(wish.ranges[2:].removesuffix(".*")).release[:2])
    ranges = known("torch_python")["ranges"].get(release)
    if ranges is None or matches(environment.python, ranges):
        return "."
    return f" (in a Python {ranges}: there are no builds for {environment.python})."
