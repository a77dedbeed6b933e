from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from netmend.observe.unhindered import unhindered


@pytest.fixture(autouse=True)
def collector_as_before() -> Iterator[None]:
    enabled = gc.isenabled()
    yield
    (gc.enable if enabled else gc.disable)()


@pytest.mark.parametrize("enabled", [True, False])
def test_the_programs_setting_returns(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()
    with pytest.raises(KeyError), unhindered():
        assert not gc.isenabled()
        raise KeyError
    assert gc.isenabled() is enabled
