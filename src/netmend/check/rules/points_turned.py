"""Points that are turned otherwise than the picture they lie in."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

import numpy as np

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import CallEvent
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Name,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.batches import calls_of_datasets
from netmend.program.meaning.operations import walk
from netmend.program.meaning.pairs import words

HEAD = """\
import math
import random
import numpy as np
import torch
from PIL import Image
from torch.utils.data import Dataset

def turned(points, degrees, centre):
    t = math.radians(degrees)
    m = np.array([[math.cos(t), -math.sin(t)], [math.sin(t), math.cos(t)]])
    return (points - centre) @ m.T + centre

class Dials(Dataset):
    def __init__(self, files, points):
        self.files, self.points = files, points

    def __getitem__(self, i):
        im, pts = Image.open(self.files[i]), self.points[i]
        angle = random.uniform(-30, 30)
"""
END = "        return torch.tensor(np.array(im)), torch.tensor(pts)\n"
# All of these turn a picture anticlockwise, as it is seen on a screen, by so many degrees.
_TURNING = {
    "cv2.getRotationMatrix2D": ("angle", 1),
    "torchvision.transforms.functional.rotate": ("angle", 1),
    "torchvision.transforms.v2.functional.rotate": ("angle", 1),
    "scipy.ndimage.rotate": ("angle", 1),
    "skimage.transform.rotate": ("angle", 1),
    "imutils.rotate": ("angle", 1),
}
_ROWS_FIRST = frozenset(("row", "rows", "col", "cols", "column", "yx", "rc"))
_PRODUCTS = ("numpy.dot", "numpy.matmul", "torch.matmul", "torch.mm")
_TRIAL = 20.0  # degrees


class PointsTurnedOtherwise(StaticRule, code="S963", cause="PRE-WRONG-STEP"):
    """Picture and points are turned by one angle, but in opposite directions or by different units.

    `rotate(angle)` of Pillow, OpenCV, SciPy and torchvision turns a picture anticlockwise. In a picture y grows downwards, so the rotation matrix of the
    schoolbook, [[cos, -sin], [sin, cos]], turns points clockwise there: they move away from what they mark by twice the angle.

    Turn the points by the negative angle, or take the picture's own matrix for them: `cv2.getRotationMatrix2D` and `cv2.transform`.
    """

    message = "The picture is turned anticlockwise by this angle, the points {0}; {1}."
    triggers = ("rotat", "Rotat")
    needs = "cos"

    GOOD = (
        Snippet("the negative angle", HEAD + "        im = im.rotate(angle)\n        pts = turned(pts, -angle, 32)\n" + END),
        Snippet("rows before columns", HEAD + "        im = im.rotate(angle)\n        rows_cols = turned(pts, angle, 32)\n        pts = rows_cols\n" + END),
        Snippet("one matrix for both", HEAD + "        m = cv2.getRotationMatrix2D((32, 32), angle, 1.0)\n        im = cv2.warpAffine(np.array(im), m, (64, 64))\n"
                "        pts = pts @ m[:, :2].T + m[:, 2]\n" + END),
        Snippet("another angle", HEAD + "        im = im.rotate(angle)\n        pts = turned(pts, self.tilt[i], 32)\n" + END),
        Snippet("written for pictures", HEAD.replace("[[math.cos(t), -math.sin(t)], [math.sin(t), math.cos(t)]]", "[[math.cos(t), math.sin(t)], [-math.sin(t), math.cos(t)]]")
                + "        im = im.rotate(angle)\n        pts = turned(pts, angle, 32)\n" + END),
    )  # fmt: skip
    BAD = (
        Snippet("the other direction", HEAD + "        im = im.rotate(angle, resample=Image.BILINEAR)\n        pts = turned(pts, angle, 32)\n" + END, line=21),
        Snippet("in place, with the matrix on the left", HEAD + "        a = np.deg2rad(angle)\n        m = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])\n"
                "        im = im.rotate(angle)\n        pts = (m @ (pts - 32).T).T + 32\n" + END, line=23),
        Snippet("degrees where radians belong", HEAD + "        m = np.array([[np.cos(-angle), -np.sin(-angle)], [np.sin(-angle), np.cos(-angle)]])\n"
                "        im = im.rotate(angle)\n        pts = np.dot(pts - 32, m.T) + 32\n" + END, line=22),
        Snippet("OpenCV", HEAD.replace("from PIL import Image", "import cv2") + "        m = cv2.getRotationMatrix2D((32, 32), angle, 1)\n"
                "        im = cv2.warpAffine(im, m, (64, 64))\n        pts = turned(pts, angle, 32)\n" + END, line=22),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        calls = (*program.calls, *calls_of_datasets(program))
        events = [event for event in calls if _angle(event.call) is not None]
        for event in events:
            given = _angle(event.call)
            leaf = _leaf(given)
            angle = _number(given, leaf)
            if leaf is None or angle is None or not angle:
                continue
            for node, matrix in _turned_points(program, event, leaf):
                problem = _problem(matrix, angle)
                if problem is not None and not _puts_rows_first(program, node):
                    yield self.finding(
                        program,
                        node,
                        self.message.format(*problem),
                        see=[("The picture is turned here.", event.node)],
                    )


def _angle(call: Call) -> Value | None:
    """The degrees by which a call turns a picture."""
    known = _TURNING.get(call.qualified)
    if known is not None:
        return call.argument(*known)
    return call.argument("angle", 0) if call.method == "rotate" and not call.open else None


def _leaf(value: Value | None) -> Value | None:
    """The number that an angle is computed from, behind its sign."""
    value = resolved(value)
    while isinstance(value, Operation) and value.operator in ("neg", "pos"):
        value = resolved(value.operands[0])
    return None if value is None or isinstance(value, Const) else value


def _turned_points(program: Program, turn: CallEvent, leaf: Value) -> Iterator[tuple[ast.AST, np.ndarray]]:
    """Products of points with a matrix of the angle's cosine and sine, where the picture is turned: the line, and the matrix that is applied to (x, y)."""
    body = turn.body
    events = program.events if body is None else tuple(body.events())
    seen: set[int] = set()
    for event in events:
        for value in walk(event.value):
            if id(value) in seen:
                continue
            seen.add(id(value))
            matrix = _applied(value, leaf)
            if matrix is not None and value.node is not None:
                yield _here(program, value.node, turn), matrix
                return


