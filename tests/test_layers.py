"""Each folder imports only what stands below it: data first, then the program, then the stages in the order of their flow, surfaces last."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src/netmend"
LAYERS = (
    *(
        "errors",
        "version",
        "config",
        "vocabulary",
        "unit",
        "library",
        "testing",
    ),  # data, facts, what units share
    *("store", "observe", "launch"),  # a run while it is recorded, and on disk
    *("program", "check"),  # the source
    *("diagnose", "localise", "changes"),  # symptoms, causes at lines, edits
    "adapters",
    *("trials", "repair", "verify", "neutral", "mutate"),  # trainings of variants
    *("adequacy", "mend", "environment", "locate"),
    *("report", "export"),
    *("watching", "api", "cli", "demo"),
)
# What looks upwards on purpose: a call is forwarded, a result is asked to show itself.
FORWARDED = {
    ("callable_package", "api"),
    ("shown", "report"),
}
# A model that mutants are examined with runs in a process of its own; the data in which the answers come is that of mutation testing.
FORWARDED |= {("adapters", "mutate")}


def imports(file: Path) -> Iterator[str]:
    """The parts of netmend that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "netmend":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("netmend."):
            yield str(node.module).split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("netmend."))


def part_of(file: Path) -> str:
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


def test_nothing_imports_what_stands_above_it() -> None:
    place = {name: number for number, name in enumerate(LAYERS)}
    upwards = {
        f"{file.relative_to(SOURCE)} imports {other}"
        for file in sorted(SOURCE.rglob("*.py"))
        for part in (part_of(file),)
        for other in imports(file)
        if part not in ("__init__", "__main__") and (part, other) not in FORWARDED
        if other in place and (part not in place or place[other] > place[part])
        if not (part in ("callable_package", "shown") and other in ("errors", "vocabulary"))
    }
    assert not upwards, "\n".join(sorted(upwards))


def test_every_part_has_its_place() -> None:
    parts = {part_of(file) for file in SOURCE.rglob("*.py")} - {"__init__", "__main__"}
    assert parts - set(LAYERS) == {"callable_package", "shown"}


def test_the_core_imports_no_framework() -> None:
    at_home = ("adapters/", "mend/torch/", "adequacy/torch/", "demo/")
    for file in SOURCE.rglob("*.py"):
        if str(file.relative_to(SOURCE)).startswith(at_home):
            continue
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            names = (
                [a.name for a in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            assert not any(name.split(".")[0] in ("torch", "keras", "jax", "tensorflow") for name in names), (
                file
            )
