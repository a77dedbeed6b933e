"""Signs of a cause outside the code, found in the report's text, and whose code is spoken of."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from netmend.locate.bug_report import BugReport
from netmend.locate.bug_report_versions import NAMES
from netmend.locate.extrinsic_patterns import CHANGES, LIBRARIES, TRIGGERS
from netmend.locate.words import spoken

# What a report says of the project itself: its names, and changes of its own.

LONGEST = 20_000  # characters looked at; a pasted log must not cost seconds
# what people write when the project's own change broke something
OWN_CHANGE = re.compile(
    r"\b(?:introduced|broken|broke|caused|changed) (?:in|by|with|since) (?:the )?(?:PR |commit |pull request )?(?:#\d+|[0-9a-f]{7,40}\b)|\bregression\b|\bgit bisect\b"
    r"|\b(?:work(?:s|ed)|fine|ok) (?:\w+ ){0,2}(?:in|with|on|before) (?:the )?(?:previous|last|earlier|older) (?:version|release|commit)|\b(?:since|after) (?:the )?(?:last|latest|recent) (?:commit|merge|refactor\w*|PR)\b",
    re.IGNORECASE,
)
BARE_VERSION = re.compile(
    r"^\W*v?\d+\.\d+(?:\.\w+)?\b|\b(?:since|after|in|from|to|with) (?:version |release )?v?\d+\.\d+\.\w+\b",
    re.IGNORECASE,
)
NAMED_CHANGE = re.compile(
    r"\b(?:reverted to|upgrad\w+|updat\w+|downgrad\w+|since|after|latest|newest|new|old) (?:\w+ ){0,2}?(?P<after>[A-Za-z][\w-]+)(?: version| to)? ?v?(?:\d+\.\d|master|release)"
    r"|\b(?P<before>[A-Za-z][\w-]+) (?:version )?v?\d+(?:\.\d+)+ (?:works?|worked|breaks|broke|fails|introduced|changed)",
    re.IGNORECASE,
)


def plain_name(name: str) -> str:
    """Names of projects, distributions and packages made comparable."""
    name = re.sub(r"\.(?:pyx?|egg.*|dist-info)$|-\d.*$", "", name.lower())
    return re.sub(r"[-_. ]|incubator|python-sdk", "", name)


def own_names(own: Iterable[str]) -> set[str]:
    """The project's names, comparable; people also call pytorch-lightning "lightning"."""
    names = tuple(own)
    short = (re.split(r"[-_]", name)[-1].lower() for name in names if re.search(r"\w[-_]\w", name))
    return ({plain_name(name) for name in names} | {name for name in short if len(name) > 3}) - {""}


def speaks_of_own_change(report: BugReport, own: Iterable[str]) -> bool:
    """Whether the report says that the project itself changed: a release of its own, a commit, a regression."""
    body = f"{report.title}\n{report.prose}"[:LONGEST]
    if OWN_CHANGE.search(body) or BARE_VERSION.search(report.title):
        return True
    ours = own_names(own)
    return any(plain_name(match["after"] or match["before"]) in ours for match in NAMED_CHANGE.finditer(body))


# Evidence in a report that its cause lies outside the project: phrases, and where the stack trace ends.

