"""Which numbers of a call belong to which sample.

Mostly a sample is one row of every input. It need not be: a text beside offsets, time before samples, a state or a graph beside them.
Then the rows of the output are the samples, and a batch is only ever put to the model as a whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

_SHORT = 64  # bytes that are their own key


def samples_of(inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> int:
    """How many samples a call was about; 0 where that cannot be told."""
    lengths = {len(each) for each in inputs}
    answered = [len(each) for each in outputs if each.dim()]
    if len(lengths) == 1 and (not answered or lengths & set(answered)):
        return lengths.pop()
    return answered[0] if answered else 0


def is_packed(inputs: Sequence[Tensor], samples: int) -> bool:
    return any(len(each) != samples for each in inputs)


def sample_keys(inputs: Sequence[Tensor], samples: int) -> list[bytes]:
    """One key per sample, the same for the same numbers; of the whole batch where samples cannot be told apart in it."""
    plain = [each.detach().cpu() for each in inputs]
    plain = [each.float() if each.dtype == torch.bfloat16 else each for each in plain]
    if not is_packed(plain, samples):
        return _row_keys(plain[0])
    for offsets in plain:
        longer = [each for each in plain if len(each) > samples and each.dim() == 1]
        if longer and _are_offsets(offsets, samples, len(longer[0])):
            bounds = [*offsets.tolist(), len(longer[0])][: samples + 1]
            text = longer[0].numpy()
            return [_key(text[start:stop]) for start, stop in pairwise(bounds)]
    for each in plain:
        if len(each) == samples:
            return _row_keys(each)
    for each in plain:
        if each.dim() > 1 and each.shape[1] == samples:
            return _row_keys(each.transpose(0, 1))
    whole = b"".join(_key(each.contiguous().numpy()) for each in plain)
    return [_key(np.frombuffer(whole + number.to_bytes(4, "big"), np.uint8)) for number in range(samples)]


def _are_offsets(given: Tensor, samples: int, end: int) -> bool:
    """Where the samples of a row of numbers begin: 0 first, never falling; with or without its end."""
    if given.dim() != 1 or given.is_floating_point() or len(given) not in (samples, samples + 1):
        return False
    return int(given[0]) == 0 and bool((given.diff() >= 0).all()) and int(given[-1]) <= end


def _row_keys(inputs: Tensor) -> list[bytes]:
    return [_key(row) for row in inputs.contiguous().reshape(len(inputs), -1).numpy()]


def _key(numbers: np.ndarray) -> bytes:
    found = np.ascontiguousarray(numbers).tobytes()
    return found if len(found) <= _SHORT else hashlib.blake2b(found, digest_size=16).digest()


def as_tensors(arrays: Sequence[np.ndarray]) -> list[Tensor]:
    return [torch.from_numpy(np.ascontiguousarray(each)) for each in arrays]
