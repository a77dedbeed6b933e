"""How tools print stack frames and failures, as regular expressions. Kept apart from the reading (frames.py)."""

from __future__ import annotations

import re

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
