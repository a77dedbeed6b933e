"""What a path tells by itself: is it a test, an example, somebody else's code."""

from __future__ import annotations

import re

_TEST_FOLDERS = frozenset({"test", "tests", "testing", "unittest", "unittests"})
_TEST_NAME = re.compile(r"(tests?_.*|.*_tests?|tests?|conftest)\.py\Z", re.IGNORECASE)
_VENDOR_NAMES = """
vendor vendored _vendor _vendored third_party thirdparty third-party 3rdparty 3rd_party extern external externals
node_modules site-packages dist-packages bower_components eggs .eggs __pypackages__
"""
_PERIPHERAL_NAMES = """
example examples sample samples demo demos tutorial tutorials doc docs documentation notebook notebooks
benchmark benchmarks script scripts tool tools ci .ci dev experiments projects recipes contrib
"""
_VENDORED = frozenset(_VENDOR_NAMES.split())
_PERIPHERAL = frozenset(_PERIPHERAL_NAMES.split())


def is_test(path: str) -> bool:
    """Below a test folder, or named like a test."""
    *folders, name = path.split("/")
    return any(folder.lower() in _TEST_FOLDERS for folder in folders) or _TEST_NAME.match(name) is not None


def vendored_folder(path: str) -> str | None:
    """The folder of copied foreign code that the path lies in, by its name."""
    folders = path.split("/")[:-1]
    for depth, folder in enumerate(folders):
        if folder.lower() in _VENDORED or folder.endswith((".egg-info", ".dist-info")):
            return "/".join(folders[: depth + 1])
    return None


def peripheral_folder(path: str) -> str | None:
    """The name of the example, documentation, benchmark or script folder that the path lies in."""
    for folder in path.split("/")[:-1]:
        if folder.lower() in _PERIPHERAL:
            return folder.lower()
    return None


def dotted(path: str) -> str:
    """The path as a module: a/b.py and a/b/__init__.py give a.b (the second gives a.b too)."""
    parts = path.removesuffix(".py").split("/")
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    return ".".join(parts)
