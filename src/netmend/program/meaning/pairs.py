"""A picture and what is to be said about every place of it: masks, points, boxes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

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


@once
def learned_pairs(program: Program) -> tuple[tuple[frozenset[int], frozenset[int]], ...]:
    """For each loss, what the model's input is computed from and what the target is computed from, by identity of values."""
    found = []
    for use in loss_uses(program):
        if use.prediction is None or use.target is None:
            continue
        target = frozenset(map(id, _behind(program, use.target)))
        found.append((frozenset(map(id, _behind(program, use.prediction))), target))
    return tuple(found)


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
    for inputs, targets in learned_pairs(program):
        for first, second in ((one, other), (other, one)):
            if id(first) in inputs - targets and id(second) in targets - inputs:
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