def _here(program: Program, node: ast.AST, turn: CallEvent) -> ast.AST:
    """The call, beside the picture's, of the function in which the points are turned."""
    function = program.function(turn.node)
    if program.function(node) is function:
        return node
    name = getattr(program.function(node), "name", "")
    for event in (
        program.calls if turn.body is None else (e for e in turn.body.events() if isinstance(e, CallEvent))
    ):
        called = event.node.func if isinstance(event.node, ast.Call) else None
        if (
            program.function(event.node) is function
            and name
            and name in (getattr(called, "id", ""), getattr(called, "attr", ""))
        ):
            return event.node
    return node


def _applied(value: Value, leaf: Value) -> np.ndarray | None:
    """The 2 × 2 matrix that a product applies to columns (x, y)."""
    if isinstance(value, Operation) and value.operator == "@":
        left, right = value.operands
    elif isinstance(value, Call) and value.qualified in _PRODUCTS and len(value.args) == 2:
        left, right = value.args
    elif (
        isinstance(value, Call)
        and value.method in ("dot", "matmul", "mm")
        and value.receiver is not None
        and value.args
    ):
        left, right = value.receiver, value.args[0]
    else:
        return None
    first, second = _matrix(left, leaf), _matrix(right, leaf)
    if (first is None) == (second is None):
        return None
    return first if first is not None else second.T if second is not None else None


