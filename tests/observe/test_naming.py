"""What the user calls an object."""

from __future__ import annotations

import sys
from types import FrameType

from netmend.observe.sites import Sites, name_of


class Thing:
    pass


class Module:
    """Holds children as frameworks do: in a dictionary of its own."""

    def __init__(self, **children: object) -> None:
        self._modules = children


def named(thing: object, frame: FrameType | None = None) -> str | None:
    return name_of(thing, frame or sys._getframe(1), Sites())


def ask(self: object) -> str | None:
    """A method of the object itself: "self" is no name worth having."""
    return name_of(self, sys._getframe(), Sites())


GLOBAL = Thing()


def test_local_variables() -> None:
    model = Thing()
    assert named(model) == "model"


def test_global_variables() -> None:
    assert named(GLOBAL) == "GLOBAL"


def test_attributes_of_variables() -> None:
    trainer = Thing()
    trainer.encoder = Thing()  # type: ignore[attr-defined]
    assert named(trainer.encoder) == "trainer.encoder"  # type: ignore[attr-defined]


def test_children_of_modules() -> None:
    layer = Thing()
    outer = Module(head=layer)
    del layer
    assert named(outer._modules["head"]) == "outer.head"


def test_variables_further_out_are_found() -> None:
    network = Thing()
    held = [network]

    def inside(items: list[Thing]) -> str | None:
        return named(items[0], sys._getframe())

    assert inside(held) == "network"


def test_self_is_given_up_for_a_better_name() -> None:
    model = Thing()
    assert ask(model) == "model"


def test_objects_without_a_name() -> None:
    assert named(Thing()) is None
    assert named([Thing()][0]) is None


def test_equal_objects_are_not_the_same() -> None:
    first, second = [1], [1]
    assert named(second) == "second" and named(first) == "first"


def test_objects_that_refuse_to_be_compared_or_looked_into() -> None:
    class Prickly:
        def __eq__(self, other: object) -> bool:
            raise RuntimeError("no comparing")

        def __hash__(self) -> int:
            raise RuntimeError("no hashing")

    prickly, wanted = Prickly(), Thing()
    assert named(wanted) == "wanted" and named(prickly) == "prickly"
