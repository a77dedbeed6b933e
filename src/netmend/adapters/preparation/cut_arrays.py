"""Whether what is resized, cropped or filtered away of pictures and recordings would say the class: asked at the end, of the files beside the program."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from time import thread_time
from typing import TYPE_CHECKING, Any

import numpy as np

from netmend.adapters.preparation.own_modules import own_modules
from netmend.adapters.preparation.probes import Answers, lift, say_by_numbers
from netmend.adapters.preparation.raw_files import Raw, labelled_files, labelled_rows, read
from netmend.adapters.preparation.records import classes_of
from netmend.adapters.preparation.signs import of_input, of_picture, of_sound
from netmend.adapters.preparation.written_cuts import sources_of
from netmend.adapters.preparation.written_shrinks import Shrink, Shrinking, written_shrinks
from netmend.vocabulary import PreparationFact

if TYPE_CHECKING:
    from netmend.adapters.preparation.watch import Preparation

_FEWEST = 80
_SECONDS = 1.5
_MOST_SHOWN = 400


def ask(preparation: Preparation) -> None:
    """One fact for each line: how well a simple model says the class from the files, from what the line leaves, and from what reached the network."""
    started = thread_time()
    batches = preparation.batches.training
    targets = classes_of([batch.targets for batch in batches])
    if targets is None or batches[0].inputs.ndim < 2 or batches[0].inputs.dtype.kind != "f":
        return
    shrinkings = list(written_shrinks(sources_of(own_modules(preparation.sites))))
    if not shrinkings:
        return
    shown: Answers | None = None
    where = (Path.cwd(), preparation.began, targets)
    for raw in chain(labelled_files(*where), labelled_rows(*where)):
        lines = [line for line in shrinkings if line.is_sound == raw.is_sound]
        if not lines:
            continue
        contents = _contents(raw, started)
        if contents is None:
            return
        shown = shown or _shown(batches)
        if shown is None:
            return
        whole = _said(contents, raw, lambda numbers, rate: numbers)
        for line in lines:
            if thread_time() - started > _SECONDS:
                return
            left = _said(contents, raw, line.leaves)
            if whole is not None and left is not None:
                better = _said(contents, raw, line.better) if line.better is not None else None
                fits = _fits(line.leaves(*contents[0]), batches[0].inputs)
                preparation.add(_fact(line, raw, whole, left, better, shown, fits))


def _contents(raw: Raw, started: float) -> list[Any] | None:
    found = []
    for file in raw.contents:
        if thread_time() - started > _SECONDS / 2:
            return None
        content = read(file, raw.is_sound)
        if content is None or content[0].ndim < (1 if raw.is_sound else 2):
            return None
        found.append(content)
    return found


def _said(contents: list[Any], raw: Raw, leaves: Shrink) -> Answers | None:
    """How well the class is said from what is left of each file."""
    rows = []
    for numbers, rate in contents:
        left = leaves(numbers, rate)
        if left is None or left.size < 16 or min(left.shape[:2]) < 2:
            return None
        rows.append(of_sound(left) if raw.is_sound else of_picture(left))
    if len({len(row) for row in rows}) != 1:
        return None
    return say_by_numbers(rows, raw.classes)


def _fits(left: Any, inputs: Any) -> bool:
    """Has what the line leaves the form in which a sample reached the network?"""
    return left is not None and tuple(left.shape[:2]) == tuple(inputs.shape[-min(2, left.ndim) :])


def _shown(batches: Any) -> Answers | None:
    """How well it is said from what reached the network, each sample once: turned and mirrored ones have the same numbers in them."""
    rows: list[Any] = []
    classes: list[Any] = []
    known: set[bytes] = set()
    for batch in batches:
        for row, goal in zip(
            batch.inputs, np.asarray(batch.targets).reshape(len(batch.inputs), -1)[:, 0], strict=True
        ):
            mark = np.sort(np.round(row.ravel(), 4)).tobytes()
            if mark in known or len(rows) >= _MOST_SHOWN:
                continue
            known.add(mark)
            signs = of_input(row)
            if signs is None or (rows and len(signs) != len(rows[0])):
                return None
            rows.append(signs)
            classes.append(goal)
    if len(rows) < _FEWEST:
        return None
    return say_by_numbers(rows, np.array(classes))


def _fact(
    line: Shrinking,
    raw: Raw,
    whole: Answers,
    left: Answers,
    better: Answers | None,
    shown: Answers,
    fits: bool,
) -> PreparationFact:
    return PreparationFact(
        f"shrink@{line.site.short}:{line.site.column}",
        "cut",
        "shrink",
        line.site,
        seen={
            "how": line.kind, "words": line.words, "files": len(raw.contents), "is_sound": raw.is_sound, "whole": round(whole.balanced, 3),
            "kept": round(left.balanced, 3), "shown": round(shown.balanced, 3), "lift": round(lift(whole, left), 1),
            "chance": round(1 / len(np.unique(raw.classes)), 3), "better": round(better.balanced, 3) if better is not None else -1.0,
            "fits": fits,
        },
    )  # fmt: skip
