"""The markup of bug reports: which lines are code, what the title is, what is only the form's own text."""

from __future__ import annotations

import re

ESCAPES = re.compile(r"(?:\x1b|\ufffd|\\x1b|\\033)\[[0-9;]*[A-Za-z]")
# what logs put in front of every line: ray's workers, torchrun's ranks, docker compose's services
LOG_LEAD = re.compile(
    r"^\s?(?:\([^()]{0,60}pid=[^()]{0,60}\)|\[(?:rank)?\d+\]:|stderr:|\w[\w-]{0,30}_\d+ +\|)\s?"
)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
FENCE = re.compile(r"^\s*(?P<mark>`{3,}|~{3,})")
OPEN_TAG = re.compile(r"<(?:denchmark-code|pre)(?:\s[^>]*)?>(?:\s*<code[^>]*>)?", re.IGNORECASE)
CLOSE_TAG = re.compile(r"(?:</code>\s*)?</(?:denchmark-code|pre)>", re.IGNORECASE)
LINK = re.compile(r"<denchmark-link:(?P<address>[^>]*)>(?P<text>.*?)</denchmark-link>", re.DOTALL)
OTHER_TAGS = re.compile(
    r"</?(?:denchmark-[^>]*|details|summary|br|p|b|i|em|strong|h\d|ul|li|kbd|img)\b[^>]*>"
)
LOST_BREAKS = re.compile(r'\\n\s*File \\?"')
# questions of the forms that projects give their users: about no bug in particular
FORM = re.compile(
    r"(?:a clear and concise description of what (?:the bug is|you expected to happen)|steps to reproduce the behaviou?r|"
    r"if applicable, add screenshots.*|add any other context about the problem here|provide a reproducible test case.*|"
    r"please (?:make sure|search|check|fill|provide|copy|note|use|do not|describe|read)\b.*|"
    r"include any logs or source code that would be helpful.*|you can (?:obtain|collect|also get|get)\b.*|"
    r"have i written custom code \(.*|describe the current behaviou?r|describe the expected behaviou?r|"
    r"i have (?:searched|checked|read|verified|confirmed)\b.*|checklist)[.:!]*",
    re.IGNORECASE,
)

CODE_STARTS = re.compile(
    r"^\s*(?:>>> |\.\.\. |\$ |from [\w.]+ import |import [\w.]+(?: as \w+)?\s*(?:#.*)?$|def \w+\(.*|class \w+.*:\s*$|@\w[\w.]*(?:\(.*\))?\s*$|"
    r"(?:if|for|while|with|elif) .*:\s*(?:#.*)?$|(?:else|try|finally):\s*$|except\b.*:\s*$|(?:return|raise|yield|assert|del|await)\b \S.*[\w\])}\"']\s*$|pip3? install |conda (?:install|create))"
)
ASSIGNMENT = re.compile(r"^\s*[A-Za-z_][\w.\[\]'\", ]{0,80}\s*(?:[-+*/]?=)(?!=)\s*\S")
CALL = re.compile(
    r"^\s*[A-Za-z_][\w.]*\(.*[\w)\]}\"'],?\s*(?:#.*)?$|^\s*[)\]}]+,?\s*$|^\s+[\w]+=[^=].*,\s*$|^\s*#+ ?\w.*$"
)


def lines_of(body: str) -> tuple[list[str], list[bool]]:
    """The lines without markup, and for each whether it stands in a block of code."""
    body = COMMENT.sub("", ESCAPES.sub("", body))
    if LOST_BREAKS.search(body):  # a trace inside a JSON string
        body = body.replace("\\n", "\n").replace('\\"', '"')
    body = LINK.sub(r"\g<text> \g<address> ", body)
    body = (
        body.replace("“", '"')
        .replace("”", '"')
        .replace("&quot;", '"')
        .replace("&gt;", ">")
        .replace("&lt;", "<")
    )
    lines: list[str] = []
    fenced: list[bool] = []
    fence, tagged = "", False
    for raw in body.split("\n"):
        line = LOG_LEAD.sub("", raw)
        if fence:
            if line.strip().startswith(fence):
                fence = ""
                continue
        elif not tagged and (found := FENCE.match(line)):
            fence = found["mark"]
            continue
        opened = OPEN_TAG.search(line) is not None
        inside = bool(fence) or tagged or opened
        tagged = (tagged or opened) and CLOSE_TAG.search(line) is None
        if opened or "</" in line:
            line = CLOSE_TAG.sub("", OPEN_TAG.sub("", line))
        if not inside:
            line = OTHER_TAGS.sub(" ", line)
            if FORM.fullmatch(line.strip(" *#_>-")):
                line = ""
        lines.append(line)
        fenced.append(inside)
    return lines, fenced


def code_like(lines: list[str]) -> list[bool]:
    """Lines that read as Python or a shell: a sure one, or two neighbours that are likely.

    Reports lose their fences on the way (mail, forms, exports), and code read as prose drowns the words.
    """
    sure = [len(line) < 400 and CODE_STARTS.match(line) is not None for line in lines]
    likely = [
        one or (len(line) < 400 and (ASSIGNMENT.match(line) or CALL.match(line)) is not None)
        for one, line in zip(sure, lines, strict=True)
    ]
    result = list(sure)
    for number, one in enumerate(likely):
        if one and not result[number]:
            before = number > 0 and likely[number - 1]
            after = number + 1 < len(lines) and likely[number + 1]
            result[number] = before or after
    return result


def split_title(text: str) -> tuple[str, str]:
    """The first heading, a `title:` line, or a short first line; the rest. A trace or code has no title."""
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    line = lines[first].strip()
    rest = "\n".join(lines[first + 1 :])
    if named := re.match(r"^(?:title|subject|summary):\s*(\S.*)$", line, re.IGNORECASE):
        return named[1], rest
    if heading := re.match(r"^#{1,6}\s+(\S.*?)\s*#*$", line):
        return heading[1], rest
    apart = first + 1 >= len(lines) or not lines[first + 1].strip()
    if len(line) <= 200 and apart and not _is_machine(line):
        return line, rest
    return "", text


def _is_machine(line: str) -> bool:
    marks = ("```", "~~~", "<denchmark", "<pre", ">>>", "    ", "#!", "{", "[")
    inside = ("(most recent call last)", 'File "', 'File \\"', ".py:")
    return (
        line.startswith(marks) or any(mark in line for mark in inside) or CODE_STARTS.match(line) is not None
    )
