"""Frames of tracebacks in the text of a report, in every form that people paste."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

# How tools print stack frames and failures, as regular expressions. Kept apart from the reading (frames.py).

# File "a.py", line 3, in f      bare = faulthandler: File "a.py", line 3 in f
CPYTHON = re.compile(
    r'File "(?P<path>[^"\n]{1,400})", lines? (?P<line>\d{1,7})(?:-\d+)?'
    r"(?:, in (?P<function>[\w<>.]+)| in (?P<bare>[\w<>.]+))?"
)
HEADER = re.compile(
    r"^(?P<before>.*?)(?P<kind>(?:\w+\.)*\w*(?:Error|Exception|Warning|Interrupt|Exit))?\s*"
    r"(?:Traceback|Current thread \S+|Thread \S+|Stack)\s*(?:\([^()]*\) )?\(most recent call (?P<order>last|first)\)"
)
CHAINED = re.compile(
    r"During handling of the above exception|The above exception was the direct cause|"
    r"Original Traceback|Caught \w+ in (?:replica|DataLoader|pin memory)"
)
_PY = r"(?:~|[A-Za-z]:)?[^\s:()<>\"'`,*|]{1,300}\.pyx?"
_PY_SPACED = r"(?:~|[A-Za-z]:)?[^:()<>\"'`,*|]{1,300}\.pyx?"  # a folder name may hold blanks
IPYTHON_IN = re.compile(
    rf"^\s{{0,4}}(?P<path>{_PY_SPACED}|<ipython-input-[^>]*>|<__array_function__ internals>) in "
    r"(?P<function>[\w<>.]+(?:\(.*|\s*))$"
)
IPYTHON_FILE = re.compile(
    rf"^\s{{0,4}}File (?P<path>{_PY_SPACED}):(?P<line>\d+),? in (?P<function>[\w<>.]+(?:\(.*|\s*))$"
)
IPYTHON_CELL = re.compile(
    r"^\s{0,4}(?P<path>(?:Cell|Input) In ?\[\d+\])(?:, line (?P<line>\d+))?(?:, in (?P<function><[^>]*>))?"
)
NUMBERED = re.compile(r"^\s*(?P<arrow>-+>)?\s*(?P<line>\d{1,6})(?P<code>$|\s.*)")
ARGUMENTS_LEFT = re.compile(r"\(.*$")
MARKS = re.compile(r"^\s*[~^]+\s*$")
PYTEST_FRAME = re.compile(rf"^\s*(?P<path>{_PY}):(?P<line>\d+): in (?P<function>\S+)\s*$")
PYTEST_LAST = re.compile(rf"^(?P<path>{_PY}):(?P<line>\d+): ?(?:(?:\w+\.)*[A-Z]\w+)?\s*$")
AUTOGRAPH = re.compile(rf"^\s+(?P<path>{_PY}):(?P<line>\d+) (?P<function>[\w<>.]+)\s*\**\s*$")
PYSPY = re.compile(rf"^\s+(?P<function>[\w<>.]+) \((?P<path>{_PY}):(?P<line>\d+)\)\s*$")
WARNING = re.compile(rf"(?P<path>{_PY}):(?P<line>\d+): (?P<kind>(?:\w+\.)*\w*Warning): ?(?P<message>.*)$")

_KIND = r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception|Warning|Interrupt|Exit|Failure)"
_LEAD = r"^\s{0,2}(?:E\s+|\([^()]*pid=[^()]*\)\s*|\[rank\d+\]:\s*)?"
FAILURE = re.compile(rf"{_LEAD}(?P<kind>{_KIND})(?:\(\w+\))?(?::\s*(?P<message>.*)|\s*)$")
# below frames, classes that do not end in Error count too: queue.Empty, jsonschema's ValidationFailed
FAILURE_IN_TRACE = re.compile(
    rf"{_LEAD}(?P<kind>(?:[A-Za-z_]\w*\.)+[A-Z]\w*|{_KIND})(?:\(\w+\))?(?::\s*(?P<message>.*)|\s*)$"
)
FAILURE_INSIDE = re.compile(
    r"(?<![\w.])(?P<kind>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning))(?:\(\w+\))?: ?(?P<message>\S.*?)(?=$|\\n)"
)
NATIVE = re.compile(r"^\s*(?:frame #\d+:|#\d+\s+0x[0-9a-f]+|\*\*\* (?:Process|PC|SIG)|@\s+0x[0-9a-f]+)")
NATIVE_FAILURES = (
    ("c++", re.compile(r"^\s*what\(\):\s*(?P<message>.+)$")),
    ("crash", re.compile(r"(?P<message>Segmentation fault|SIGSEGV|SIGABRT|SIGBUS|Bus error|core dumped)")),
    ("check", re.compile(r"(?P<message>Check failed: .+)$")),
    ("killed", re.compile(r"(?P<message>^\s*Killed\s*$|killed by signal: ?\w+|OOM[- ]?[Kk]iller?)")),
)


# Stack traces in text: CPython, IPython, pytest, AutoGraph, faulthandler, py-spy, alone or mixed with other output.
#
# Frames are given outermost first, so the innermost is always last, whichever way round the tool printed them.

LONGEST_LINE = 4_000  # longer lines are data, not frames, unless they are a trace whose line breaks were lost
LONGEST_MESSAGE = 600


@dataclass(frozen=True)
class Frame:
    """One call on a stack, as printed."""

    path: str
    line: int | None
    function: str | None
    code: str = ""


@dataclass(frozen=True)
class Failure:
    """What was raised: its class as printed and its message."""

    kind: str
    message: str

    @property
    def name(self) -> str:
        """The class without its module."""
        return self.kind.rsplit(".", 1)[-1]


@dataclass(frozen=True)
class Traces:
    """What was read from lines, and which of them belong to it."""

    traces: tuple[tuple[Frame, ...], ...]
    failures: tuple[Failure, ...]
    used: frozenset[int]


@dataclass
class _Reader:
    lines: Sequence[str]
    used: set[int] = field(default_factory=set)
    traces: list[tuple[Frame, ...]] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    in_trace: bool = False  # a header or a frame was seen and no failure since
    innermost_first: bool = False
    announced: str = ""  # the class IPython names in its header, before the message
    marked: str = ""  # the line pytest marks with ">"

    def close(self) -> None:
        if self.frames:
            self.traces.append(tuple(reversed(self.frames) if self.innermost_first else self.frames))
        if self.announced:
            self.fail(self.announced, "")
        self.frames, self.in_trace, self.innermost_first, self.announced = [], False, False, ""

    def add(self, number: int, frame: Frame) -> None:
        self.frames.append(frame)
        self.in_trace = True
        self.used.add(number)

    def fail(self, kind: str, message: str) -> None:
        failure = Failure(kind, message.strip()[:LONGEST_MESSAGE])
        if failure not in self.failures:
            self.failures.append(failure)

    def read(self) -> Traces:
        number = 0
        while number < len(self.lines):
            number = self.one(number, self.lines[number])
        self.close()
        return Traces(tuple(self.traces), tuple(self.failures), frozenset(self.used))

    def one(self, number: int, line: str) -> int:
        """Read one line and what belongs to it; the number of the next line."""
        if 'File "' in line:
            found = list(CPYTHON.finditer(line))
            if len(found) > 1:  # line breaks were lost on the way
                return self.collapsed(number, line, found)
            if found:
                return self.cpython(number, line, found[0])
        if len(line) > LONGEST_LINE:
            return number + 1
        if NATIVE.match(line):
            self.used.add(number)
            return number + 1
        if header := HEADER.search(line):
            self.close()
            self.in_trace = True
            self.innermost_first = header["order"] == "first"
            self.announced = header["kind"] or ""
            self.used.add(number)
            return number + 1
        if CHAINED.search(line):
            self.close()
            self.used.add(number)
            return number + 1
        return self.other_frame(number, line)

    def other_frame(self, number: int, line: str) -> int:
        if ".py" in line or "<ipython" in line:
            if found := WARNING.search(line):
                self.close()
                self.add(number, Frame(found["path"], int(found["line"]), None, self.indented(number)))
                self.fail(found["kind"], found["message"])
                self.close()
                return number + 1
            if (found := IPYTHON_IN.match(line)) or (found := IPYTHON_FILE.match(line)):
                return self.ipython(number, found)
            if found := PYTEST_FRAME.match(line) or AUTOGRAPH.match(line):
                code = self.indented(number)
                self.add(number, Frame(found["path"], int(found["line"]), found["function"], code))
                return number + 1
            if found := PYTEST_LAST.match(line):
                self.add(number, Frame(found["path"], int(found["line"]), None, self.marked))
                self.marked = ""
                return number + 1
            if found := PYSPY.match(line):
                self.innermost_first = True
                self.add(number, Frame(found["path"], int(found["line"]), found["function"]))
                return number + 1
        if found := IPYTHON_CELL.match(line):
            return self.ipython(number, found)
        return self.failure(number, line)

    def failure(self, number: int, line: str) -> int:
        pattern = FAILURE_IN_TRACE if self.in_trace and self.frames else FAILURE
        if found := pattern.match(line):
            message = [found["message"] or ""]
            after = number + 1
            while after < len(self.lines) and after <= number + 6 and _continues(self.lines[after]):
                message.append(self.lines[after].strip())
                self.used.add(after)
                after += 1
            self.announced = ""
            self.fail(found["kind"], " ".join(message))
            if self.in_trace:
                self.used.add(number)
            self.close()
            return after
        for kind, native in NATIVE_FAILURES:
            if found := native.search(line):
                self.fail(kind, found["message"])
                return number + 1
        for inside in FAILURE_INSIDE.finditer(line):
            self.fail(inside["kind"], inside["message"])
        if line.startswith((">  ", ">\t")):
            self.marked = line[1:].strip()
        return number + 1

    def cpython(self, number: int, line: str, found: re.Match[str]) -> int:
        code = line[found.end() :].strip(" :,")
        after = number + 1
        if not code and self.is_source(after, _depth(line)):
            code = self.lines[after].strip()
            self.used.add(after)
            after += 1
            while after < len(self.lines) and MARKS.match(self.lines[after]):
                self.used.add(after)
                after += 1
        path, function = found["path"].strip(), found["function"] or found["bare"]
        self.add(number, Frame(path, int(found["line"]), function, code[:200]))
        return after

    def is_source(self, number: int, depth: int) -> bool:
        """Whether a line is the source under the frame above it: deeper, or, where indentation was lost, between frames."""
        if number >= len(self.lines):
            return False
        line = self.lines[number]
        if not line.strip() or 'File "' in line or FAILURE.match(line) or HEADER.search(line):
            return False
        if _depth(line) > depth:
            return True
        following = self.lines[number + 1] if number + 1 < len(self.lines) else ""
        return 'File "' in following or FAILURE_IN_TRACE.match(following) is not None

    def collapsed(self, number: int, line: str, found: list[re.Match[str]]) -> int:
        self.close()
        ends = [match.start() for match in found[1:]] + [len(line)]
        for match, end in zip(found, ends, strict=True):
            rest = line[match.end() : end].strip()
            if end == len(line) and (failure := FAILURE_INSIDE.search(rest)):
                self.fail(failure["kind"], failure["message"])
                rest = rest[: failure.start()].strip()
            path, function = match["path"], match["function"] or match["bare"]
            self.add(number, Frame(path, int(match["line"]), function, rest[:200]))
        self.close()
        return number + 1

    def ipython(self, number: int, found: re.Match[str]) -> int:
        """A head line, then numbered source lines of which an arrow marks one."""
        groups = found.groupdict()
        line = int(groups["line"]) if groups.get("line") else None
        code = ""
        self.used.add(number)
        after, blanks = number + 1, 0
        while after < len(self.lines):
            source = NUMBERED.match(self.lines[after])
            if source is None:
                # an empty line may stand inside the excerpt; two, or anything else, end it
                if self.lines[after].strip() or blanks:
                    break
                blanks += 1
            else:
                blanks = 0
                if source["arrow"]:
                    line, code = int(source["line"]), source["code"].strip()
            self.used.add(after)
            after += 1
        function = ARGUMENTS_LEFT.sub("", groups["function"].strip()) if groups.get("function") else None
        self.add(number, Frame(groups["path"].strip(), line, function or None, code))
        return after

    def indented(self, number: int) -> str:
        """The source line under a frame, if the next line is deeper."""
        if number + 1 < len(self.lines) and _depth(self.lines[number + 1]) > _depth(self.lines[number]):
            following = self.lines[number + 1]
            if not PYTEST_FRAME.match(following) and not AUTOGRAPH.match(following):
                self.used.add(number + 1)
                return following.strip()
        return ""


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _continues(line: str) -> bool:
    """Whether a message goes on: deeper lines such as the missing keys of a state dict."""
    return line.startswith(("\t", "    ", " \t", "E     ")) and bool(line.strip()) and 'File "' not in line


def read_traces(lines: Sequence[str]) -> Traces:
    """All stack traces and failures in lines of text."""
    return _Reader(lines).read()