PATTERNS = (*CHANGES, *TRIGGERS)
INSTALLED = re.compile(r"[\\/](?:site|dist)-packages[\\/](?P<package>[^\\/]+)")
STANDARD = re.compile(
    r"[\\/](?:lib[\\/]python\d[\d.]*|Python\d+[\\/]lib)[\\/](?!site-packages|dist-packages)", re.IGNORECASE
)
QUOTED_MODULE = re.compile(r"(?:module|named|from|import name '[^']+' from) ['\"](?P<name>[A-Za-z_]\w*)")
LINKED = "a link to another project"
INNERMOST = "the stack trace ends in another package"
THROUGH = "the stack trace passes through another package"
MISSING = "a name is missing in another package"
MISSED_BY_CLASS = "an object of another package misses an attribute"
NO_TRACE_OF_OWN = "no frame of the project itself"
INSIDE = "another package misses an attribute"
USED_IN_TITLE = "a library that the report uses in the title"
USED_AND_BLAMED = "a library that the report uses is blamed"
TITLE_TAG = re.compile(r"^(?:\s*\[[^\]]*\])+")  # [tune], [Numpy]: parts of the project, not libraries
_PLAIN = """
python python3 cuda pickle arrow click requests comet trains catalyst addons
"""
PLAIN_WORDS = frozenset(_PLAIN.split())
IMPORT = re.compile(r"^\s*(?:>>> )?(?:import|from)\s+([A-Za-z_]\w*)", re.MULTILINE)
_BLAME = r"(?:v?\d|version|now|no longer|changed|removed|renamed|deprecat|returns?|expects?|requires?|does ?n[o']t|can ?n[o']t|is not|has a bug|bug|issue|update|upgrade|release|>=|<=|==|>|<)"
_WITH = r"\b(?:upgrad\w+|updat\w+|downgrad\w+|install\w*|versions? of|release of|bug in|issue (?:in|with)|problem (?:in|with)|due to|because of|caused by|works? with|incompatible with|compatible with|support\w* (?:for )?|since|newer|older)"
# classes that messages name without their library
CLASSES = {
    "Tensor": "torch",
    "Parameter": "torch",
    "EagerTensor": "tensorflow",
    "KerasTensor": "keras",
    "ndarray": "numpy",
    "DataFrame": "pandas",
    "Series": "pandas",
}
OF_CLASS = re.compile(r"'(?P<name>\w+)' object has no attribute")
PRIORS = {
    **{pattern.kind: pattern.prior for pattern in PATTERNS},
    INNERMOST: 0.5,
    THROUGH: 0.0,
    MISSING: 1.8,
    MISSED_BY_CLASS: 0.8,
    NO_TRACE_OF_OWN: 0.7,
    INSIDE: 1.2,
    USED_IN_TITLE: 0.8,
    USED_AND_BLAMED: 1.2,
}
ALL_KINDS = tuple(PRIORS)


@dataclass(frozen=True)
class Evidence:
    """One piece of evidence: its kind, the words of the report, and the library or thing it is about, if known."""

    kind: str
    quote: str
    subject: str | None = None
    look_at: str = "library"
    in_title: bool = False


def package_of(path: str) -> str | None:
    """The installed package that a frame lies in; "python" for the standard library; None for the user's own files."""
    if found := INSTALLED.search(path):
        return found["package"]
    if STANDARD.search(path):
        return "python"
    return None


def evidence_in(report: BugReport, own: Iterable[str] = ()) -> tuple[Evidence, ...]:
    """All evidence in a report. `own` names the project's packages, so that they are not taken for libraries."""
    return _evidence(report, tuple(sorted(set(own))))


@lru_cache(maxsize=4)  # type and outer cause are both asked of one report
def _evidence(report: BugReport, own: tuple[str, ...]) -> tuple[Evidence, ...]:
    ours = own_names(own)
    messages = "\n".join(f"{failure.kind}: {failure.message}" for failure in report.failures)
    body = f"{report.title}\n{spoken(report)}\n{messages}"[:LONGEST]
    found = [*_of_traces(report, ours), *_of_messages(report, ours), *_of_used(report, ours, body)]
    title_end = len(report.title)
    for pattern in PATTERNS:
        text = TITLE_TAG.sub("", report.title) if pattern.title_only else body
        for match in pattern.expression.finditer(text):
            library = _library(match[0], ours)
            if pattern.of_library and library is None:
                continue  # it is the project itself that changed
            if pattern.of_library and match[0].lower() in PLAIN_WORDS:
                continue
            if pattern.kind == LINKED and _is_own_link(match, ours):
                continue
            found.append(
                Evidence(
                    pattern.kind, _around(text, match), library, pattern.look_at, match.start() < title_end
                )
            )
            break
    return tuple(found)


def _is_own_link(match: re.Match[str], ours: set[str]) -> bool:
    repository = match["repository"] or match["short"]
    return bool({plain_name(part) for part in repository.split("/")} & ours)


