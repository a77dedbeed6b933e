"""The lines where pictures are flipped or turned by chance."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.library.image_transforms import MOVING_NAMES, TRANSFORMS
from netmend.localise.case import Case
from netmend.program.engine.scope import ModuleFile
from netmend.program.meaning.chance import Drawing
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name, site_of
from netmend.vocabulary import Site

_FLIPS = frozenset(
    ("flip", "fliplr", "hflip", "horizontal_flip", "mirror", "flipud", "vflip", "vertical_flip")
)
_TURNS = frozenset(
    ("rotate", "rot90", "warpAffine", "affine", "affine_transform", "warp", "warpPerspective", "grid_sample")
)
_MIRROR_WORDS = ("fliplr", "hflip", "horizontal_flip", "mirror", "FLIP_LEFT_RIGHT")


def turned_by_chance(case: Case, what: str) -> Site | None:
    """Where training mirrors or turns its pictures at random: a ready transform that does so, or a call or slice under a drawn number."""
    ready: list[Site] = []
    own: list[tuple[bool, Site]] = []
    for name in case.sources.files():
        file = case.sources.file(name)
        if file is None:
            continue
        ready += [site_of(file.file, call) for call in inside(file.tree, ast.Call) if _is_ready(call, what)]
        own += _written(file, what)
    if ready:
        return ready[0]
    # What says that it mirrors comes before what only flips.
    best = sorted(own, key=lambda found: not (found[0] and what == "mirrors"))
    return best[0][1] if best else None


def _is_ready(call: ast.Call, what: str) -> bool:
    known = TRANSFORMS.get(last_name(call.func))
    return known is not None and bool(getattr(known, what)) and not _is_never(call)


def _is_never(call: ast.Call) -> bool:
    """`p=0`"""
    return any(
        word.arg == "p" and isinstance(word.value, ast.Constant) and word.value.value == 0
        for word in call.keywords
    )


def _written(file: File, what: str) -> Iterator[tuple[bool, Site]]:
    for function in inside(file.tree, *_FUNCTIONS):
        drawing = Drawing(function, ModuleFile(file.file, file.text, file.tree))
        for node in inside(function, ast.Call, ast.Subscript):
            if file.function(node) is function and _is_turn(node, what):
                around = tuple(above for above in file.parents(node))
                inner = around[: around.index(function)] if function in around else around
                if drawing.is_by_chance(node, inner):
                    yield any(word in ast.unparse(node) for word in _MIRROR_WORDS), site_of(file.file, node)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _is_turn(node: ast.Call | ast.Subscript, what: str) -> bool:
    if isinstance(node, ast.Call):
        name = last_name(node.func)
        if name == "transpose":
            return any(last_name(given) in MOVING_NAMES for given in node.args)
        return name in (_TURNS if what == "turns" else _FLIPS)
    axes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    steps = [axis.step for axis in axes if isinstance(axis, ast.Slice)]
    return any(isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.USub) for step in steps)
