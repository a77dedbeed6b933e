"""Functions inside the first files: ranked by what points at their lines."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from netmend.locate.answer import RankedFunction, Reason
from netmend.locate.frames import Frame
from netmend.locate.parsing import Definition
from netmend.locate.query import Query
from netmend.locate.signals.paths import printed_parts, same_end
from netmend.locate.signals.texts import shown_words
from netmend.locate.words import count_words

# What in a report points at a function: a stack frame, a linked line, its name, its class, a message it holds.

_NAME = re.compile(r"[A-Za-z_]\w*")
_CODE_LIKE = re.compile(r"_|[a-z][A-Z]|\d")
_STRING = re.compile(r"\"((?:[^\"\\\n]|\\.){12,})\"|'((?:[^'\\\n]|\\.){12,})'")
_HOLE = re.compile(r"\{[^{}]*\}|%[-+#0-9.]*[a-zA-Z]|\\[nt]")
_LEAST_PARTS = 2  # that have to agree where neither path ends with the other
_MOST_FRAMES = 20  # of one trace; endless recursion prints a thousand
_LEAST_PIECE = 12  # characters of a message that are not found by chance
_SURE_PIECE = 40
_ENTRY = {"__init__", "__call__", "forward", "call", "__new__", "build"}  # where a class's name usually leads
_LEAST_CODE = 6  # characters of a line of code that say something


@dataclass(frozen=True)
class Passage:
    """A function's lines; `owner` is its class, if it is a method."""

    path: str
    definition: Definition
    lines: tuple[str, ...]
    owner: str

    @property
    def short(self) -> str:
        return self.definition.name.rpartition(".")[2]

    def holds(self, line: int) -> bool:
        return self.definition.line <= line <= self.definition.end


@dataclass(frozen=True)
class Evidence:
    kind: str  # frame | line | name | owner | message
    strength: float  # 0..1
    text: str
    line: int | None = None


def evidence_of(query: Query, passages: Sequence[Passage]) -> dict[int, list[Evidence]]:
    """Evidence by the number of the passage; of each kind the strongest."""
    found: dict[int, dict[str, Evidence]] = {}
    for source in (_frames, _links, _names, _messages):
        for number, one in source(query, passages):
            known = found.setdefault(number, {})
            if one.kind not in known or known[one.kind].strength < one.strength:
                known[one.kind] = one
    return {number: list(kinds.values()) for number, kinds in found.items()}


Found = Iterator[tuple[int, Evidence]]


def agreement(path: str, printed: str) -> int:
    """How many parts, counted from the end, a printed path shares with this file; 0 where it cannot be this file."""
    own, (other, installed) = path.split("/"), printed_parts(printed)
    common = same_end(own, other)
    if installed and common < len(other):
        return 0  # another package's file of the same name
    whole = common in (len(own), len(other))
    return common if whole or common >= _LEAST_PARTS else 0


def _frames(query: Query, passages: Sequence[Passage]) -> Found:
    paths = dict.fromkeys(passage.path for passage in passages)
    for trace in query.report.traces:
        matched = 0
        for frame in reversed(trace):  # the innermost is last
            file = max(paths, key=lambda path: agreement(path, frame.path), default="")
            if not agreement(file, frame.path):
                continue
            matched += 1
            if matched > _MOST_FRAMES:
                break
            inside = [(number, one) for number, one in enumerate(passages) if one.path == file]
            chosen = _function_of(frame, inside)
            if chosen is not None:
                number, line, sure = chosen
                text = f"stack frame {frame.function or frame.path}" + (
                    f", line {frame.line} of the report" if frame.line and frame.line != line else ""
                )
                yield number, Evidence("frame", sure / matched, text, line)


