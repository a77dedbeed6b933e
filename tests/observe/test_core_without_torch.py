"""Everything outside the adapters imports where torch is not installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import netmend

PACKAGE = Path(netmend.__file__).resolve().parent
PROGRAM = """
import importlib, sys
for name in ("torch", "keras", "tensorflow"):
    sys.modules[name] = None
for module in sys.argv[1:]:
    importlib.import_module(module)
reached = {name for name in sys.modules if name.startswith("netmend.adapters.")} - {"netmend.adapters.start"}  # handed in by commands
assert not reached, f"the core reached for an adapter: {reached}"
"""


def core_modules() -> list[str]:
    found = []
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
        written_as_users_write = "demo" in parts
        holds_torch = "adapters" in parts or parts[1:3] in (("mend", "torch"), ("adequacy", "torch"))
        if written_as_users_write or holds_torch or parts[-1] == "__main__":
            continue
        found.append(".".join(parts).removesuffix(".__init__"))
    return found


def test_every_core_module_imports_with_torch_blocked() -> None:
    modules = core_modules()
    assert len(modules) > 40 and "netmend.observe.recorder" in modules
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *modules], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
