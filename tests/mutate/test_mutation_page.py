"""docs/mutation-study.md says what the result files say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_what_the_result_files_say() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "document_mutation.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
