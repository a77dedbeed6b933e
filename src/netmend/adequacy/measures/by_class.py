"""What the surprise measures share: inputs are compared with known inputs of the class that the model takes them for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netmend.adequacy.arrays import Flags, Floats, Integers, finite_rows


def by_class(
    known: Floats, known_classes: Integers, traces: Floats, classes: Integers
) -> Iterator[tuple[Flags, Floats, Floats]]:
    """For each class: which inputs are taken for it, known rows of the class, known rows of others.

    Rows that are not finite, and classes without known rows, do not come: such inputs are as surprising as can be.
    """
    usable = finite_rows(known)
    known, known_classes = known[usable], known_classes[usable]
    asked = finite_rows(traces)
    for name in np.unique(classes[asked]):
        inside = asked & (classes == name)
        own = known_classes == name
        if own.any():
            yield inside, known[own], known[~own]
