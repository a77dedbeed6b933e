"""How much data there is and how often it was seen, from loaders where they are used, else from batch fingerprints."""

from __future__ import annotations

from functools import lru_cache

from netmend.diagnose.measures.loop import batches_per_step
from netmend.vocabulary import LoaderFact, Trace


def training_loader(trace: Trace) -> LoaderFact | None:
    """The loader that feeds training steps."""
    marked = [loader for loader in trace.loaders if loader.phase == "training"]
    return marked[0] if len(marked) == 1 else None


@lru_cache(maxsize=16)
def training_samples(trace: Trace) -> int | None:
    """Number of different training samples; None when it cannot be known."""
    loader = training_loader(trace)
    if loader is not None and loader.samples:
        return loader.samples
    seen: set[int] = set()
    repeated = 0
    for batch in trace.batches:
        if batch.phase == "training":
            repeated += sum(value in seen for value in batch.hashes)
            seen.update(batch.hashes)
    # Only when samples come again has the whole set been seen, more or less.
    return len(seen) if repeated >= len(seen) > 0 else None


def batch_size(trace: Trace) -> int | None:
    """Samples in a usual training batch."""
    loader = training_loader(trace)
    if loader is not None and loader.batch_size:
        return loader.batch_size
    sizes = sorted(batch.size for batch in trace.batches if batch.phase == "training" and batch.size)
    return sizes[len(sizes) // 2] if sizes else None


def epochs(trace: Trace) -> float | None:
    """How often every training sample was seen."""
    samples, size = training_samples(trace), batch_size(trace)
    return trace.run.steps * batches_per_step(trace) * size / samples if samples and size else None
