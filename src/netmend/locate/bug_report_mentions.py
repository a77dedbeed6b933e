"""Files, lines and modules that a report names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

ENDS = r"(?:pyx?|pxd|pyi|ipynb|ya?ml|toml|cfg|ini|json|txt|sh|cc|cpp|cu|cuh|h|hpp|md|rst|js|ts|proto)"
# repeats are bounded, and a match begins where a word begins: a megabyte of data must not cost minutes
_FOLDERS = r"(?:[\w.+@~-]{0,80}[\\/]){0,30}"
PATH = re.compile(
    rf"(?<![\w.+-])(?:[A-Za-z]:)?{_FOLDERS}[\w+-][\w.+-]{{0,80}}\.{ENDS}(?![\w/\\-])", re.IGNORECASE
)
BLOB = re.compile(
    r"github\.com/[\w.-]+/[\w.-]+/(?:blob|tree|blame|raw)/(?P<rev>[^/\s]+)/(?P<path>[^\s#?)>\"'\]]+)"
    r"(?:#L(?P<line>\d+)(?:-L?\d+)?)?"
)
LINE_AFTER = re.compile(
    rf"(?<![\w.+-])(?P<path>{_FOLDERS}[\w+-][\w.+-]{{0,80}}\.pyx?)(?::|\#L|, line |#)(?P<line>\d{{1,6}})\b"
)
ADDRESS = re.compile(r"\b(?:https?|ftp|s3|gs|file)://[^\s<>\"')\]]+")
IMPORT = re.compile(
    r"^\s*(?:>>> |\.\.\. )?import\s+(?P<names>[\w.]+(?:\s+as\s+\w+)?(?:\s*,\s*[\w.]+(?:\s+as\s+\w+)?)*)",
    re.MULTILINE,
)
FROM = re.compile(r"\bfrom\s+(?P<module>\.*[A-Za-z_][\w.]*)\s+import\s+(?P<names>\([^()]*\)|[\w., *]+)")
DOTTED = re.compile(r"(?<![\w./\\@-])(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?![\w/\\@])")
MINUS_M = re.compile(r"\bpython[\d.]*\s+-m\s+(?P<name>[\w.]+)")
ALIASES = {
    "np": "numpy",
    "pd": "pandas",
    "tf": "tensorflow",
    "plt": "matplotlib.pyplot",
    "mx": "mxnet",
    "nn": "torch.nn",
}
OBJECTS = {"self", "cls", "e", "i", "args", "kwargs", "super", "www", "com", "github"}


class Place(NamedTuple):
    """A line of a file that the report points at."""

    path: str
    line: int


def paths_in(text: str) -> tuple[str, ...]:
    """File paths and names, once each, in the order of the text; links to blobs give the path in the repository."""
    found: dict[str, None] = {}
    for blob in BLOB.finditer(text):
        found.setdefault(blob["path"].rstrip(".,;:"), None)
    for match in PATH.finditer(ADDRESS.sub(" ", text)):
        found.setdefault(match[0].replace("\\", "/"), None)
    return tuple(found)


def places_in(text: str) -> tuple[Place, ...]:
    """Lines that links and `file.py:12` point at."""
    found: dict[Place, None] = {}
    for blob in BLOB.finditer(text):
        if blob["line"]:
            found.setdefault(Place(blob["path"], int(blob["line"])), None)
    for match in LINE_AFTER.finditer(ADDRESS.sub(" ", text)):
        found.setdefault(Place(match["path"].replace("\\", "/"), int(match["line"])), None)
    return tuple(found)


def modules_in(code: Sequence[str], prose: str) -> tuple[str, ...]:
    """Dotted names with the report's own `import … as …` resolved; imports first."""
    everything = "\n".join((*code, prose))
    aliases = dict(ALIASES)
    found: dict[str, None] = {}
    for name in _imported(everything, aliases):
        found.setdefault(name, None)
    for match in MINUS_M.finditer(everything):
        found.setdefault(match["name"], None)
    for match in DOTTED.finditer(ADDRESS.sub(" ", everything)):
        name = match["name"]
        head, _, rest = name.partition(".")
        if head in OBJECTS or re.search(rf"\.{ENDS}$", name):
            continue
        found.setdefault(f"{aliases[head]}.{rest}" if head in aliases else name, None)
    return tuple(found)


def _imported(text: str, aliases: dict[str, str]) -> Iterator[str]:
    """Names that import statements bring in; what they are called afterwards goes to `aliases`."""
    for match in FROM.finditer(text):
        module = match["module"].strip(".")
        yield module
        for part in match["names"].strip("()").split(","):
            words = part.split()
            if words and words[0].isidentifier():
                yield f"{module}.{words[0]}"
                aliases[words[-1]] = f"{module}.{words[0]}"
    for match in IMPORT.finditer(text):
        for part in match["names"].split(","):
            words = part.split()
            if words:
                yield words[0]
                if len(words) == 3:
                    aliases[words[2]] = words[0]
