"""Test sets as the user names them: variables of the program, files, functions; and parts of them that need no training.

`--test test_loader`, `--test X_test,y_test`, `--test "x[800:],y[800:]"`, `--test big=held_out.npz`, `--test ours=data.py:load`;
`--subset weak=test:classes=0,1,2`, `--subset weak=test:first=50`, `--subset weak=test:random=50`.
"""

from __future__ import annotations

import ast
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from netmend.errors import UsageError

TRAINING = "training data"  # is examined beside the test sets
OWN = "test"  # the name of what the program evaluated last, when no test set is named
PROGRAM, NAMES, FILE, FUNCTION = "program", "names", "file", "function"

_SHOWN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_. -]*")
_HOW = (
    "name a DataLoader or Dataset of the script (--test test_loader), inputs and labels (--test X_test,y_test), "
    "a file (--test held_out.npz) or a function (--test data.py:load)"
)


@dataclass(frozen=True)
class Rows:
    """A variable of the program, or a slice of its rows."""

    name: str
    start: int | None = None
    stop: int | None = None


@dataclass(frozen=True)
class TestSet:
    """Where a test set comes from."""

    __test__ = False  # not a test of pytest's

    name: str
    kind: str = PROGRAM  # program (what it evaluated last), names, file, function
    rows: tuple[Rows, ...] = ()
    path: str = ""  # relative to the program's folder where it lies in there
    function: str = ""
    content: str = ""  # of the file, as a digest: another content is another test set

    def as_data(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "kind": self.kind,
            "rows": [[row.name, row.start, row.stop] for row in self.rows],
            "path": self.path,
            "function": self.function,
            "content": self.content,
        }


def from_data(data: dict[str, Any]) -> TestSet:
    rows = tuple(Rows(*row) for row in data["rows"])
    return TestSet(data["name"], data["kind"], rows, data["path"], data["function"], data["content"])


def test_sets(given: tuple[str, ...], directory: str) -> tuple[TestSet, ...]:
    """The sets that `--test` names; what the program itself evaluated last, where it is not given."""
    found = tuple(_test_set(text, Path(directory)) for text in given) or (TestSet(OWN),)
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two test sets are called {name!r}; call one of them otherwise: --test NAME=…")
    return found


def _test_set(text: str, directory: Path) -> TestSet:
    shown, equals, what = text.partition("=")
    if not equals:
        shown, what = "", text
    shown, what = shown.strip(), what.strip()
    if equals and (not _SHOWN.fullmatch(shown) or shown == TRAINING):
        raise UsageError(
            f"--test {text!r}: {shown!r} cannot be the name of a test set; use letters and digits"
        )
    if not what:
        raise UsageError(f"--test {text!r} names nothing; {_HOW}")
    if what.endswith(".npz"):
        path, content = _file(what, directory, text)
        return TestSet(shown or Path(what).stem, FILE, path=path, content=content)
    file, colon, function = what.rpartition(":")
    if colon and file.endswith(".py"):
        path, content = _file(file, directory, text)
        if not function.isidentifier():
            raise UsageError(f"--test {text!r}: {function!r} is no name of a function")
        return TestSet(shown or function, FUNCTION, path=path, function=function, content=content)
    rows = _rows(what, text)
    return TestSet(shown or rows[0].name, NAMES, rows)


def _file(name: str, directory: Path, text: str) -> tuple[str, str]:
    """Its path, and a digest of its content."""
    path = Path(name).expanduser()
    path = path if path.is_absolute() else Path.cwd() / path
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise UsageError(f"--test {text!r}: {name} cannot be read: {problem.strerror or problem}") from None
    full, root = path.resolve(), directory.resolve()
    shown = str(full.relative_to(root)) if full.is_relative_to(root) else str(full)
    return shown, hashlib.sha256(content).hexdigest()[:16]


def _rows(what: str, text: str) -> tuple[Rows, ...]:
    try:
        tree = ast.parse(what, mode="eval").body
    except SyntaxError:
        raise UsageError(f"--test {text!r} is not understood; {_HOW}") from None
    parts = tree.elts if isinstance(tree, ast.Tuple) else [tree]
    found = [_row(part, text) for part in parts]
    if len(found) > 2:
        raise UsageError(f"--test {text!r} has {len(found)} parts; give one name, or inputs and labels")
    return tuple(found)


def _row(part: ast.expr, text: str) -> Rows:
    if isinstance(part, ast.Name):
        return Rows(part.id)
    if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name):
        cut = part.slice
        if isinstance(cut, ast.Slice) and cut.step is None:
            return Rows(part.value.id, _whole(cut.lower, text), _whole(cut.upper, text))
    raise UsageError(f"--test {text!r} is not understood: names, or slices such as x[800:], are; {_HOW}")


def _whole(value: ast.expr | None, text: str) -> int | None:
    if value is None:
        return None
    try:
        number = ast.literal_eval(value)
    except ValueError:
        number = None
    if isinstance(number, bool) or not isinstance(number, int):
        raise UsageError(f"--test {text!r}: the borders of a slice must be whole numbers")
    return number


@dataclass(frozen=True)
class Subset:
    """A part of a test set: some classes, the first inputs, or some drawn at random."""

    name: str
    of: str
    rule: str  # classes | first | random
    classes: tuple[float, ...] = ()
    count: int = 0

    @property
    def words(self) -> str:
        if self.rule == "classes":
            return f"{self.of}, classes {', '.join(f'{one:g}' for one in self.classes)}"
        return f"{self.of}, {self.count} {'first' if self.rule == 'first' else 'random'} inputs"

    def index(self, labels: np.ndarray | None, inputs: int) -> np.ndarray:
        """Rows of the set that belong to it; the random ones are the same in every training."""
        if self.rule == "classes":
            if labels is None:
                raise UsageError(f"--subset {self.name}: {self.of} has no classes; use first= or random=")
            return np.flatnonzero(np.isin(labels, self.classes))
        if self.rule == "first":
            return np.arange(min(self.count, inputs))
        return np.sort(np.random.default_rng(0).permutation(inputs)[: self.count])


def subsets(given: tuple[str, ...], known: tuple[TestSet, ...]) -> tuple[Subset, ...]:
    """The parts that `--subset` names."""
    names = {each.name for each in known}
    found: list[Subset] = []
    for text in given:
        one = _subset(text)
        if one.of not in names:
            raise UsageError(
                f"--subset {text!r}: there is no test set {one.of!r}; there is {', '.join(names)}"
            )
        if one.name in names:
            raise UsageError(f"--subset {text!r}: {one.name!r} is taken; give it another name")
        names.add(one.name)
        found.append(one)
    return tuple(found)


def _subset(text: str) -> Subset:
    found = re.fullmatch(r"\s*([^=:]+)=([^=:]+):(classes|first|random)=(.+)", text)
    if found is None or not _SHOWN.fullmatch(found[1].strip()):
        raise UsageError(
            f"--subset {text!r} is not understood; write NAME=SET:classes=0,1,2, NAME=SET:first=50 or NAME=SET:random=50"
        )
    name, of, rule, value = (found[number].strip() for number in range(1, 5))
    try:
        if rule == "classes":
            return Subset(name, of, rule, classes=tuple(float(each) for each in value.split(",")))
        count = int(value)
    except ValueError:
        raise UsageError(f"--subset {text!r}: {value!r} must be numbers") from None
    if count < 1:
        raise UsageError(f"--subset {text!r}: at least one input must be left, got {count}")
    return Subset(name, of, rule, count=count)
