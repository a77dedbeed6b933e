"""Wrappers by name, each looked up when it is asked for: some of gymnasium's need packages that are not there."""

import importlib


def __getattr__(name):
    return getattr(importlib.import_module("gymnasium.wrappers"), name)
