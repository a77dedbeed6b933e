"""Experiments have limits in seconds, which a busy machine reaches; in these tests only those that are about the limits keep them."""

from __future__ import annotations

import pytest

from netmend.adapters.torch.probes import batch_overfit, input_ignored, rate_probe
from netmend.adapters.torch.watch import first_batch


@pytest.fixture(autouse=True)
def patient_experiments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_batch, "_SECONDS", 5.0)
    for probe in (batch_overfit, input_ignored, rate_probe):
        if hasattr(probe, "_SECONDS"):
            monkeypatch.setattr(probe, "_SECONDS", 60.0)