def _matrix(value: Value, leaf: Value) -> np.ndarray | None:
    """The numbers of a matrix that is written out with cosine and sine of an angle."""
    value = resolved(value)
    if isinstance(value, Attribute) and value.name in ("T", "mT"):
        inner = _matrix(value.base, leaf)
        return None if inner is None else inner.T
    if isinstance(value, Call):
        if (
            value.method in ("t", "transpose", "astype", "to", "float", "double")
            and value.receiver is not None
        ):
            inner = _matrix(value.receiver, leaf)
            return None if inner is None else inner.T if value.method in ("t", "transpose") else inner
        is_array = value.qualified.rpartition(".")[2] in (
            "array",
            "asarray",
            "tensor",
            "as_tensor",
            "float32",
            "matrix",
            "stack",
        )
        return _matrix(value.args[0], leaf) if is_array and value.args else None
    if not isinstance(value, Collection) or len(value.items) != 2 or value.open:
        return None
    rows = [resolved(item) for item in value.items]
    if not all(isinstance(row, Collection) and len(row.items) == 2 for row in rows):
        return None
    numbers = [[_number(item, leaf) for item in row.items] for row in rows if isinstance(row, Collection)]
    if any(number is None for row in numbers for number in row):
        return None
    matrix = np.array(numbers, dtype=float)
    return matrix if np.allclose(matrix @ matrix.T, np.eye(2), atol=1e-6) else None


_FUNCTIONS = {
    "cos": math.cos,
    "sin": math.sin,
    "radians": math.radians,
    "deg2rad": math.radians,
    "degrees": math.degrees,
    "rad2deg": math.degrees,
}


def _number(value: Value | None, leaf: Value | None) -> float | None:
    """What an expression of the angle gives where the angle is a trial value; None where it depends on more."""
    value = resolved(value)
    if value is None:
        return None
    if value is leaf:
        return _TRIAL
    if isinstance(value, Const):
        number = constant(value)
        return float(number) if isinstance(number, int | float) else None
    if isinstance(value, Name):
        return math.pi if value.qualified in ("math.pi", "numpy.pi", "torch.pi") else None
    if isinstance(value, Call):
        function = _FUNCTIONS.get((value.qualified or value.method).rpartition(".")[2])
        given = _number(value.subject, leaf) if function is not None else None
        if function is not None:
            return None if given is None else function(given)
        is_kept = value.qualified in ("float", "torch.tensor", "numpy.float32", "torch.as_tensor")
        return _number(value.args[0], leaf) if is_kept and value.args else None
    if isinstance(value, Operation):
        numbers = [_number(part, leaf) for part in value.operands]
        return (
            _computed(value.operator, [number for number in numbers if number is not None])
            if None not in numbers
            else None
        )
    return None


def _computed(operator: str, numbers: list[float]) -> float | None:
    match operator, numbers:
        case "neg", [one]:
            return -one
        case "pos", [one]:
            return one
        case "+", [one, other]:
            return one + other
        case "-", [one, other]:
            return one - other
        case "*", [one, other]:
            return one * other
        case "/", [one, other]:
            return one / other if other else None
    return None


def _problem(matrix: np.ndarray, degrees: float) -> tuple[str, str] | None:
    """What is wrong with the matrix beside a picture that is turned by so many degrees, and what to write; None where nothing is proven."""
    if np.allclose(matrix, _turn(math.radians(-degrees)), atol=1e-6):
        return "clockwise (y grows downwards in a picture)", "turn the points by the negative angle"
    if any(np.allclose(matrix, _turn(sign * degrees), atol=1e-6) for sign in (1, -1)):
        return "by as many radians", "give cos and sin the angle in radians (math.radians)"
    return None


def _turn(radians: float) -> np.ndarray:
    """The matrix that turns (x, y) of a picture anticlockwise."""
    cos, sin = math.cos(radians), math.sin(radians)
    return np.array([[cos, sin], [-sin, cos]])


def _puts_rows_first(program: Program, node: ast.AST) -> bool:
    """Are the points called (row, column)? Then the schoolbook's matrix is right."""
    function = program.function(node)
    return bool(words(ast.unparse(function if function is not None else node)) & _ROWS_FIRST)
