"""What a patch knows of its model: every tensor's type and shape, and a hash of all that the patch leaves alone.

Together with the old values in the patch this names one model in one version; another one is told from it, and so is one
in which the patch already is, since the hashes are the same before and after.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from netmend.mend.weights import Bits, Indices, Layout, Weights, plain_bytes

DIGEST = re.compile(r"[0-9a-f]{32}")
_ELEMENTS_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Mark:
    """One tensor: how it is built, and a hash of its bits with zeros in place of what the patch replaces."""

    layout: Layout
    rest: str


@dataclass(frozen=True)
class Fingerprint:
    """All tensors of a model, by name."""

    marks: Mapping[str, Mark]

    @cached_property
    def elements(self) -> int:
        return sum(mark.layout.size for mark in self.marks.values())

    @cached_property
    def short(self) -> str:
        """Twelve signs for people: alike only if all marks are."""
        whole = hashlib.sha256()
        for name, mark in sorted(self.marks.items()):
            whole.update(f"{name}\0{mark.layout}\0{mark.rest}\n".encode("utf-8", "surrogatepass"))
        return whole.hexdigest()[:12]


def fingerprint(weights: Weights, touched: Mapping[str, Indices]) -> Fingerprint:
    """Of a model, for a patch that replaces the given elements."""
    return Fingerprint(
        {
            name: Mark(layout, rest_digest(weights.bits(name), touched.get(name)))
            for name, layout in sorted(weights.layout.items())
        }
    )


def rest_digest(bits: Bits, touched: Indices | None = None) -> str:
    """A hash of the bits, in pieces that need little memory; touched elements count as zeros."""
    digest = hashlib.sha256()
    for start in range(0, bits.size, _ELEMENTS_AT_ONCE):
        part = bits[start : start + _ELEMENTS_AT_ONCE]
        if touched is not None:
            first, last = np.searchsorted(touched, [start, start + part.size])
            if last > first:
                part = np.array(part)
                part[touched[first:last] - start] = 0
        digest.update(plain_bytes(part))
    return digest.hexdigest()[:32]
