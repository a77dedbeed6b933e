"""Fixtures of the trial tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from trying import Project

from netmend.trials.local import LocalExecutor


@pytest.fixture(scope="session")
def executor() -> Iterator[LocalExecutor]:
    """One for all tests: its processes are forked from one that has imported torch."""
    made = LocalExecutor(2)
    yield made
    made.close()


@pytest.fixture
def project(tmp_path: Path, executor: LocalExecutor) -> Project:
    folder = tmp_path / "user"
    folder.mkdir()
    return Project(folder, executor)
