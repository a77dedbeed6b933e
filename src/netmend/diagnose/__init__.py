"""From a trace to the symptoms in it."""

from netmend.diagnose.run import examine

__all__ = ["examine"]
