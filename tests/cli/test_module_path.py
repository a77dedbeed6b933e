"""A program finds its modules as it would without netmend."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_the_working_directory_stays_on_pythonpath(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "__init__.py").write_text("NAME = 'ours'\n", encoding="utf-8")
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "train.py").write_text("import tools\nprint(tools.NAME)\n", encoding="utf-8")
    paths = [str(tmp_path), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    ran = subprocess.run(
        [sys.executable, "-m", "netmend", "run", "-q", "scripts/train.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout == "ours\n", ran.stderr