def _function_of(frame: Frame, inside: Sequence[tuple[int, Passage]]) -> tuple[int, int, float] | None:
    """The passage a frame is in, the line there, how sure that is."""
    named = [(number, one) for number, one in inside if frame.function and one.short == frame.function]
    pool = named or inside
    code = " ".join(frame.code.split())
    if len(code) >= _LEAST_CODE:
        for number, one in pool:
            for offset, written in enumerate(one.lines):
                if code in " ".join(written.split()):
                    return number, one.definition.line + offset, 1.0 if named else 0.7
    line = frame.line or 0
    if named:
        number, one = min(named, key=lambda item: _distance(item[1], line))
        return number, line if one.holds(line) else one.definition.line, 0.9
    holding = [(number, one) for number, one in inside if line and one.holds(line)]
    if holding and frame.function is None:
        number, one = max(holding, key=lambda item: item[1].definition.line)  # the innermost
        return number, line, 0.6
    return None


def _distance(passage: Passage, line: int) -> int:
    if passage.holds(line):
        return 0
    return min(abs(passage.definition.line - line), abs(passage.definition.end - line))


def _links(query: Query, passages: Sequence[Passage]) -> Found:
    for place in query.report.places:
        for number, one in enumerate(passages):
            if one.holds(place.line) and agreement(one.path, place.path):
                name = PurePosixPath(place.path).name
                yield number, Evidence("line", 1.0, f"the report points at {name}:{place.line}", place.line)


def _names(query: Query, passages: Sequence[Passage]) -> Found:
    report = query.report
    # Without the stack traces: names there are counted as frames, and most lead only through a function.
    text = "\n".join((report.title, report.prose, *report.code))
    spoken = set(_NAME.findall(text))
    alike = Counter(passage.short for passage in passages)
    called: dict[str, float] = {}
    for number, passage in enumerate(passages):
        short = passage.short
        if short in spoken and not (short.startswith("__") and short.endswith("__")):
            if short not in called:
                called[short] = _spoken_of(short, text, query.title_names)
            strength = called[short] / alike[short] ** 0.5
            if passage.owner and passage.owner.rpartition(".")[2] in spoken:
                strength = max(strength, called[short])
            if strength > 0:
                yield number, Evidence("name", strength, f"the report names {short}", passage.definition.line)
        owner = passage.owner.rpartition(".")[2]
        if owner and owner in spoken and (_CODE_LIKE.search(owner) or owner[:1].isupper()):
            strength = 1.0 if short in _ENTRY else 0.5
            yield number, Evidence("owner", strength, f"the report names its class {owner}")


def _spoken_of(name: str, text: str, title: Mapping[str, int]) -> float:
    """How surely a word of the report is this function and not plain English: `step`, `fit`, `run`."""
    written = re.escape(name)
    if _CODE_LIKE.search(name.strip("_")) or name.startswith("_"):
        return 1.0
    if re.search(rf"\b{written}\(|[.`]{written}\b", text):
        return 1.0 if name in title else 0.8
    return 0.3 if name in title else 0.1


def _messages(query: Query, passages: Sequence[Passage]) -> Found:
    told = " ".join(query.report.text.split())
    if not query.report.failures and not query.report.traces:
        return
    for number, passage in enumerate(passages):
        for offset, line in enumerate(passage.lines):
            if '"' not in line and "'" not in line:
                continue
            for string in _STRING.finditer(line):
                piece = max((part.strip() for part in _HOLE.split(string[1] or string[2])), key=len)
                if len(piece) >= _LEAST_PIECE and " " in piece and piece in told:
                    strength = min(1.0, len(piece) / _SURE_PIECE)
                    text = f"holds the message “{piece[:60]}{'…' if len(piece) > 60 else ''}”"
                    yield number, Evidence("message", strength, text, passage.definition.line + offset)


# Functions and methods inside the files that rank first: the same kinds of evidence, one level down.
#
# Lines of a report may be of another version of the file, so a frame is matched by the function's name and the code it
# shows before its line number counts.

