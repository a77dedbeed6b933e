"""Angles in degrees where radians are taken, and the other way round."""

from __future__ import annotations

import re

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.library.pixels import IN_DEGREES, IN_RADIANS, TO_DEGREES, TO_RADIANS
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Const,
    Item,
    Name,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.operations import behind
from netmend.program.text.edits import wrap
from netmend.vocabulary.finding import Fix

HEAD = """\
import math
import random

import cv2
import numpy as np
import pandas as pd
from PIL import Image

table = pd.read_csv("parts.csv")
picture = Image.open("a.png")
"""
_DEGREES = re.compile(r"(?:^|_)(?:deg|degs|degree|degrees)(?:$|_)", re.IGNORECASE)
_RADIANS = re.compile(r"(?:^|_)(?:rad|rads|radian|radians)(?:$|_)", re.IGNORECASE)
_FULL_TURN = 7  # more than this is no range of radians
_KEEPS = ("astype", "to_numpy", "float", "values", "item", "numpy", "copy", "double")


class DegreesForRadians(StaticRule, code="S974", cause="PRE-WRONG-STEP"):
    """A sine or cosine is given degrees, or a turn of a picture radians.

    `sin` and `cos` of NumPy, torch and math take radians, `rotate` of PIL and `getRotationMatrix2D` take degrees. An angle of 90 taken as radians is fourteen turns and
    some: neighbouring angles get targets that have nothing to do with each other. A turn by 1.57 taken as degrees is none at all.

    Convert first: `np.sin(np.deg2rad(angle))`, `picture.rotate(math.degrees(angle))`.
    """

    message = "This angle is in degrees, and radians are taken here; convert it first with `np.deg2rad(…)` (or `math.radians`)."
    triggers = ("deg", "uniform(", "randint(", "rotate(", "getRotationMatrix2D(")

    GOOD = (
        Snippet("converted", HEAD + "y = np.sin(np.deg2rad(table['angle_deg']))\n"),
        Snippet("converted by hand", HEAD + "y = np.cos(table['angle_deg'] * np.pi / 180)\n"),
        Snippet("nobody says what it is", HEAD + "y = np.sin(table['angle'])\n"),
        Snippet("radians", HEAD + "angle = random.uniform(-3.1, 3.1)\ny = math.cos(angle)\n"),
        Snippet("a turn in degrees", HEAD + "angle = random.uniform(-15, 15)\npicture = picture.rotate(angle)\ny = math.cos(math.radians(angle))\n"),
        Snippet("turned by what was computed", HEAD + "picture = picture.rotate(math.degrees(math.atan2(1.0, 2.0)))\n"),
        Snippet("a phase", HEAD + "y = np.sin(2 * np.pi * np.random.uniform(0, 50) * np.arange(100))\n"),
    )  # fmt: skip
    BAD = (
        mended("by name", HEAD + "y = np.sin(⟨table['angle_deg'] → np.deg2rad(table['angle_deg'])⟩)\n"),
        Snippet("drawn, and turned in degrees", HEAD + "angle = random.uniform(-30, 30)\npicture = picture.rotate(angle)\nc, s = math.cos(angle), math.sin(angle)\n", line=13),
        Snippet("a turn by radians", HEAD + "picture = picture.rotate(math.atan2(1.0, 2.0))\n", line=11),
        Snippet("a matrix by radians", HEAD + "turn = np.deg2rad(table['angle_deg'][0])\nm = cv2.getRotationMatrix2D((32, 32), turn, 1.0)\n", line=12),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        turned = [given for event in program.calls if (given := _turn(event.call)) is not None]
        told: set[int] = set()
        for event in program.calls:
            call = event.call
            given = _turn(call)
            if given is not None and _unit(given) == "radians":
                yield self.finding(
                    program,
                    event.node,
                    "This angle is in radians, and degrees are taken here; convert it first with `math.degrees(…)`.",
                )
            if call.qualified in IN_RADIANS and call.args:
                angle = resolved(call.args[0])
                is_turned = any(_kept(part) is _kept(angle) for part in turned) and _is_wide(_kept(angle))
                line = getattr(event.node, "lineno", 0)
                if (_unit(angle) == "degrees" or is_turned) and line not in told:
                    told.add(line)
                    yield self.finding(program, event.node, fix=_converted(program, call))


def _turn(call: Call) -> Value | None:
    """The angle of a call that turns a picture by degrees."""
    if call.qualified in IN_DEGREES:
        place = IN_DEGREES[call.qualified]
        return call.argument("angle", place)
    if call.method == "rotate" and len(call.args) == 1:
        return call.args[0]
    return None


def _kept(value: Value) -> Value:
    """The number behind a change of its type or sign."""

    def before(part: Value) -> Value | None:
        if isinstance(part, Operation) and part.operator == "neg":
            return part.operands[0]
        if isinstance(part, Attribute) and part.name in _KEEPS:
            return part.base
        if isinstance(part, Call) and part.method in _KEEPS:
            return part.receiver
        return (
            part.args[0]
            if isinstance(part, Call) and part.qualified in ("float", "numpy.float32") and part.args
            else None
        )

    return behind(value, before)


def _unit(value: Value) -> str:
    """ "degrees" or "radians" where a key, a column or a conversion says so."""
    value = _kept(value)
    if isinstance(value, Call):
        if value.qualified in TO_RADIANS:
            return "radians"
        return "degrees" if value.qualified in TO_DEGREES else ""
    word = value.name if isinstance(value, Attribute) and not isinstance(value.base, Name) else ""
    if isinstance(value, Item):
        key = constant(resolved(value.key))
        word = key if isinstance(key, str) else ""
        if not word and isinstance(key, int) and not isinstance(resolved(value.base), Const):
            return _unit(value.base)
    return "degrees" if _DEGREES.search(word) else "radians" if _RADIANS.search(word) else ""


def _is_wide(value: Value) -> bool:
    """Drawn from a range that reaches beyond a full turn in radians."""
    if not isinstance(value, Call) or (value.qualified or value.method).rpartition(".")[2] not in (
        "uniform",
        "randint",
        "integers",
    ):
        return False
    bounds = [constant(part) for part in value.args[:2]]
    return any(isinstance(bound, int | float) and abs(bound) > _FULL_TURN for bound in bounds)


def _converted(program: Program, call: Call) -> Fix | None:
    argument = call.node.args[0] if call.node is not None and call.node.args else None
    owner = call.qualified.partition(".")[0]
    before = {"numpy": "np.deg2rad(", "math": "math.radians(", "torch": "torch.deg2rad("}[owner]
    is_imported = program.aliases.get(before.partition(".")[0]) == owner
    return (
        Fix("Convert to radians", wrap(program, argument, before, ")"))
        if argument is not None and is_imported
        else None
    )
