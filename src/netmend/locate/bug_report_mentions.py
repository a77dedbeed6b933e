"""What a bug report mentions: files, names, modules, other reports and commits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# Commits, issues and pull requests that a report names.

_NUMBER = r"(?P<number>[1-9]\d{0,5})(?![\w~-]|\.\d)"
_HASH = r"(?=\d*[a-f])(?P<hash>[\da-f]{7,40})(?![\w-]|\.\w)"
LINKED_HASH = re.compile(rf"/commits?/{_HASH}", re.IGNORECASE)
PLAIN_HASH = re.compile(rf"(?<![\w/+.@#-]){_HASH}", re.IGNORECASE)
LINKED_NUMBER = re.compile(
    rf"(?:(?<![\w.-])(?P<repository>\w[\w.-]{{0,100}})/)?(?:-/)?\b(?:pull|issues|merge_requests)/{_NUMBER}"
)
ELSEWHERE = re.compile(rf"(?<![\w./-])[\w.-]{{1,100}}/(?P<repository>\w[\w.-]{{0,100}})#{_NUMBER}")
PLAIN_NUMBER = re.compile(
    rf"(?:(?<![\w&/#.)}}-])#|\bGH-|\b(?i:PR|pull request|issue) ?#){_NUMBER}(?!\s+0x)"
    rf"|\b(?i:PR|pull request|issue) (?P<bare>[1-9]\d{{1,5}})(?![\w~-]|\.\d)"
)
IN_MESSAGE = re.compile(rf"(?:(?<![\w&/])#|\bGH-|\bPR ?#){_NUMBER}")
# What looks like a name and is none: the state that was used ("version: master (35cc49b)", "commit hash:", and below it
# the hash) or shown ("Line 12 in 17b60e1"), Linux's own version ("#38~20.04-Ubuntu SMP"), C++ ("{lambda()#4}").
NO_NAMES = re.compile(
    r"(?<!/)\b(?i:version|hash|head|installed|master|tag)\b[^\n]{0,40}?(?:\n\W{0,9})?\b[\da-f]{7,40}\b(?:\s+https?://\S+)?"
    r"|\bLines? \d+(?: to \d+)?\s+in\s+[\da-f]{7,40}\b"
    r"|#\d{1,6}(?:\s+https?://\S+)?[\s~\d.-]{0,60}(?:Ubuntu\s+)?SMP\b"
    r"|\)#\d{1,6}(?:\s+https?://\S+)?"
)


class Numbered(NamedTuple):
    """An issue or a pull request."""

    number: int
    repository: str  # the name in a link, without the owner; "" where none is given


class References(NamedTuple):
    hashes: tuple[str, ...] = ()  # of commits, or their beginnings
    numbers: tuple[Numbered, ...] = ()

    def numbers_of(self, repository: str) -> frozenset[int]:
        """Those that mean this repository; where its name is not known, those without a link."""
        plain = {one.number for one in self.numbers if not one.repository}
        if not repository:
            return frozenset(plain)
        linked = [one for one in self.numbers if one.repository]
        here = {one.number for one in linked if _same(one.repository, repository)}
        return frozenset(plain.difference(one.number for one in linked) | here)


NO_REFERENCES = References()


def references_in(text: str) -> References:
    """Once each, in the order of the text; a link to a file at a commit does not name the commit."""
    text = NO_NAMES.sub(" ", text)
    hashes = [match["hash"].lower() for match in (*LINKED_HASH.finditer(text), *PLAIN_HASH.finditer(text))]
    numbers = [
        Numbered(int(match["number"]), (match["repository"] or "").removesuffix(".git"))
        for pattern in (LINKED_NUMBER, ELSEWHERE)
        for match in pattern.finditer(text)
    ]
    numbers += [Numbered(int(match["number"] or match["bare"]), "") for match in PLAIN_NUMBER.finditer(text)]
    return References(tuple(dict.fromkeys(hashes)), tuple(dict.fromkeys(numbers)))


def numbers_in(message: str) -> tuple[int, ...]:
    """Issues and pull requests of its own repository that a commit's message names."""
    return tuple(dict.fromkeys(int(match["number"]) for match in IN_MESSAGE.finditer(message)))


def _same(one: str, other: str) -> bool:
    return _plain(one) == _plain(other)


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


# Files, lines and modules that a report names.

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
