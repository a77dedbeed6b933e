"""From symptoms to ranked causes at the user's lines."""

from netmend.localise.rank import diagnose

__all__ = ["diagnose"]
