"""A trace from elsewhere, with the places of this machine in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from trying import TINY, Project

from netmend.store import read_trace
from netmend.trials.trial import Outcome
from netmend.trials.workspace import moved, relocated


@dataclass(frozen=True)
class Place:
    file: str
    line: int
    others: tuple[object, ...] = ()
    named: object = None


def test_names_of_one_folder_are_exchanged() -> None:
    place = Place(
        "/there/a.py", 3, ("/there", "/therefore/b.py", 5, Place("/there/x/c.py", 1)), {"k": "/there/d"}
    )
    assert moved(place, "/there", "/here") == Place(
        "/here/a.py", 3, ("/here", "/therefore/b.py", 5, Place("/here/x/c.py", 1)), {"k": "/here/d"}
    )
    assert moved(place, "/nowhere", "/here") is place  # nothing is copied without need
    assert moved(Place, "/there", "/here") is Place
    assert moved("in /there", "/there", "/here") == "in /there"


def test_trace(project: Project) -> None:
    outcome = project.tried(TINY)
    trace = read_trace(Path(outcome.run))
    assert relocated(trace, outcome) is trace
    assert relocated(trace, Outcome("finished")) is trace
    elsewhere = moved(trace, outcome.root, "/on/a/node")
    assert elsewhere.run.working_directory == "/on/a/node"
    assert outcome.root not in repr(elsewhere)
    back = relocated(elsewhere, outcome)
    assert repr(back) == repr(trace)
    assert relocated(elsewhere, replace(outcome, root="/x")).run.working_directory == "/x"
