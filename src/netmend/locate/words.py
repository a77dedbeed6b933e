"""Words of texts and names: prose, split, stemmed; how much one tells."""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from netmend.errors import NetmendError, UsageError
from netmend.locate.bug_report import BugReport

# answers to the questions of a form say what is there, not what is wrong
FORM_ANSWER = re.compile(
    r"^[\s*#>-]*(?:OS|Platform|Operating system|Python|PyTorch|TensorFlow|CUDA|GPU|Driver|GCC|How you installed|How was|Build command|Framework|[\w -]{2,30} version|Version)\b[^.?!]{0,80}?(?::|\?|\))",
    re.IGNORECASE,
)
# lists of what is installed, and boxes to tick: the same in every report of a project, whatever is wrong
LISTED = re.compile(
    r"^\W*(?:(?:pip3?|conda)\]|[\w.-]+ ?==+ ?[\w.+]+\W*$|(?:Is |CUDA used|cuDNN version|Nvidia|GPU models|CMake|Clang|GCC|Libc|HIP|MIOpen|ROCM|Versions of relevant|Python platform|Is debug)[^.?!]{0,60}:"
    r"|(?:\[.?\] ?|x\] ?)?I(?: have|'ve|’ve) (?:verified|read|checked|included|marked|searched|visited|provided|looked|followed)\b)",
    re.IGNORECASE,
)
# the head of a part of the form that lists the machine and what is installed
_HEAD = re.compile(
    r"^\W*(?:(?:my|your|the) )?(?:environment|system|platform|desktop|setup|software|hardware|version|configuration|os)s?"
    r"(?: (?:info(?:rmation)?|details?|versions?|and versions?|used|specs?|configuration|setup))?\W*(?:\(.{0,80}\)\W*)?$",
    re.IGNORECASE,
)
_OTHER_HEAD = re.compile(
    r"^\W*(?:describe|description|problem|bug|issue|to reproduce|repro\w*|steps|expected|actual|additional|other|code|logs?|error|message|"
    r"stack ?trace|traceback|what|how|minimal|screenshots?|example|context|notes?|solution|possible|current|behaviou?r|source)\b.{0,60}$",
    re.IGNORECASE,
)
_SENTENCE = 9  # words; shorter lines below such a head are answers


def spoken(report: BugReport) -> str:
    """The prose without answers to forms, lists of installed packages and ticked boxes."""
    kept, listing = [], False
    for line in report.prose.split("\n"):
        if _HEAD.match(line):
            listing = True
        elif listing and line.strip() and (_OTHER_HEAD.match(line) or len(line.split()) >= _SENTENCE):
            listing = False
        if not listing and not FORM_ANSWER.match(line) and not LISTED.match(line):
            kept.append(line)
    return "\n".join(kept)


# Text to search terms: identifiers split by case, underscore and dot, stop words dropped, stems.
#
# Each identifier gives its parts and itself as one word ("TrialRunner" and "trial_runner" both give "trial", "runner"
# and "trialrunner"), so that a rare whole name is worth more than its common parts.

_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_PART = re.compile(r"[A-Z]{2,}(?=s(?![a-z]))|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_PLURALS = {"gpus": "gpu", "cpus": "cpu", "tpus": "tpu"}  # the stemmer takes them for singulars
_LONGEST = 60  # longer "words" are encoded data
_ENGLISH = """
a about above after again all also am an and any are as at be because been before being below between both but by can could
did do does doing down during each few for from further get got had has have having he her here hers him his how i if in into
is it its itself just like me more most my no nor not now of off on once only or other our out over own same she should so
some such than that the their them then there these they this those through to too under until up us use used using very want
was we were what when where which while who whom why will with would you your please thanks thank hi hello try tried seems seem
"""
_PYTHON = """
self cls def return import none true false class elif else except finally global lambda nonlocal pass raise yield
"""
_LINKS = "http https www com github html denchmark link"
_STOP = frozenset(f"{_ENGLISH} {_PYTHON} {_LINKS}".split())


@cache
def _stemmer() -> Callable[[str], str]:
    try:
        import Stemmer
    except ImportError as missing:
        raise UsageError(
            'Locating needs PyStemmer, which is not installed. Install it: pip install "netmend[locate]"'
        ) from missing
    stem: Callable[[str], str] = Stemmer.Stemmer("english", 0).stemWord
    return stem


@lru_cache(maxsize=300_000)
def expand(identifier: str) -> tuple[str, ...]:
    """The terms of one identifier: its parts, then itself when it has several."""
    if len(identifier) > _LONGEST:
        return ()
    stem = _stemmer()
    parts = [_PLURALS.get(part, part) for part in map(str.lower, _PART.findall(identifier))]
    if parts[1:] == ["s"]:  # GPUs
        parts.pop()
    terms = [stem(part) for part in parts if len(part) > 1 and not part.isdigit() and part not in _STOP]
    if len(parts) > 1:
        whole = stem("".join(parts))
        if whole not in _STOP and not whole.isdigit() and (not terms or terms != [whole]):
            terms.append(whole)
    return tuple(terms)


def spellings(identifier: str) -> dict[str, str]:
    """The terms of an identifier, each with what of it a reader would recognise."""
    terms = expand(identifier)
    shown = {expand(part)[0]: part for part in _PART.findall(identifier) if len(expand(part)) == 1}
    return {term: shown.get(term, identifier) for term in terms}


def words(text: str) -> list[str]:
    """All terms of a text, in order, with repetitions."""
    return [term for identifier in _IDENTIFIER.findall(text) for term in expand(identifier)]


def count_words(texts: Iterable[str]) -> Counter[str]:
    """How often each term occurs in the texts; each distinct identifier is split once."""
    counts: dict[str, int] = {}
    for identifier, count in Counter(_IDENTIFIER.findall("\n".join(texts))).items():
        for term in expand(identifier):
            counts[term] = counts.get(term, 0) + count
    return Counter(counts)


@lru_cache(maxsize=500_000)
def term_number(term: str) -> int:
    """A term as 32 bits, the same in every process: indexes need no shared vocabulary."""
    return zlib.crc32(term.encode("utf-8", "surrogatepass"))


def term_numbers(terms: Collection[str]) -> npt.NDArray[np.uint32]:
    return np.fromiter(map(term_number, terms), dtype=np.uint32, count=len(terms))


# How much a word tells in a bug report: "reproduce" stands in every third one and hardly in any code, so rarity in code misleads.

REPORT_WORDS = Path(__file__).with_name("report_words.txt")


def telling(term: str) -> float:
    """Between 0 (in every report) and 1 (in hardly any)."""
    return _weights().get(term, 1.0)


@cache
def _weights() -> dict[str, float]:
    try:
        first, *lines = REPORT_WORDS.read_text(encoding="utf-8").splitlines()
        total = int(first.split()[1])
        counts = {term: int(count) for term, _, count in (line.partition(" ") for line in lines)}
    except (OSError, ValueError, IndexError) as problem:
        raise NetmendError(
            f"The word list {REPORT_WORDS} cannot be read: {problem}. Install netmend again."
        ) from problem
    whole = math.log(total + 1)
    return {term: math.log((total + 1) / (count + 1)) / whole for term, count in counts.items()}
