"""Where a command keeps what it works out: where it was told, below the program, or in a temporary folder if that is read-only."""

from __future__ import annotations

import sys
from pathlib import Path

from netmend.store.places import home, usable


def work_folder(directory: Path | None, start: str | Path | None = None, quiet: bool = False) -> Path:
    """The folder; a line on stderr when it is another one than meant."""
    folder, warning = usable(home(directory, None if start is None else Path(start)).absolute())
    if warning and not quiet:
        sys.stderr.write(f"netmend: warning: {warning}\n")
    return folder
