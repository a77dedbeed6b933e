"""netmend: a debugger for deep-learning programs."""

from __future__ import annotations

from netmend.version import VERSION as __version__

# Not from typing: `python -m netmend check` runs this while the user's folder comes first among the places of modules,
# and a file called typing.py there must not be executed. Type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from netmend.api import adequacy, check, diagnose, load, locate, mend, mutate, neutral, repair, watch
    from netmend.check.outcome import Outcome
    from netmend.errors import NetmendError
    from netmend.vocabulary import Diagnosis, Fault, Finding, Trace
    from netmend.watching import Report, Watch

__all__ = [
    "Diagnosis",
    "Fault",
    "Finding",
    "NetmendError",
    "Outcome",
    "Report",
    "Trace",
    "Watch",
    "__version__",
    "adequacy",
    "check",
    "diagnose",
    "load",
    "locate",
    "mend",
    "mutate",
    "neutral",
    "repair",
    "watch",
]

_HOMES = {
    "netmend.api": (
        "adequacy",
        "check",
        "diagnose",
        "load",
        "locate",
        "mend",
        "mutate",
        "neutral",
        "repair",
        "watch",
    ),
    "netmend.check.outcome": ("Outcome",),
    "netmend.errors": ("NetmendError",),
    "netmend.vocabulary": ("Diagnosis", "Fault", "Finding", "Trace"),
    "netmend.watching": ("Report", "Watch"),
}


def __getattr__(name: str) -> Any:
    """Public names load on first use, so that importing netmend costs almost nothing."""
    for home, names in _HOMES.items():
        if name in names:
            import importlib

            return getattr(importlib.import_module(home), name)
    raise AttributeError(f"module 'netmend' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
