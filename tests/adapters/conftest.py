"""Experiments have limits in seconds, which a busy machine reaches; in these tests only those that are about the limits keep them."""

from __future__ import annotations

import pytest

from netmend.adapters.torch.probes import copies
from netmend.adapters.torch.watch import first_batch


@pytest.fixture(autouse=True)
def patient_experiments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_batch, "_SECONDS", 5.0)
    for limit in ("_OVERFIT_SECONDS", "_DEALT_SECONDS", "_RATE_SECONDS"):
        monkeypatch.setattr(copies, limit, 60.0)
