"""Verbs of the interface that share their name with a package stay callable."""

from __future__ import annotations

import importlib

import pytest

import netmend


@pytest.mark.parametrize("name", ["diagnose", "mend", "mutate", "neutral", "repair"])
def test_a_verb_stays_a_verb_after_its_package_was_imported(name: str) -> None:
    importlib.import_module(f"netmend.{name}")
    with pytest.raises(netmend.NetmendError):
        getattr(netmend, name)("there-is-no-such-thing.py")


def test_locating_stays_a_verb_after_its_package_was_imported() -> None:
    importlib.import_module("netmend.locate.ask")
    with pytest.raises(netmend.NetmendError, match="empty"):
        netmend.locate("  ")
