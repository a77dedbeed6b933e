"""Learned diagnosis: a ranking of causes learned from mutants of healthy programs; docs/learned.md is its data sheet."""

from ranking.explain import Reason, reasons
from ranking.model import Model, load
from ranking.predict import Judgement, judge

__all__ = ["Judgement", "Model", "Reason", "judge", "load", "reasons"]
