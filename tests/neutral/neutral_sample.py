"""Neutrality analyses made by hand: alternatives of a fix, of a value, of nothing; failures; no measure."""

from __future__ import annotations

from dataclasses import replace

from netmend.neutral.alternatives import alternatives, best_goal, fix_goal, like_goal
from netmend.neutral.neutrality import (
    FAILED,
    GIVEN_UP,
    KEPT,
    OPEN,
    SAME,
    START,
    WORSE,
    Goal,
    Neutrality,
    Node,
)
from netmend.program.text.spans import Span
from netmend.repair.objective import Objective
from netmend.repair.version import Part, Version
from netmend.vocabulary.change import Change

SOURCE = "import torch\n\nrate = 0.3\nepochs = 10\nkind = 'sigmoid'\ntrain(rate, epochs, kind)\n"
ACCURACY = Objective("printed:val acc", True, True)
SEEDS = (0, 101, 102)


def change(knob: str, cause: str, old: str, new: str) -> Change:
    return Change("N1", cause, f"{knob} {old} → {new}", knob=knob)


RATE = change("rate", "HYP-LR-HIGH", "0.3", "0.003")
EPOCHS = change("epochs", "HYP-EPOCH-FEW", "10", "20")
KIND = change("kind", "ACT-HID-WRONG", "sigmoid", "relu")


def version(*changes: Change) -> Version:
    made = Version({"train.py": SOURCE}, ())
    for one in changes:
        _, old, _, new = one.title.split(" ")
        text = made.text("train.py", "")
        start = text.index(old)
        part = Part(one, {"train.py": (Span(start, start + len(old), new),)})
        made = replace(made, parts=(*made.parts, part))
    return made


def node(
    number: int, parent: int | None, values: tuple[float | None, ...], status: str, *changes: Change
) -> Node:
    return Node(
        number,
        parent,
        len(changes),
        version(*changes),
        changes[-1] if changes else None,
        values,
        SEEDS[: len(values)],
        status,
        expanded=number in (0, 1),
        note="ValueError: <b>no</b>" if status == FAILED else "",
    )


def nodes() -> tuple[Node, ...]:
    return (
        node(0, None, (0.5, 0.51, 0.49), START),
        node(1, 0, (0.7, 0.71, 0.69), KEPT, EPOCHS),
        node(2, 0, (0.95, 0.96, 0.94), KEPT, RATE),
        node(3, 0, (None,), FAILED, KIND),
        node(4, 0, (0.2,), GIVEN_UP, change("rate", "HYP-LR-HIGH", "0.3", "30")),
        node(5, 1, (0.95, 0.95, 0.95), KEPT, EPOCHS, KIND),
        node(6, 1, (0.96, 0.95, 0.95), KEPT, EPOCHS, RATE),
        node(7, 1, (0.6, 0.6, 0.6), WORSE, EPOCHS, change("kind", "ACT-HID-WRONG", "sigmoid", "tanh")),
        node(8, 1, (0.7,), SAME, EPOCHS, change("kind", "ACT-HID-WRONG", "sigmoid", "elu")),
        node(9, 1, (0.72,), OPEN, EPOCHS, change("kind", "ACT-HID-WRONG", "sigmoid", "selu")),
    )


def analysis(goal: Goal | None = None, known: tuple[Node, ...] | None = None) -> Neutrality:
    every = nodes() if known is None else known
    reached = goal or best_goal(ACCURACY, every)
    return Neutrality(
        "train.py", "project", (), ACCURACY, every, reached, alternatives(ACCURACY, every, reached), SEEDS, 31.5, 42.0,
        "60 trainings", "the budget is spent", 12, ("R999 (ValueError: no)",),
    )  # fmt: skip


def every() -> dict[str, Neutrality]:
    new = Version({}, ("--lr", "1"), (Part(RATE, {}, (("--lr", "1"), ("--lr", "0.1"))),))
    given = Node(1, 0, 1, new, RATE, (0.9, 0.9, 0.9), SEEDS, KEPT)
    crashed = node(0, None, (None, None, None), START)
    return {
        "best": analysis(),
        "fix": analysis(fix_goal((0.94, 0.95, 0.96))),
        "like": analysis(like_goal(0.945)),
        "out of reach": analysis(like_goal(0.99)),
        "neutral": analysis(fix_goal((0.3, 0.31, 0.29))),
        "fix fails": analysis(fix_goal((0.9, None, 0.9))),
        "interrupted": replace(analysis(fix_goal(()), nodes()[:1]), stopped="interrupted"),
        "no measure": replace(analysis(known=(crashed,)), objective=None),
        "crashes": analysis(known=(crashed, *nodes()[1:4])),
        "arguments": analysis(known=(nodes()[0], given)),
    }
