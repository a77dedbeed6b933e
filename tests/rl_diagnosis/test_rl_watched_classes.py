"""Methods of a family of classes are wrapped while watched, and left as they were; pickles hold the original."""

from __future__ import annotations

import pickle

from netmend.adapters.watched_classes import WatchedClasses, WatchedMethod


class Base:
    def step(self, n):
        return n + 1


class Below(Base):
    def step(self, n):
        return super().step(n) * 10


def _original(self, n):
    return n


def _counting(calls):
    def make(original):
        def wrapper(*args, **kwargs):
            calls.append(type(args[0]).__name__)
            return original(*args, **kwargs)

        return wrapper

    return make


def test_classes_that_exist_and_those_defined_later_are_seen_and_left_as_they_were():
    before = vars(Base)["step"], vars(Below)["step"]
    calls: list[str] = []
    watched = WatchedClasses()
    watched.watch(Base, {"step": _counting(calls)})

    class Later(Base):
        def step(self, n):
            return -n

    assert (Below().step(1), Later().step(3), Base().step(0)) == (20, -3, 1)
    assert calls == ["Below", "Below", "Later", "Base"]
    watched.undo()
    assert (vars(Base)["step"], vars(Below)["step"]) == before
    assert "__init_subclass__" not in vars(Base)
    assert Later().step(3) == -3 and len(calls) == 4

    class Afterwards(Base):
        def step(self, n):
            return 0

    assert Afterwards().step(1) == 0 and len(calls) == 4


def test_a_watched_method_pickles_as_the_original():
    watched = WatchedMethod(_original, _counting([]))
    assert pickle.loads(pickle.dumps(watched)) is _original
