"""A setting that reaches its call by ways that cannot be followed: found by its name and its value, where both stand together only once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from netmend.changes.case import Case
from netmend.program.source.values import Faces, as_setting
from netmend.program.text.positions import lines_of
from netmend.vocabulary.change import FileEdit

_CONFIGURATIONS = (".yaml", ".yml", ".json", ".toml", ".ini", ".cfg")
_MOST_FILES = 40
_LARGEST = 100_000  # bytes
_SETTING = r"""(?<![\w.-])["']?(?:{names})["']?\s*[:=]\s*(?P<value>[-+]?\d[\d_]*\.?\d*(?:[eE][-+]?\d+)?|[-+]?\.\d+(?:[eE][-+]?\d+)?)(?![\w.*/])"""


def named_like(case: Case, names: tuple[str, ...], text: str, present: float) -> Faces:
    """The edit of the one place where one of some names is given a value; none where there are several, or none."""
    pattern = re.compile(_SETTING.format(names="|".join(map(re.escape, names))))
    found = [
        (file, whole, match)
        for file, whole in _texts(case)
        for match in pattern.finditer(whole)
        if float(match["value"].replace("_", "")) == present
    ]
    if len(found) != 1:
        return Faces()
    file, whole, match = found[0]
    suffix = Path(file).suffix
    written = as_setting(text, suffix) if suffix in _CONFIGURATIONS else text
    if written is None:
        return Faces()
    return Faces((FileEdit(file, lines_of(whole).edit(*match.span("value"), written)),))


def _texts(case: Case) -> Iterator[tuple[str, str]]:
    """The program's own files, and the configuration files that lie beside them."""
    own = [file.file for file in case.code.files()]
    yield from ((str(case.sources.path(name)), case.sources.text(name)) for name in own)
    folders = dict.fromkeys(case.sources.path(name).parent for name in own)
    beside = [
        file for folder in folders for file in sorted(folder.glob("*")) + sorted(folder.glob("conf*/*"))
    ]
    for file in [file for file in dict.fromkeys(beside) if _is_configuration(file)][:_MOST_FILES]:
        yield str(file), file.read_bytes().decode("utf-8", errors="surrogateescape")


def _is_configuration(file: Path) -> bool:
    return file.suffix in _CONFIGURATIONS and file.is_file() and file.stat().st_size <= _LARGEST
