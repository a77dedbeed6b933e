"""The prose of a report without the answers to its form: what is there, not what is wrong."""

from __future__ import annotations

import re

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
