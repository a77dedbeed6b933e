"""Boxes in another form than what takes them expects: corner and size against two corners."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import Body
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Element,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arithmetic import operations
from netmend.program.meaning.arrays import same_numbers
from netmend.program.meaning.directions import ACROSS, DOWN, Sense, picked, senses
from netmend.program.meaning.operations import behind, walk

HEAD = """\
import json

import torch
from PIL import Image
from torchvision.ops import box_iou, generalized_box_iou_loss

coco = json.load(open("boxes.json"))

def iou(a, b):
    lt, rb = torch.max(a[:, :2], b[:, :2]), torch.min(a[:, 2:], b[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(1)
    area = (a[:, 2:] - a[:, :2]).prod(1) + (b[:, 2:] - b[:, :2]).prod(1)
    return inter / (area - inter)

"""
NET = "net = torch.nn.Linear(9, 4)\nfor x in batches:\n"


class BoxesWithSizes(StaticRule, code="S973", cause="PRE-WRONG-STEP"):
    """Boxes of corner and size (x, y, width, height) are given to something that expects two corners.

    Width and height are taken for the second corner, which then mostly lies left of and above the first one: overlaps come out as zero or nonsense,
    and a network that is trained with them learns to put the second corner at the size.

    Turn them into corners first: `torch.cat([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], dim=1)`, or
    `torchvision.ops.box_convert(boxes, "xywh", "xyxy")`.
    """

    message = "These boxes are (x, y, width, height), and corners (x1, y1, x2, y2) are expected; convert them first: `torch.cat([b[:, :2], b[:, :2] + b[:, 2:]], dim=1)`."
    triggers = ("bbox", "width", "height", '"w"', "'w'", ".w", "_w")

    GOOD = (
        Snippet("turned into corners", HEAD + "b = torch.tensor([a['bbox'] for a in coco['annotations']])\nb = torch.cat([b[:, :2], b[:, :2] + b[:, 2:]], dim=1)\n" + NET + "    loss = iou(net(x), b)\n"),
        Snippet("in place", HEAD + "b = torch.tensor([a['bbox'] for a in coco['annotations']])\nb[:, 2:] += b[:, :2]\n" + NET + "    loss = iou(net(x), b)\n"),
        Snippet("read as corners", HEAD + "def corners(x, y, w, h):\n    return [x, y, x + w, y + h]\n\nb = torch.tensor([corners(*a['bbox']) for a in coco['annotations']])\n" + NET + "    loss = iou(net(x), b)\n"),
        Snippet("a form that nobody names", HEAD + "b = torch.tensor([a['box'] for a in coco['items']])\n" + NET + "    loss = iou(net(x), b)\n"),
        Snippet("corners by name", HEAD + "b = torch.tensor([[a['xmin'], a['ymin'], a['xmax'], a['ymax']] for a in coco['items']])\n" + NET + "    loss = iou(net(x), b)\n"),
        Snippet("a crop", HEAD + "for a in coco['annotations']:\n    x, y, w, h = a['bbox']\n    patch = Image.open('a.png').crop((x, y, x + w, y + h))\n"),
        Snippet("far edges", HEAD + "for a in coco['annotations']:\n    x, y, w, h = a['bbox']\n    image = pixels[y : y + h, x : x + w]\n"),
    )  # fmt: skip
    BAD = (
        Snippet("COCO", HEAD + "b = torch.tensor([a['bbox'] for a in coco['annotations']])\n" + NET + "    loss = iou(net(x), b)\n", line=18),
        Snippet("a function of torchvision", HEAD + "b = torch.tensor([a['bbox'] for a in coco['annotations']])\n" + NET + "    loss = generalized_box_iou_loss(net(x), b)\n", line=18),
        Snippet("by keys", HEAD + "b = torch.tensor([[a['x'], a['y'], a['width'], a['height']] for a in coco['items']], dtype=torch.float32)\n" + NET + "    overlap = box_iou(net(x), b)\n", line=18),
        Snippet("columns of a table", "import pandas as pd\n" + HEAD + "t = pd.read_csv('boxes.csv')\nb = torch.tensor(t[['left', 'top', 'width', 'height']].values)\n" + NET + "    loss = 1 - iou(net(x), b)\n", line=20),
        Snippet("a crop of a picture", HEAD + "for a in coco['annotations']:\n    patch = Image.open('a.png').crop(a['bbox'])\n", line=16),
        Snippet("a slice", HEAD + "for a in coco['annotations']:\n    x, y, w, h = a['bbox']\n    patch = pixels[y:h, x:w]\n", line=17),
        Snippet("number by number", HEAD + "def area(box):\n    x1, y1, x2, y2 = box\n    return (x2 - x1) * (y2 - y1)\n\nareas = [area(a['bbox']) for a in coco['annotations']]\n", line=19),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        changed = _changed(program)
        for box, node in _taken_as_corners(program):
            if _is_with_size(box) and not any(id(part) in changed for part in walk(box)):
                yield self.finding(program, node)


def _is_with_size(box: Value) -> bool:
    """x, y, width, height, as the file or its keys say."""
    if _of_coco(box):
        return True
    found = senses(box)
    if found is None or len(found.each) != 4 or any(one is not None and one.centre for one in found.each):
        return False
    wanted = (Sense(ACROSS), Sense(DOWN), Sense(ACROSS, True), Sense(DOWN, True))
    return found.each == wanted


def _of_coco(box: Value) -> bool:
    """`annotation["bbox"]` of a file in the form of COCO, alone or in a list."""

    def before(part: Value) -> Value | None:
        kept = same_numbers(part)
        if kept is not part:
            return kept
        if isinstance(part, Collection) and (part.open or part.repeated) and part.items:
            return part.items[0]
        if (
            isinstance(part, Call)
            and part.qualified in ("torch.stack", "numpy.stack", "torch.cat", "numpy.concatenate")
            and part.args
        ):
            return part.args[0]
        if isinstance(part, Item) and constant(part.key) != "bbox":
            return (
                None
                if isinstance(resolved(part.key), Const) and not isinstance(constant(part.key), int)
                else part.base
            )
        return part.iterable if isinstance(part, Element) else None

    found = behind(box, before)
    if not isinstance(found, Item) or constant(found.key) != "bbox":
        return False
    return any(
        (isinstance(part, Item) and constant(part.key) == "annotations")
        or (isinstance(part, Call) and part.method in ("loadAnns", "load_anns"))
        or (isinstance(part, Attribute) and part.name in ("imgToAnns", "anns"))
        for part in walk(found.base)
    )


_CORNERS = frozenset(
    ("box_iou", "generalized_box_iou", "complete_box_iou", "distance_box_iou", "generalized_box_iou_loss", "complete_box_iou_loss",
     "distance_box_iou_loss", "nms", "batched_nms", "box_area", "clip_boxes_to_image", "remove_small_boxes")
)  # fmt: skip


def _taken_as_corners(program: Program) -> Iterator[tuple[Value, ast.AST]]:
    """Boxes that something takes for two corners, and where they are given to it."""
    for event in program.calls:
        call = event.call
        if call.qualified.startswith("torchvision.ops.") and call.qualified.rpartition(".")[2] in _CORNERS:
            if constant(call.keywords.get("fmt"), "xyxy") == "xyxy":
                for given in call.args[:2]:
                    yield given, event.node
        elif call.method == "crop" and len(call.args) == 1 and not call.keywords:
            yield call.args[0], event.node
    for value in operations(program):
        if value.operator == "-" and len(value.operands) == 2:
            box = _far_minus_near(value)
            if box is not None and value.node is not None:
                yield box, _given_at(program, box, value.node)
        elif value.operator == "slice" and value.node is not None:
            low, high = (resolved(part) for part in value.operands[:2])
            if (
                not isinstance(low, Item)
                or not isinstance(high, Item)
                or resolved(low.base) is not resolved(high.base)
            ):
                continue
            if (picked(low.key), picked(high.key)) == (0, 2):
                yield low.base, value.node


def _far_minus_near(value: Operation) -> Value | None:
    """The box of `box[:, 2:] - box[:, :2]`, or of `x2 - x1`."""
    far, near = (resolved(part) for part in value.operands)
    if not isinstance(far, Item) or not isinstance(near, Item):
        return None
    base = resolved(far.base)
    if resolved(near.base) is not base:
        return None
    if isinstance(base, Call) and base.method in ("unbind", "split", "chunk") and base.receiver is not None:
        base = resolved(base.receiver)
    places = (picked(far.key), picked(near.key))
    bounds = (_bounds(far.key), _bounds(near.key))
    if places in ((2, 0), (3, 1)) or bounds in (
        ((2, None), (None, 2)),
        ((2, 4), (0, 2)),
        ((2, 4), (None, 2)),
        ((2, None), (0, 2)),
    ):
        return base
    return None


def _bounds(key: Value) -> tuple[object, object] | None:
    key = resolved(key)
    last = (
        resolved(key.items[-1]) if isinstance(key, Collection) and key.kind == "tuple" and key.items else key
    )
    if not isinstance(last, Operation) or last.operator != "slice":
        return None
    return constant(last.operands[0]), constant(last.operands[1])


def _given_at(program: Program, box: Value, used: ast.AST) -> ast.AST:
    """Where the box is given to the function that takes it for corners; the place itself outside of one."""
    function = program.function(used)
    for part in program.parts:
        call = part.call if isinstance(part, Body) and part.function.definition is function else None
        if call is not None and call.node is not None and any(resolved(given) is box for given in call.given):
            return call.node
    return used


def _changed(program: Program) -> set[int]:
    """What something is stored into, as corners in place of sizes."""
    found = set()
    for event in program.events:
        if event.target is not None and event.target.base is not None and event.target.key is not None:
            found.add(id(resolved(event.target.base)))
    return found
