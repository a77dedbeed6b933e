"""`netmend demo`: three small broken programs, each run and diagnosed as a user would do it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from netmend.cli.options import expanded
from netmend.errors import UsageError
from netmend.trials.options import option

SCRIPTS = (
    ("gradients_pile_up.py", "The loss goes up instead of down."),
    ("loss_stays_high.py", "Every prediction is right, and yet the loss does not fall below 1."),
    ("stuck_at_the_mean.py", "A regression that never beats the mean."),
)


@expanded
def demo(
    keep: Path | None = option(None, "Keep the scripts and runs in this directory.", metavar="DIR"),
) -> int:
    """Show three classic faults being found, in under a minute."""
    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise UsageError(f"--keep {keep}: the directory is not empty; name a new one")
    folder = Path(tempfile.mkdtemp(prefix="netmend-demo-")) if keep is None else keep
    folder.mkdir(parents=True, exist_ok=True)
    try:
        outcome = max(
            _show(folder, name, complaint, number, keep is not None)
            for number, (name, complaint) in enumerate(SCRIPTS, 1)
        )
    finally:
        if keep is None:
            sys.stdout.write("\nThese scripts and runs are deleted. To keep them: netmend demo --keep DIR\n")
            shutil.rmtree(folder, ignore_errors=True)
    return outcome


def _show(folder: Path, name: str, complaint: str, number: int, kept: bool) -> int:
    script = folder / name
    script.write_text((files("netmend") / "demo" / name).read_text(encoding="utf-8"), encoding="utf-8")
    rule = "─" * min(72, shutil.get_terminal_size().columns)
    sys.stdout.write(f"\n{rule}\n{number} of {len(SCRIPTS)}  {complaint}\n$ netmend run {name}\n\n")
    sys.stdout.flush()
    command = [sys.executable, "-m", "netmend.cli.demo", name, *(["--keep"] if kept else [])]
    ended = subprocess.run(command, cwd=folder, check=False)
    return 0 if ended.returncode == 1 else 2


def main(name: str, kept: bool) -> None:
    """One script as `netmend run` runs it; of a run that is deleted next, no place is told and no next step."""
    from netmend.cli.run import prepare_run
    from netmend.cli.run_options import RunOptions

    options = RunOptions(exit_on_fault=True, directory=Path(".netmend"), kept=kept)
    prepare_run(None, (name,), options)()


if __name__ == "__main__":
    main(sys.argv[1], "--keep" in sys.argv)
