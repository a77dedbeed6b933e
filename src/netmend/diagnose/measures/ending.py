"""Ending: whether a run came to the end that its program planned.

One that was interrupted, was killed, crashed or still runs is judged on what it shows; its length, and what had not happened yet, say nothing.
"""

from __future__ import annotations

from netmend.diagnose.measures.data import epochs
from netmend.vocabulary import Trace

_LONG_PASSES = 2.0  # passes over the data after which a curve has shown what it does
_LONG_STEPS = 1000  # the same in updates where the amount of data is not known


def finished(trace: Trace) -> bool:
    """Whether the program came to its end by itself."""
    return trace.run.status == "finished"


def cut_short(trace: Trace) -> bool:
    """Whether a run ended before its time, and too early for its curve to say how fast it learns."""
    passes = epochs(trace)
    long = trace.run.steps >= _LONG_STEPS if passes is None else passes >= _LONG_PASSES
    return not finished(trace) and not long
