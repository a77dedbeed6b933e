"""Versions of the program: one more change, a change taken back, a fix that somebody wrote; and when two are the same."""

from __future__ import annotations

import ast
import hashlib
import re
from dataclasses import replace
from pathlib import Path

from netmend.errors import UsageError
from netmend.program.text.spans import Span
from netmend.repair.apply import is_whole, read
from netmend.repair.version import Part, Version, merged
from netmend.trials.trial import Target
from netmend.vocabulary.change import Change

Key = tuple[tuple[str, str], ...]


def with_change(version: Version, change: Change, root: str, directory: str) -> Version | None:
    """One more change, written for the copy of the program below `root`; None when it cannot be made.

    A second change of one thing is one change together with the first; things that are back where they were count as
    unchanged, so that what is left is the difference to the program as it is.
    """
    made = version.extended(change, root, directory)
    if made is None:
        return None
    if len(made.parts) > 1:
        made = _as_one(made)
    return settled(made)


_STEP = re.compile(r"(?P<what>.*?)(?P<old>\S+) → (?P<new>\S+)(?P<rest>.*)")


def _as_one(version: Version) -> Version:
    """The last two parts together where they change the same thing: `10 → 20 rounds` and `20 → 40 rounds`, `10 → 40 rounds`."""
    changes = [part.change for part in version.parts[-2:]]
    together = merged(version)
    if len(together.parts) == len(version.parts):
        return version
    first, second = (_STEP.fullmatch(change.title) for change in changes)
    if first is None or second is None or first["new"] != second["old"]:
        return together
    if (first["what"], first["rest"]) != (second["what"], second["rest"]):
        return together
    title = f"{first['what']}{first['old']} → {second['new']}{second['rest']}"
    # Up and further down again is down: what that mends is what the second step mends.
    turned = _goes_up(first["old"], second["new"]) != _goes_up(first["old"], first["new"])
    last = together.parts[-1]
    made = replace(last.change, title=title, cause=changes[1 if turned else 0].cause)
    return replace(together, parts=(*together.parts[:-1], replace(last, change=made)))


def _goes_up(old: str, new: str) -> bool | None:
    """None for what are no numbers."""
    try:
        return float(new) > float(old)
    except ValueError:
        return None


def settled(version: Version) -> Version:
    """Without the things whose changes cancel each other."""
    for knob in sorted(version.knobs):
        smaller: Version | None = version
        for index in reversed(range(len(version.parts))):
            if smaller is not None and version.parts[index].change.knob == knob:
                smaller = smaller.without(index)
        if smaller is not None and program_of(smaller) == program_of(version):
            version = smaller
    return version


def program_of(version: Version) -> Key:
    """Equal for versions that are the same program: layout, comments and the way a number is written do not count."""
    parts = [("", "\0".join(version.current_arguments))]
    for file, text in version.texts.items():
        meaning = _meaning(file, text)
        if meaning != _meaning(file, version.originals[file]):
            parts.append((file, hashlib.sha256(meaning.encode(errors="surrogateescape")).hexdigest()))
    return tuple(sorted(parts))


def _meaning(file: str, text: str) -> str:
    if not file.endswith(".py"):
        return text
    return ast.dump(ast.parse(text.encode("utf-8", errors="surrogateescape")))


def fix_version(target: Target, fix: Path) -> Version:
    """The program with the text of another file in the place of its script."""
    if target.is_module:
        raise UsageError("--fix stands for a script; with -m give the value to reach instead: --like 0.95")
    if not fix.is_file():
        raise UsageError(f"--fix {fix}: there is no such file; give another version of {target.script}")
    old, new = read(str(Path(target.directory) / target.script)), read(str(fix))
    if not is_whole(target.script, new):
        raise UsageError(f"--fix {fix}: that is not Python; give another version of {target.script}")
    change = Change("", "", f"the fix in {fix.name}", knob="fix")
    part = Part(change, {target.script: (Span(0, len(old), new),)})
    version = Version({target.script: old}, target.arguments, (part,))
    if program_of(version) == program_of(Version({target.script: old}, target.arguments)):
        raise UsageError(
            f"--fix {fix}: it is the same program as {target.script}; give a version that differs"
        )
    return version
