"""Loops around a line, through the functions that lead to it, and what says how often they run."""

from __future__ import annotations

import ast

from netmend.program.engine.history import Loop
from netmend.program.of_run import EvaluatedProgram
from netmend.program.text.file import File
from netmend.program.text.queries import last_name
from netmend.vocabulary import Site


def loops_around(program: EvaluatedProgram, site: Site | None) -> list[tuple[File, ast.For | ast.While]]:
    """The loops that a call runs in, innermost first, also those that functions on the way to it are called in."""
    for event in program.at(site)[:1]:
        nodes = [part.node for part in event.around() if isinstance(part, Loop)]
        found = [(program.file_of(node), node) for node in nodes if isinstance(node, ast.For | ast.While)]
        return [(file, node) for file, node in found if file is not None]
    return []


def counted(node: ast.expr) -> ast.Call | None:
    """The range() in `range(n)`, `tqdm(range(n))`, `enumerate(range(n))`; `range(0, n, size)` cuts batches and counts no rounds."""
    if not isinstance(node, ast.Call):
        return None
    if last_name(node.func) in ("range", "trange") and node.args:
        return node if len(node.args) < 3 else None
    return next((found for given in node.args if (found := counted(given)) is not None), None)
