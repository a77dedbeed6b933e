"""What kind of bug it looks like, whether its cause lies outside the code, and what to look at there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from netmend.locate.located import Located
from netmend.report.content import Remark, clean


def kind_remarks(found: Located) -> Iterator[Remark]:
    yield from ()


def outside_remarks(found: Located) -> Iterator[Remark]:
    yield from ()


def kind_data(found: Located) -> dict[str, Any] | None:
    return None


def outside_data(found: Located) -> dict[str, Any] | None:
    return None
