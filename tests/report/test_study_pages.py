"""The pages of the studies in docs/ say what the result files say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("script", ["document_locate", "document_mending", "document_mutation"])
def test_the_page_is_what_the_result_files_say(script: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / f"{script}.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
