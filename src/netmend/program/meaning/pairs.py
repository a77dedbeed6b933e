"""A picture and what is to be said about every place of it: masks, points, boxes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from netmend.program.engine.history import Branch, Event
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import Value
from netmend.program.meaning.batches import part_of_batch
from netmend.program.meaning.losses import loss_uses
from netmend.program.meaning.operations import parts_of, reached

_PLACES = frozenset(
    ("mask", "masks", "msk", "msks", "seg", "segm", "segmentation", "segmap", "annotation", "annotations", "annot", "anno", "target", "targets", "tgt", "label", "labels",
     "lbl", "lab", "gt", "truth", "groundtruth", "heatmap", "heatmaps", "contour", "trimap", "matte", "parsing", "semantic", "points", "pts", "keypoints", "kpts", "landmarks",
     "boxes", "bbox", "bboxes", "box", "corners", "disparity", "depth", "saliency", "edges", "outline")
)  # fmt: skip
_POINTS = frozenset(("points", "pts", "keypoints", "kpts", "kps", "landmarks", "landmark", "joints", "coords", "coordinates", "corners", "xy", "boxes", "bbox", "bboxes", "box"))  # fmt: skip
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def words(text: str) -> frozenset[str]:
    """The words that names and texts of a piece of source consist of, in small letters."""
    return frozenset(word.lower() for word in _WORD.findall(text))


def names_a_target(program: Program, node: ast.AST) -> bool:
    """Does the statement that a call stands in speak of a mask, a label image, points or boxes?"""
    statement = program.statement(node)
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.Return | ast.Expr | ast.AugAssign):
        whole = ast.unparse(node)
        if isinstance(statement, ast.Assign):
            whole += " " + " ".join(ast.unparse(target) for target in statement.targets)
        return bool(words(whole) & _PLACES)
    return bool(words(ast.unparse(node)) & _PLACES)


def names_points(text: str) -> bool:
    return bool(words(text) & _POINTS)


@dataclass(frozen=True)
class Learned:
    """What a loss compares: everything that the model's input and the target are computed from, and the places in the source of both."""

    inputs: tuple[Value, ...]
    targets: tuple[Value, ...]
    input_places: frozenset[int]
    target_places: frozenset[int]


@once
def learned(program: Program) -> tuple[Learned, ...]:
    found = []
    for use in loss_uses(program):
        if use.prediction is not None and use.target is not None:
            sides = [tuple(_behind(program, side)) for side in (use.prediction, use.target)]
            found.append(Learned(sides[0], sides[1], _places(sides[0]), _places(sides[1])))
    return tuple(found)


def _places(values: Iterable[Value]) -> frozenset[int]:
    return frozenset(id(part.node) for part in values if part.node is not None)


def _behind(program: Program, value: Value) -> Iterator[Value]:
    """Everything that a value is computed from, through loaders into what the data set gives."""

    def parts(part: Value) -> Iterator[Value]:
        place = part_of_batch(program, part)
        if place is not None and place.value is not None:
            yield place.value
        else:
            yield from parts_of(part)

    return reached(value, parts)


def are_learned_together(program: Program, one: Value, other: Value) -> bool:
    """Is one value what a model is given and the other what it shall answer?"""
    for pair in learned(program):
        for first, second in ((id(one.node), id(other.node)), (id(other.node), id(one.node))):
            if (
                first in pair.input_places - pair.target_places
                and second in pair.target_places - pair.input_places
            ):
                return True
    return False


def exclude_each_other(one: Event, other: Event) -> bool:
    """Do two events stand on different paths of one branch?"""
    paths = {id(part): block for part, block in _paths(one) if isinstance(part, Branch)}
    return any(paths.get(id(part), block) is not block for part, block in _paths(other))


def _paths(event: Event) -> Iterator[tuple[object, object]]:
    block = event.block
    while block is not None and block.parent is not None:
        yield block.parent, block
        block = block.parent.block
