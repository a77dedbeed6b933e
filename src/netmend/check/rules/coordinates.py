"""Coordinates of pictures whose two directions are exchanged."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import Body
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Item, Operation, Value, constant, resolved
from netmend.program.meaning.arithmetic import operations
from netmend.program.meaning.directions import ACROSS, DOWN, Sense, axes_of_picture, sense, senses
from netmend.program.meaning.grids import grid

POINTS_HEAD = """\
import cv2
import numpy as np
import pandas as pd
import torch
from PIL import Image

table = pd.read_csv("points.csv")
"""


class SizesExchanged(StaticRule, code="S971", cause="PRE-WRONG-STEP"):
    """Points in x, y are divided by height, width (or multiplied by them).

    `image.shape[:2]` is height and width; x runs along the width. Divided by the other size, x leaves 0…1 in a wide picture and y uses a part
    of it only, and every target stands somewhere else than what it marks. In square pictures nothing happens, so it goes unnoticed until one is not.

    Divide by width, height: `points / image.shape[1::-1]`, or `x / width, y / height`.
    """

    message = "x is scaled with the height and y with the width: the shape of an array is (height, width); divide (x, y) by (width, height), as in `shape[1::-1]`."
    triggers = ("shape", ".size", "height")

    GOOD = (
        Snippet("width first", POINTS_HEAD + "image = cv2.imread('a.png')\npoints = table[['x', 'y']].to_numpy()\ntargets = points / np.array(image.shape[1::-1])\n"),
        Snippet("sizes of a picture", POINTS_HEAD + "picture = Image.open('a.png')\npoints = table[['x', 'y']].to_numpy() / picture.size\n"),
        Snippet("rows first", POINTS_HEAD + "image = cv2.imread('a.png')\npoints = table[['row', 'col']].to_numpy() / np.array(image.shape[:2])\n"),
        Snippet("one scale for both", POINTS_HEAD + "image = cv2.imread('a.png')\nh, w = image.shape[:2]\nx, y = table['x'] / h, table['y'] / h\n"),
        Snippet("each its own", POINTS_HEAD + "image = cv2.imread('a.png')\nh, w = image.shape[:2]\nx, y = table['x'] / w, table['y'] / h\n"),
        Snippet("proportions", POINTS_HEAD + "image = cv2.imread('a.png')\nh, w = image.shape[:2]\nwide, high = w / h, h / w\n"),
        Snippet("a turned picture", POINTS_HEAD + "image = cv2.imread('a.png').transpose(1, 0, 2)\npoints = table[['x', 'y']].to_numpy() / np.array(image.shape[:2])\n"),
    )  # fmt: skip
    BAD = (
        Snippet("shape of an array", POINTS_HEAD + "image = cv2.imread('a.png')\npoints = table[['x', 'y']].to_numpy()\ntargets = points / np.array(image.shape[:2])\n", line=10),
        Snippet("one by one", POINTS_HEAD + "image = np.array(Image.open('a.png'))\nh, w = image.shape[:2]\nx = table['x'] / h\ny = table['y'] / w\n", line=10),
        Snippet("boxes", POINTS_HEAD + "def read(row):\n    image = cv2.imread(row.file)\n    h, w, _ = image.shape\n"
                "    return torch.tensor([row.xmin, row.ymin, row.xmax, row.ymax]) / torch.tensor([h, w, h, w])\n\nboxes = [read(row) for _, row in table.iterrows()]\n", line=11),
        Snippet("a pile of pictures", POINTS_HEAD + "images, points = [], []\nfor row in table.itertuples():\n    images.append(cv2.imread(row.file))\n    points.append([row.tip_x, row.tip_y])\n"
                "images, points = np.stack(images), np.array(points)\ntargets = torch.from_numpy(points / np.array(images.shape[1:3]))\n", line=13),
        Snippet("width and height of PIL unpacked the wrong way round", POINTS_HEAD + "picture = Image.open('a.png')\nh, w = picture.size\nx, y = table['x'] / w, table['y'] / h\n", line=10),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        single: dict[int, list[tuple[Operation, Sense]]] = {}
        for value in operations(program):
            if value.operator not in ("/", "*", "//") or len(value.operands) != 2:
                continue
            left, right = value.operands
            for number, size in ((left, right), (right, left)):
                if _is_exchanged(number, size):
                    yield self.finding(program, value.node)
                    break
                one, other = sense(number), sense(size)
                if one and other and other.is_size and not one.is_size and one.direction != other.direction:
                    where = program.function(value.node) if value.node is not None else None
                    single.setdefault(id(where), []).append((value, one))
                if value.operator != "*":
                    break
        for pairs in single.values():
            directions = {found.direction for _, found in pairs}
            if len(directions) == 2:  # both are exchanged: one alone may be one scale for both
                yield self.finding(
                    program,
                    pairs[0][0].node,
                    see=[("The other one.", part.node) for part, _ in pairs[1:2] if part.node],
                )


def _is_exchanged(numbers: Value, sizes: Value) -> bool:
    points, scale = senses(numbers), senses(sizes)
    if points is None or scale is None or len(points.each) != len(scale.each) or scale.axes:
        return False
    pairs = list(zip(points.each, scale.each, strict=True))
    if any(one is None or other is None or not other.is_size for one, other in pairs):
        return False
    is_of_places = any(one is not None and not one.is_size for one, _ in pairs)
    return is_of_places and all(one.direction != other.direction for one, other in pairs if one and other)


MAPS_HEAD = """\
import csv

