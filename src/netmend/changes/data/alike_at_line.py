"""Evaluation data prepared on a line of its own: what that line does differently from the one for training data."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.program.source.writing import delete_argument, replace
from netmend.program.text.file import File
from netmend.program.text.queries import last_name
from netmend.vocabulary.change import FileEdits


def alike_at_line(case: Case) -> Iterator[FileEdits]:
    """Changes of the line that the fault stands on which make it do what the line for training data does."""
    found = case.code.statement_at(case.site)
    if found is None:
        return
    file, statement = found
    for call in file.calls(inside=statement):
        if last_name(call.func) == "fit_transform":
            yield _not_fitted_again(file, call)
        elif case.code.definition(last_name(call.func), ast.ClassDef) or last_name(call.func) in _LOADING:
            for other in file.calls(last_name(call.func)):
                if other is not call and other.lineno < call.lineno:
                    yield _same_settings(file, other, call)


_LOADING = ("DataLoader",)
_MEANT = (
    "batch_size",
    "shuffle",
    "train",
    "training",
    "split",
    "augment",
    "drop_last",
    "sampler",
    "num_workers",
)


def _not_fitted_again(file: File, call: ast.Call) -> FileEdits:
    """`scaler.fit_transform(x_test)` behind `scaler.fit_transform(x)`: the statistics of the training data stay."""
    holder = call.func.value if isinstance(call.func, ast.Attribute) else None
    if holder is None:
        return ()
    for other in file.calls("fit_transform", "fit"):
        same = isinstance(other.func, ast.Attribute) and ast.dump(other.func.value) == ast.dump(holder)
        if same and other.lineno < call.lineno:
            return replace(file, call.func, f"{file.source(holder)}.transform")
    return ()


def _same_settings(file: File, training: ast.Call, evaluation: ast.Call) -> FileEdits:
    """The settings of the other call, but for those that are meant to differ."""
    there = {keyword.arg: keyword.value for keyword in training.keywords}
    for keyword in evaluation.keywords:
        if keyword.arg is None or keyword.arg in _MEANT:
            continue
        other = there.get(keyword.arg)
        if other is None and isinstance(keyword.value, ast.Constant):
            return delete_argument(file, evaluation, keyword)
        if other is not None and ast.dump(other) != ast.dump(keyword.value):
            return replace(file, keyword.value, file.source(other))
    return ()