# of one file: beyond that it is generated, and reading it would cost more than a whole query
MOST_LINES = 20_000
_SATURATION, _LENGTH = 2.5, 0.3  # BM25's k1 and b; functions are short, so length says less than for files
_SHOWN_WORDS = 4
_OWN_NAME = 4  # times that the words of a function's own name count


@dataclass(frozen=True)
class Weights:
    """What one piece of evidence of full strength is worth; chosen on half of the projects (docs/locate.md)."""

    words: float = 1.0
    frame: float = 1.5
    line: float = 1.0
    name: float = 0.8
    owner: float = 0.25
    message: float = 0.8


@dataclass(frozen=True)
class FileText:
    """A file that ranked high, with what it defines."""

    path: str
    text: str
    definitions: tuple[Definition, ...]


def rank_functions(
    query: Query, files: Sequence[FileText], most: int = 3, weights: Weights | None = None
) -> dict[str, tuple[RankedFunction, ...]]:
    """For each file its functions that the report speaks about, best first; none where nothing speaks for any."""
    weights = weights or Weights()
    passages = [passage for file in files for passage in _passages(file)]
    words = _lexical(query, passages)
    best = max((score for score, _ in words), default=0.0) or 1.0
    evidence = evidence_of(query, passages)
    ranked: dict[str, list[RankedFunction]] = {file.path: [] for file in files}
    for number, passage in enumerate(passages):
        reasons = [_reason(one, weights) for one in evidence.get(number, ())]
        score, terms = words[number]
        if score > 0:
            share = weights.words * score / best
            reasons.append(Reason("words", _told(query, terms), None, share))
        total = sum(reason.weight for reason in reasons)
        if total > 0:
            one = passage.definition
            ordered = tuple(sorted(reasons, key=lambda reason: -reason.weight))
            ranked[passage.path].append(RankedFunction(one.name, one.line, one.end, total, ordered))
    return {
        path: tuple(sorted(found, key=lambda one: (-one.score, one.line))[:most])
        for path, found in ranked.items()
    }


def _passages(file: FileText) -> list[Passage]:
    lines = file.text.split("\n")  # as line numbers of definitions count
    if len(lines) > MOST_LINES:
        return []
    classes = {one.name for one in file.definitions if one.kind == "class"}
    found = []
    for one in file.definitions:
        if one.kind == "class":
            continue
        owner = one.name.rpartition(".")[0]
        own = tuple(lines[one.line - 1 : one.end])
        found.append(Passage(file.path, one, own, owner if owner in classes else ""))
    return found


def _lexical(query: Query, passages: Sequence[Passage]) -> list[tuple[float, list[str]]]:
    """BM25 over the functions at hand, each with the terms that gave most."""
    wanted = query.weighted
    counts = [count_words([*passage.lines, *([passage.definition.name] * _OWN_NAME)]) for passage in passages]
    holding = Counter(term for own in counts for term in own if term in wanted)
    lengths = [sum(own.values()) for own in counts]
    mean = sum(lengths) / len(lengths) if lengths else 1.0
    rarity = {term: math.log(1 + (len(counts) - n + 0.5) / (n + 0.5)) for term, n in holding.items()}
    scores = []
    for own, length in zip(counts, lengths, strict=True):
        bend = _SATURATION * (1 - _LENGTH + _LENGTH * length / mean)
        parts = {
            # A word said ten times in a report is not ten times as telling.
            term: math.sqrt(wanted[term]) * rarity[term] * own[term] / (own[term] + bend)
            for term in own.keys() & rarity.keys()
        }
        terms = sorted(parts, key=lambda term: (-parts[term], term))
        scores.append((sum(parts.values()), terms[:_SHOWN_WORDS]))
    return scores


def _told(query: Query, terms: Sequence[str]) -> str:
    words = [query.shown.get(term, term) for term in terms]
    return ", ".join(shown_words(words) or dict.fromkeys(words))


def _reason(one: Evidence, weights: Weights) -> Reason:
    weight: float = getattr(weights, one.kind)
    return Reason(one.kind, one.text, one.line, weight * one.strength)
