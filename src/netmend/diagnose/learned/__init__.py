"""Learned diagnosis: a ranking of causes learned from mutants of healthy programs; docs/learned.md is its data sheet."""

from netmend.diagnose.learned.explain import Reason, reasons
from netmend.diagnose.learned.model import Model, load
from netmend.diagnose.learned.predict import Judgement, judge

# Switched on only where it is clearly better on programs it has not seen, without more false alarms; docs/learned.md has the figures.
ON_BY_DEFAULT = False

__all__ = ["ON_BY_DEFAULT", "Judgement", "Model", "Reason", "judge", "load", "reasons"]
