"""What the report loads, and when."""

from __future__ import annotations

import subprocess
import sys


def loaded(statement: str) -> set[str]:
    code = f"import sys\nsys.modules['torch'] = None\n{statement}\nsys.stdout.write(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_live_status_loads_neither_rich_nor_jinja() -> None:
    assert not {"rich", "jinja2"} & loaded("from netmend.report.run.live import LiveStatus")


def test_everything_loads_without_a_framework() -> None:
    homes = ("run.diagnosis", "run.live", "run.page", "run.runs_table", "run.terminal_page", "terminal")
    imports = "; ".join(f"import netmend.report.{home}" for home in homes)
    assert {"rich", "jinja2"} <= loaded(imports)
