"""Looking at local variables: nothing is kept alive by it, and nothing of the user's is emptied."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Mapping
from types import FrameType
from typing import Any

from netmend.observe.sites import search_variables


class Thing:
    pass


def names(frame: FrameType) -> set[str]:
    return search_variables(frame, lambda variables: set(variables))


def test_all_local_variables_are_seen() -> None:
    first, second = 1, 2
    assert {"first", "second"} <= names(sys._getframe())
    assert (first, second) == (1, 2)


def test_variables_are_not_kept_alive() -> None:
    thing: Thing | None = Thing()
    gone = weakref.ref(thing)
    names(sys._getframe())
    thing = None
    gc.collect()
    assert thing is None and gone() is None


def test_variables_of_an_outer_frame_are_not_kept_alive() -> None:
    thing: Thing | None = Thing()
    gone = weakref.ref(thing)

    def inside() -> None:
        names(sys._getframe(1))

    inside()
    thing = None
    gc.collect()
    assert thing is None and gone() is None


def test_a_dictionary_the_user_holds_is_not_emptied() -> None:
    wanted = 5
    mine = locals()
    names(sys._getframe())
    assert mine["wanted"] == wanted == 5


def test_a_dictionary_the_user_holds_elsewhere_is_not_emptied() -> None:
    kept: list[Mapping[str, Any]] = []

    def inside() -> None:
        value = 3
        kept.append(locals())
        names(sys._getframe())
        assert value == 3

    inside()
    assert kept[0]["value"] == 3


def test_locals_work_after_a_search() -> None:
    number = 7
    names(sys._getframe())
    assert locals()["number"] == number
    assert eval("number") == 7


def test_module_and_class_bodies_keep_their_variables() -> None:
    space: dict[str, Any] = {"names": names, "sys": sys}
    exec("inside = 1\nfound = names(sys._getframe())\nafter = inside + 1\n", space)
    assert "inside" in space["found"] and space["after"] == 2

    class Body:
        size = 3
        found = names(sys._getframe())
        double = size * 2

    assert "size" in Body.found and Body.double == 6


def test_closures_keep_their_values() -> None:
    count = 0

    def add() -> int:
        nonlocal count
        count += 1
        names(sys._getframe())
        names(sys._getframe(1))
        count += 1
        return count

    assert [add(), add()] == [2, 4] and count == 4