def _of_traces(report: BugReport, ours: set[str]) -> Sequence[Evidence]:
    found: dict[str, Evidence] = {}
    own_frames = foreign_frames = 0
    for trace in report.traces:
        packages = [package_of(frame.path) for frame in trace]
        foreign = [name is not None and plain_name(name) not in ours for name in packages]
        own_frames += sum(not one for one in foreign)
        foreign_frames += sum(foreign)
        last = trace[-1]
        if foreign[-1] and packages[-1] != "python":
            quote = f"{last.path}:{last.line} in {last.function}"
            found[INNERMOST] = Evidence(INNERMOST, quote, packages[-1])
        elif any(one and name != "python" for one, name in zip(foreign, packages, strict=True)):
            number = max(n for n, one in enumerate(foreign) if one)
            found[THROUGH] = Evidence(THROUGH, trace[number].path, packages[number])
    if foreign_frames and not own_frames:
        found[NO_TRACE_OF_OWN] = Evidence(NO_TRACE_OF_OWN, f"{foreign_frames} frames, all of other packages")
    return tuple(found.values())


def _of_messages(report: BugReport, ours: set[str]) -> Sequence[Evidence]:
    last = report.traces[-1][-1] if report.traces else None
    for failure in report.failures:
        if failure.name not in ("AttributeError", "ImportError", "ModuleNotFoundError"):
            continue
        package = package_of(last.path) if last else None
        if package and package != "python" and plain_name(package) not in ours:
            return (Evidence(INSIDE, f"{failure.kind}: {failure.message}"[:160], package),)
        if (named := OF_CLASS.search(failure.message)) and CLASSES.get(named["name"]):
            if plain_name(CLASSES[named["name"]]) not in ours:
                quote = f"{failure.kind}: {failure.message}"[:160]
                return (Evidence(MISSED_BY_CLASS, quote, CLASSES[named["name"]]),)
            continue
        for match in QUOTED_MODULE.finditer(failure.message):
            if plain_name(match["name"]) not in ours:
                return (Evidence(MISSING, f"{failure.kind}: {failure.message}"[:160], match["name"]),)
    return ()


def _of_used(report: BugReport, ours: set[str], body: str) -> Iterable[Evidence]:
    """Libraries that the report's code, traces or lists name, spoken of in the title or as the one that changed."""
    used = sorted(_used(report) - ours)
    if not used:
        return
    names = "|".join(map(re.escape, used))
    title = TITLE_TAG.sub("", report.title)
    if match := re.search(rf"\b(?:{names})\b", title, re.IGNORECASE):
        yield Evidence(USED_IN_TITLE, title, match[0].lower(), in_title=True)
    blamed = rf"\b(?:{names})\b {_BLAME}|{_WITH} (?:the )?(?:latest |new |newer |old )?(?:{names})\b"
    if match := re.search(blamed, body, re.IGNORECASE):
        named = re.search(rf"\b(?:{names})\b", match[0], re.IGNORECASE)
        yield Evidence(USED_AND_BLAMED, _around(body, match), named[0].lower() if named else None)


def _used(report: BugReport) -> set[str]:
    """Names of packages, as Python imports them, that the report shows to be installed there."""
    found = {name.lower() for block in report.code for name in IMPORT.findall(block)}
    found |= {(package_of(frame.path) or "").lower() for trace in report.traces for frame in trace}
    found |= {name.lower() for name, _ in report.versions}
    plain = {plain_name(name) for name in found if name.isidentifier()}
    return {name for name in plain if len(name) > 2 and name not in sys.stdlib_module_names} - PLAIN_WORDS


def _library(text: str, ours: set[str]) -> str | None:
    """The library that a phrase names, if it is not the project itself."""
    for found in re.finditer(r"[A-Za-z][\w-]*", text):
        word = found[0]
        name = str(NAMES.get(word.lower(), word.lower()))
        if word.lower() in LIBRARIES and not {plain_name(name), plain_name(word)} & ours:
            return name
    return None


def _around(text: str, match: re.Match[str]) -> str:
    start = text.rfind("\n", 0, match.start()) + 1
    end = text.find("\n", match.end())
    line = text[start : end if end >= 0 else len(text)].strip()
    if len(line) > 140:
        left = max(0, match.start() - start - 50)
        line = ("…" if left else "") + line[left : left + 130].strip() + "…"
    return line