import numpy as np
import torch

def blob(h, w, centre, s=2.0):
    rows = np.arange(h)[:, None]
    cols = np.arange(w)[None, :]
    r, c = centre
    return np.exp(-((rows - r) ** 2 + (cols - c) ** 2) / (2 * s ** 2))

"""


class CoordinatesExchanged(StaticRule, code="S972", cause="PRE-WRONG-STEP"):
    """A map is drawn with x taken for the row and y for the column.

    Rows of an array run down and columns across, so the place (x, y) is `map[y, x]`. With the two exchanged the target is mirrored at the
    diagonal: the network is asked for a place where there is nothing to see, and learns the few points near the diagonal.

    Give the place as (y, x): `blob(h, w, point[::-1])`, or compare columns with x and rows with y.
    """

    message = "x is taken for the row and y for the column, so what is drawn is mirrored at the diagonal; pass (y, x), for example `point[::-1]`."
    triggers = ("arange(", "linspace(", "meshgrid(", "mgrid", "ogrid", "indices(", "zeros(", "full(", "ones(")

    GOOD = (
        Snippet("y, x", MAPS_HEAD + "for row in csv.DictReader(open('a.csv')):\n    maps = blob(64, 64, (float(row['y']), float(row['x'])))\n"),
        Snippet("turned round", MAPS_HEAD + "for row in csv.DictReader(open('a.csv')):\n    point = np.array([float(row['x']), float(row['y'])])\n    maps = blob(64, 64, point[::-1])\n"),
        Snippet("the file says rows", MAPS_HEAD + "for row in csv.DictReader(open('a.csv')):\n    maps = blob(64, 64, (float(row['row']), float(row['col'])))\n"),
        Snippet("maps and pictures both lie", MAPS_HEAD + "for row in csv.DictReader(open('a.csv')):\n    image = np.load(row['file']).transpose(1, 0)\n    maps = blob(64, 64, (float(row['x']), float(row['y'])))\n"),
        Snippet("nothing is known of the numbers", MAPS_HEAD + "for row in csv.reader(open('a.csv')):\n    maps = blob(64, 64, (float(row[1]), float(row[2])))\n"),
        Snippet("rows and columns point by point", "import numpy as np\nimport pandas as pd\n\nfor row in pd.read_csv('a.csv').itertuples():\n    m = np.zeros((48, 64))\n    m[int(row.y), int(row.x)] = 1\n"),
        Snippet("a table of pairs", "import numpy as np\nimport pandas as pd\n\nfor row in pd.read_csv('a.csv').itertuples():\n    m = np.zeros((48, 64))\n    m[row.first, row.second] = 1\n"),
        Snippet("a mesh in x, y", "import numpy as np\nimport pandas as pd\n\nX, Y = np.meshgrid(np.arange(64), np.arange(48))\nfor row in pd.read_csv('a.csv').itertuples():\n    m = np.exp(-((X - row.x) ** 2 + (Y - row.y) ** 2))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("points as they are", MAPS_HEAD + "for row in csv.DictReader(open('a.csv')):\n    point = np.array([float(row['x']), float(row['y'])])\n    maps = blob(64, 64, point)\n", line=14),
        Snippet("keys put together", MAPS_HEAD + "def read(row):\n    pts = [[float(row[f'{k}_x']), float(row[f'{k}_y'])] for k in ('tip', 'tail')]\n"
                "    return [blob(64, 64, p) for p in pts]\n\nmaps = [read(row) for row in csv.DictReader(open('a.csv'))]\n", line=14),
        Snippet("a mesh in rows, columns", "import numpy as np\nimport pandas as pd\n\nX, Y = np.meshgrid(np.arange(64), np.arange(48), indexing='ij')\n"
                "for row in pd.read_csv('a.csv').itertuples():\n    m = np.exp(-((X - row.x) ** 2 + (Y - row.y) ** 2))\n", line=6),
        Snippet("point by point", "import numpy as np\nimport pandas as pd\n\nfor row in pd.read_csv('a.csv').itertuples():\n    m = np.zeros((48, 64))\n    m[int(row.x), int(row.y)] = 1\n", line=6),
        Snippet("torch", "import torch\nimport pandas as pd\n\nyy, xx = torch.meshgrid(torch.arange(64), torch.arange(64), indexing='xy')\n"
                "for row in pd.read_csv('a.csv').itertuples():\n    d = (xx - row.cx).pow(2) + (yy - row.cy).pow(2)\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        if _turns_pictures(program):
            return
        for event in program.stores:
            if event.target.base is not None and _is_map(event.target.base) and _is_turned(event.target.key):
                yield self.finding(program, event.node)
        differences = [found for value in operations(program) if (found := _difference(value)) is not None]
        told: set[tuple[int, int]] = set()
        for one in differences:
            for other in differences:
                if one.direction == other.direction or one.place.direction != "across":
                    continue
                if other.place.direction != "down" or not _together(program, one.node, other.node):
                    continue
                if one.direction == "down":
                    place = _passed_at(program, one)
                    line = getattr(place, "lineno", 0)
                    if (id(place), line) not in told:
                        told.add((id(place), line))
                        yield self.finding(
                            program, place, see=[("Rows are compared with it here.", one.node)]
                        )


_MADE = frozenset(
    ("numpy.zeros", "torch.zeros", "numpy.full", "torch.full", "numpy.ones", "torch.ones", "numpy.empty")
)


def _is_map(array: Value) -> bool:
    """An array that is filled point by point, or pixels."""
    made = resolved(array)
    return (isinstance(made, Call) and made.qualified in _MADE) or axes_of_picture(made) is not None


def _is_turned(key: Value | None) -> bool:
    """`[x, y]`, also as the last two of more."""
    key = resolved(key)
    if not isinstance(key, Collection) or key.kind != "tuple" or len(key.items) < 2 or key.open:
        return False
    row, column = (sense(item) for item in key.items[-2:])
    if row is None or column is None or row.is_size or column.is_size:
        return False
    return row.direction == ACROSS and column.direction == DOWN


@dataclass(frozen=True)
class _Difference:
    """A grid minus a place: along which axis the grid counts, and what the place says of itself."""

    direction: str
    place: Sense
    node: ast.AST
    value: Value  # the place


def _difference(value: Operation) -> _Difference | None:
    if value.operator != "-" or len(value.operands) != 2 or value.node is None:
        return None
    for counted, place in (value.operands, value.operands[::-1]):
        direction = grid(counted)
        if direction is not None and grid(place) is None:
            found = sense(place)
            return _Difference(direction, found, value.node, place) if found and not found.is_size else None
    return None


def _together(program: Program, one: ast.AST, other: ast.AST) -> bool:
    """In one function, where both are parts of one distance."""
    return program.function(one) is program.function(other)


_TURNS = frozenset(("transpose", "permute", "swapaxes", "swapdims"))
_KEEPS_ROWS_FIRST = ([2, 0, 1], [0, 3, 1, 2], [1, 2, 0], [0, 2, 3, 1])  # moves the channels alone


def _turns_pictures(program: Program) -> bool:
    """Are arrays turned somewhere, so that rows may run across on purpose?"""
    for event in program.calls:
        call = event.call
        order = [constant(part) for part in call.args]
        name = call.method or call.qualified.removeprefix("numpy.")
        if name in _TURNS and order not in _KEEPS_ROWS_FIRST:
            return True
    return any(isinstance(node, ast.Attribute) and node.attr in ("T", "mT") for node in program.nodes)


def _passed_at(program: Program, found: _Difference) -> ast.AST:
    """Where the place is passed to the function that draws; the difference itself where it was read there."""
    point = resolved(found.value)
    function = program.function(found.node)
    for part in program.parts:
        call = part.call if isinstance(part, Body) and part.function.definition is function else None
        if call is None or call.node is None:
            continue
        for given in call.given:
            if _holds(given, point):
                written = (node for node in ast.walk(call.node) if node is given.node)
                return next(written, call.node)
    return found.node


def _holds(given: Value, place: Value) -> bool:
    """Is the place a number of the point that is given, not merely computed from the same data?"""
    known = {id(place)}
    while isinstance(place, Item) or (isinstance(place, Call) and place.args):
        place = resolved(place.base if isinstance(place, Item) else place.args[0])
        known.add(id(place))
    given = resolved(given)
    return id(given) in known or any(id(resolved(part)) in known for part in getattr(given, "items", ()))
