"""Versions, ranges and requirement lines."""

from __future__ import annotations

import sys
from itertools import pairwise

import pytest

from netmend.environment.versions import Version, matches, read_requirement


@pytest.mark.parametrize(
    ("version", "ranges", "fits"),
    [
        ("2.2.2", "<2.3", True),
        ("2.3.0", "<2.3", False),
        ("2.3.0rc1", "<2.3", False),  # a candidate of 2.3 is no older release
        ("2.10.0", ">=2.9", True),
        ("1.4.2", "==1.4.*", True),
        ("1.5.0", "!=1.4.*", True),
        ("1.4.5", "~=1.4.2", True),
        ("1.5.0", "~=1.4.2", False),
        ("1.5.0", "~=1.4", True),
        ("2.13.0+cpu", "==2.13", True),
        ("2.0", "==2.0.0", True),
        ("1.0.post1", ">1.0", False),
        ("1.0.dev3", "<1.0a1", True),
        ("3.1", "", True),
        ("3.1", ">=3,<4,!=3.2", True),
    ],
)
def test_ranges(version: str, ranges: str, fits: bool) -> None:
    assert matches(version, ranges) is fits


def test_order_of_stages() -> None:
    ordered = ["1.0.dev1", "1.0a1", "1.0b2", "1.0rc1", "1.0", "1.0.post1", "1.1"]
    assert all(Version(a) < Version(b) for a, b in pairwise(ordered))


@pytest.mark.parametrize("ranges", ["=>1", "1.0"])
def test_a_range_of_an_odd_form_is_refused(ranges: str) -> None:
    with pytest.raises(ValueError, match="not a range"):
        matches("1.0", ranges)


def test_requirement_lines() -> None:
    wish = read_requirement("torch[opt] >= 1.4, <2  # comment")
    assert wish is not None and (wish.name, wish.ranges, wish.applies) == ("torch", ">=1.4,<2", True)
    assert read_requirement("numpy (>=1.2)").ranges == ">=1.2"  # type: ignore[union-attr]
    for line in ("", "# x", "-r other.txt", "git+https://x/y.git", "pkg @ file:///x", "--hash=1"):
        assert read_requirement(line) is None


@pytest.mark.parametrize(
    ("marker", "applies"),
    [
        ("python_version >= '3'", True),
        ("python_version < '3'", False),
        (f"sys_platform == '{sys.platform}'", True),
        ("extra == 'dev'", False),
        ("(python_version < '3' or os_name != 'none') and python_version > '2'", True),
        ("python_version in '2.7 2.6'", False),
        ("something strange", False),
    ],
)
def test_markers(marker: str, applies: bool) -> None:
    wish = read_requirement(f"x>=1; {marker}")
    assert wish is not None and wish.applies is applies
