"""The page in a real browser: it renders, complains about nothing, asks nobody for anything."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from sample import healthy

from netmend.diagnose.detectors.loop_calls import GradientsNotCleared
from netmend.localise import diagnose
from netmend.report.run.page import run_page

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--enable-logging=stderr",
    "--virtual-time-budget=2000",
]

pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs a Chromium or Chrome on the PATH")


def _open(tmp_path: Path, page: str, *flags: str) -> tuple[str, str]:
    file = tmp_path / "page.html"
    file.write_text(page, encoding="utf-8")
    command = [
        str(BROWSER),
        *FLAGS,
        f"--user-data-dir={tmp_path / 'profile'}",
        *flags,
        "--dump-dom",
        file.as_uri(),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return ended.stdout, ended.stderr


@pytest.mark.parametrize("size", ["1200,900", "390,844"])
def test_the_page_renders_without_complaints(tmp_path: Path, size: str) -> None:
    trace = GradientsNotCleared.FAULTY[0].trace
    dom, log = _open(tmp_path, run_page(trace, diagnosis=diagnose(trace)), f"--window-size={size}")
    assert "1 fault found" in dom and "Gradients are not cleared" in dom
    assert "CONSOLE" not in log, log


def test_nothing_is_fetched(tmp_path: Path) -> None:
    page = run_page(healthy(), diagnosis=diagnose(healthy()))
    assert "default-src 'none'" in page
    addresses = set(re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?([^"')>\s]+)""", page))
    assert {address for address in addresses if not address.startswith(("data:", "#"))} == set()
    dom, log = _open(tmp_path, page)
    assert "<svg" in dom and "CONSOLE" not in log, log
