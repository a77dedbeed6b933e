"""`netmend.adequacy`: a model and its data in, what was measured out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from netmend.adequacy.assess import assess
from netmend.adequacy.result import Adequacy
from netmend.errors import UsageError, needing_torch

LIMIT = 5_000  # inputs of the training data and of the test set that are looked at
POOL_TIMES = 10  # a pool may be so many times larger: less is kept of it


def adequacy(
    model: Any,
    train: Any,
    test: Any,
    pool: Any = None,
    *,
    layer: str | None = None,
    task: str | None = None,
    forward: Callable[[Any, Any], Any] | None = None,
    limit: int = LIMIT,
    count: int = 20,
    seed: int = 0,
) -> Adequacy:
    """How adequate a test set is for a trained model, and which inputs are worth a label next; nothing is trained."""
    if limit < 2:
        raise UsageError(f"limit must be at least 2 inputs, got {limit}")
    if count < 1:
        raise UsageError(f"count must be at least 1, got {count}")
    with needing_torch("adequacy needs PyTorch, which is not installed"):
        from netmend.adequacy.torch.collector import Collector
    collector = Collector(model, layer, forward, seed)
    known = collector.collect(train, "train", limit)
    asked = collector.collect(test, "test", limit)
    extra = None if pool is None else collector.collect(pool, "pool", POOL_TIMES * limit, layers=False)
    return assess(known, asked, extra, task=task, count=count, seed=seed)
