from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Item, Value, constant
from netmend.program.meaning.indexing import is_last_of
from netmend.program.meaning.padding import UNPACKED
from netmend.program.meaning.paths import paths
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Finding, Fix

HEAD = """\
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(3, 16, batch_first=True)
        self.fc = nn.Linear(16, 2)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, (h, c) = self.rnn(packed)
        out, sizes = pad_packed_sequence(out, batch_first=True)
"""


@register
class LastStepOfPadding(StaticRule):
    """The last step is taken of sequences that were unpacked: for all but the longest it is padding.

    `pad_packed_sequence` fills short sequences up with zeros. Their last step is a row of zeros, whatever they said, so they all look the
    same to what comes after.

    Take the last real step: `h[-1]`, the state that the layer returns, or `out[torch.arange(len(out)), lengths - 1]`.
    """

    code = "S345"
    cause = "INP-MASK-MISSING"
    message = "Of unpacked sequences the last step is padding for all but the longest; use the returned state h[-1]."
    triggers = ("pad_packed_sequence(",)

    GOOD = (
        Snippet("the state", HEAD + "        return self.fc(h[-1])\n"),
        Snippet("the last real step", HEAD + "        return self.fc(out[torch.arange(len(out)), sizes - 1])\n"),
        Snippet("every step", HEAD + "        return self.fc(out)\n"),
        Snippet("the first step", HEAD + "        return self.fc(out[:, 0])\n"),
        Snippet("the last feature", HEAD + "        return out[:, :, -1]\n"),
        Snippet("the last sample", HEAD.replace("(out, batch_first=True)", "(out, True)") + "        return out[-1]\n"),
        Snippet("not packed", HEAD.replace("out, sizes = pad_packed_sequence(out, batch_first=True)", "sizes = lengths")
                + "        return self.fc(out[:, -1])\n"),
    )  # fmt: skip
    BAD = (
        Snippet("batch first", HEAD + "        return self.fc(out[:, -1])\n", line=15,
                fixed=HEAD + "        return self.fc(out[torch.arange(len(sizes)), sizes - 1])\n"),
        Snippet("all axes written", HEAD + "        last = out[:, -1, :]\n        return self.fc(last)\n", line=15,
                fixed=HEAD + "        last = out[torch.arange(len(sizes)), sizes - 1]\n        return self.fc(last)\n"),
        Snippet("time first", HEAD.replace(", batch_first=True", "") + "        return self.fc(out[-1])\n", line=15,
                fixed=HEAD.replace(", batch_first=True", "") + "        return self.fc(out[sizes - 1, torch.arange(len(sizes))])\n"),
        Snippet("the lengths have no name yet", HEAD.replace("out, sizes", "out, _") + "        return self.fc(out[:, -1])\n", line=15,
                fixed=HEAD.replace("out, sizes", "out, sizes") + "        return self.fc(out[torch.arange(len(sizes)), sizes - 1])\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        users = paths(program).users
        seen: set[int] = set()
        for event in program.calls_of(UNPACKED):
            axis = None if event.call is None else _axis_of_time(event.call)
            if event.call is None or axis is None:
                continue
            sequences = (
                part
                for part in users.get(id(event.call), [])
                if isinstance(part, Item) and constant(part.key) == 0
            )
            for user in (user for part in sequences for user in users.get(id(part), [])):
                if not isinstance(user, Item) or user.node is None or id(user.node) in seen:
                    continue
                if is_last_of(user.key, axis):
                    seen.add(id(user.node))
                    yield self.finding(
                        program, user.node, fix=_last_real_step(program, event.node, user.node, axis)
                    )


def _last_real_step(program: Program, unpacked: ast.AST, last: ast.AST, axis: int) -> Fix | None:
    """`out[:, -1]` → `out[torch.arange(len(sizes)), sizes - 1]`, with the lengths that unpacking gives."""
    statement = unpacked
    while not isinstance(statement, ast.stmt):
        above = program.parent(statement)
        if above is None:
            return None
        statement = above
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    lengths = target.elts[1] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else None
    imported = any(
        isinstance(node, ast.Import) and any(name.name == "torch" and not name.asname for name in node.names)
        for node in ast.walk(program.tree)
    )
    is_first = isinstance(last, ast.Subscript) and isinstance(last.value, ast.Name) and _is_plain(last, axis)
    if (
        not isinstance(lengths, ast.Name)
        or not isinstance(last, ast.Subscript)
        or not imported
        or not is_first
    ):
        return None
    used = {node.id for node in ast.walk(program.tree) if isinstance(node, ast.Name)}
    if lengths.id == "_" and "sizes" in used:
        return None
    name = "sizes" if lengths.id == "_" else lengths.id
    named = replace(program, lengths, name) if name != lengths.id else ()
    rows, steps = f"torch.arange(len({name}))", f"{name} - 1"
    picked = f"{ast.unparse(last.value)}[{f'{rows}, {steps}' if axis == 1 else f'{steps}, {rows}'}]"
    return Fix("Take the last real step", (*named, *replace(program, last, picked)))


def _is_plain(last: ast.Subscript, axis: int) -> bool:
    """Whether all of the other axes are taken whole: `out[:, -1, :]`."""
    keys = last.slice.elts if isinstance(last.slice, ast.Tuple) else [last.slice]
    return all(index == axis or ast.unparse(key) == ":" for index, key in enumerate(keys))


def _axis_of_time(call: Call) -> int | None:
    given: Value | None = call.keywords.get("batch_first", call.args[1] if len(call.args) > 1 else None)
    first = constant(given, False if given is None else None)
    return int(first) if isinstance(first, bool) else None
