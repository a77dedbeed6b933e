"""Where things are kept when the folder that is meant for them cannot be written: one temporary folder for each."""

from __future__ import annotations

import contextlib
import getpass
import hashlib
import os
import tempfile
from pathlib import Path


def home(directory: Path | None = None, start: Path | None = None) -> Path:
    """The folder that was named, $NETMEND_DIR, or `.netmend` in a working directory."""
    chosen = os.environ.get("NETMEND_DIR")
    return directory or (Path(chosen) if chosen else (start or Path.cwd()) / ".netmend")


def spare(folder: Path) -> Path:
    """The temporary folder that stands in for this one; always the same, so that what was kept there is found again."""
    key = hashlib.sha256(str(folder.absolute()).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    user = str(os.getuid()) if hasattr(os, "getuid") else getpass.getuser()
    return Path(tempfile.gettempdir()) / f"netmend-{user}" / key / folder.name


def writable(folder: Path) -> bool:
    """Whether files can be made in the folder, or it can be made itself. Tried: rights alone say little about file systems."""
    made = [above for above in (folder, *folder.parents) if not above.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
    finally:
        for above in made:
            with contextlib.suppress(OSError):
                above.rmdir()  # only what is still empty


def usable(folder: Path) -> tuple[Path, str]:
    """The folder, or what stands in for it with a sentence about that."""
    if writable(folder):
        return folder, ""
    other = spare(folder)
    return other, f"{folder} is not writable; what is worked out is kept in {other}"
