"""`netmend demo`: three small broken programs, each run and diagnosed as a user would do it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from netmend.errors import UsageError

SCRIPTS = (
    ("gradients_pile_up.py", "The loss goes up instead of down."),
    ("sure_of_nothing.py", "Training runs smoothly, and the classifier stays unsure of everything."),
    ("stuck_at_the_mean.py", "A regression that never gets better than the mean."),
)


def show_demo(keep: Path | None) -> int:
    """Runs the scripts one after the other; returns 0 when each one's fault was found."""
    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise UsageError(f"--keep {keep}: the directory is not empty; name a new one")
    folder = Path(tempfile.mkdtemp(prefix="netmend-demo-")) if keep is None else keep
    folder.mkdir(parents=True, exist_ok=True)
    try:
        outcome = max(
            _show(folder, name, complaint, number) for number, (name, complaint) in enumerate(SCRIPTS, 1)
        )
    finally:
        if keep is None:
            sys.stdout.write(
                "\nThese scripts and runs are gone now; keep them with: netmend demo --keep DIRECTORY\n"
            )
            shutil.rmtree(folder, ignore_errors=True)
    return outcome


def _show(folder: Path, name: str, complaint: str, number: int) -> int:
    script = folder / name
    script.write_text((files("netmend") / "demo" / name).read_text(encoding="utf-8"), encoding="utf-8")
    sys.stdout.write(f"\n{'─' * 72}\n{number} of {len(SCRIPTS)}  {complaint}\n$ netmend run {name}\n\n")
    sys.stdout.flush()
    command = [sys.executable, "-m", "netmend", "run", "--exit-on-fault", "--directory", ".netmend", name]
    ended = subprocess.run(command, cwd=folder, check=False)
    return 0 if ended.returncode == 1 else 2
