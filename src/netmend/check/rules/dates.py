"""Formats of dates and times that read something else than they seem to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import CallEvent
from netmend.program.engine.program import Program
from netmend.program.engine.values import Const, resolved
from netmend.program.text.edits import replace
from netmend.program.text.queries import inside, last_name
from netmend.vocabulary.finding import Fix

HEAD = "from datetime import datetime\nimport pandas as pd\nimport torch\n\ndf = pd.read_csv('rides.csv')\n"
_PARSING = ("strptime", "to_datetime", "to_date", "to_time")
_BETWEEN = r"[-/. _]?"
# Minutes between a year and a day, and months behind an hour.
_MINUTES = re.compile(
    rf"(%[Yy]{_BETWEEN})%M({_BETWEEN}%d)|(%d{_BETWEEN})%M({_BETWEEN}%[Yy])|()%M({_BETWEEN}%d{_BETWEEN}%[Yy])"
)
_MONTHS = re.compile(r"(%[HI]:?)%m(?![-/.])")


def _parsed(program: Program) -> Iterator[tuple[CallEvent, Const]]:
    """Calls that read dates by a format that is written down, and the format."""
    for event in program.calls:
        call = event.call
        if (call.method or call.qualified.rpartition(".")[2]) not in _PARSING:
            continue
        for value in call.given:
            value = resolved(value)
            if isinstance(value, Const) and isinstance(value.value, str) and "%" in value.value:
                yield event, value


class DateLetterWrong(StaticRule, code="S923", cause="PRE-WRONG-DTYPE"):
    """A date format has `%M` (minutes) where the month stands, `%m` where minutes stand, or hides the afternoon from `%p`.

    `%M` are minutes: with "%Y-%M-%d" every date becomes a day of January. `%p` only counts together with `%I`: with "%H:%M %p", 3 PM
    is read as 3 at night.

    Write `%m` for months, `%M` for minutes, and `%I` wherever `%p` stands.
    """

    message = "The format {0!r} {1}; write {2!r}."
    triggers = _PARSING
    patterns = (r"(?:strptime|to_datetime|to_date|to_time)\(",)

    GOOD = (
        Snippet("as it should be", HEAD + "df['t'] = pd.to_datetime(df['t'], format='%Y-%m-%d %H:%M')\nd = datetime.strptime('3:15 PM', '%I:%M %p')\n"),
        Snippet("compact", HEAD + "df['t'] = pd.to_datetime(df['t'], format='%Y%m%d%H%M')\n"),
        Snippet("hours, then minutes, then the day", HEAD + "df['t'] = pd.to_datetime(df['t'], format='%H:%M %d/%m/%Y')\n"),
        Snippet("the American way", HEAD + "df['t'] = pd.to_datetime(df['t'], format='%m/%d/%Y %H:%M:%S')\n"),
    )  # fmt: skip
    BAD = (
        mended("minutes for months", HEAD + "df['day'] = pd.to_datetime(df['day'], format=⟨'%Y-%M-%d' → '%Y-%m-%d'⟩)\n"),
        mended("months for minutes", HEAD + "def parse(s):\n    return datetime.strptime(s, ⟨'%d.%m.%Y %H:%m' → '%d.%m.%Y %H:%M'⟩)\n\ndf['t'] = df['t'].map(parse)\n", line=7),
        mended("afternoon", HEAD + "df['t'] = pd.to_datetime(df['t'], format=⟨'%m/%d/%Y %H:%M %p' → '%m/%d/%Y %I:%M %p'⟩)\n"),
        mended("a constant", HEAD + "FORMAT = ⟨'%d/%M/%Y' → '%d/%m/%Y'⟩\ndf['t'] = pd.to_datetime(df['t'], format=FORMAT)\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event, value in _parsed(program):
            words, better = _better(value.value)
            if not words:
                continue
            is_plain = isinstance(value.node, ast.Constant)
            edits = replace(program, value.node, repr(better)) if is_plain else ()
            yield self.finding(
                program,
                event.node,
                self.message.format(value.value, words, better),
                fix=Fix("Write the letter that is meant", edits),
            )


def _better(given: str) -> tuple[str, str]:
    """What a format does wrong, and how it is meant; ("", "") where it is right."""
    better = _MINUTES.sub(lambda found: "%m".join(part for part in found.groups() if part is not None), given)
    if better != given:
        return "reads minutes (%M) where the month stands", better
    better = _MONTHS.sub(r"\1%M", given)
    if better != given:
        return "reads months (%m) where the minutes stand", better
    if "%p" in given and "%H" in given and "%I" not in given:
        return "reads 3 PM as 3 at night: %p only counts with %I", given.replace("%H", "%I")
    return "", ""


class DayAndMonthBothWays(StaticRule, code="S924", cause="PRE-WRONG-DTYPE"):
    """Formats that differ only in whether day or month comes first are tried one after the other.

    Every date whose day is 12 or less fits both, so the first format takes it, right or wrong. Where the file holds the other kind,
    over a third of the dates get another month and season, without an error.

    Find out which order the file has, and read it with that one format.
    """

    message = "A date like 03/04/2021 fits both {0!r} and {1!r}, and the first that fits is taken; use the one format that the file has."
    triggers = _PARSING
    patterns = (r"(?:strptime|to_datetime|to_date)\(",)

    GOOD = (
        Snippet("orders that cannot be mistaken", HEAD + "def parse(s):\n    for f in ('%d/%m/%Y', '%Y-%m-%d'):\n        try:\n            return datetime.strptime(s, f)\n"
                "        except ValueError:\n            pass\n\ndf['t'] = df['t'].map(parse)\n"),
        Snippet("one for each country", HEAD + "FORMATS = {'us': '%m/%d/%Y', 'uk': '%d/%m/%Y'}\n"
                "df['t'] = [datetime.strptime(s, FORMATS[c]) for s, c in zip(df['t'], df['country'])]\n"),
        Snippet("other marks", HEAD + "def parse(s):\n    for f in ('%d.%m.%Y', '%m/%d/%Y'):\n        try:\n            return datetime.strptime(s, f)\n"
                "        except ValueError:\n            continue\n\ndf['t'] = df['t'].map(parse)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in a loop", HEAD + "def parse(s):\n    for f in ('%m/%d/%Y', '%d/%m/%Y'):\n        try:\n            return datetime.strptime(s, f)\n"
                "        except ValueError:\n            pass\n\ndf['t'] = df['t'].map(parse)\n", line=9),
        Snippet("from a list of formats", HEAD + "FORMATS = ['%Y-%m-%d', '%m-%d-%Y', '%d-%m-%Y']\n\ndef parse(s):\n    for f in FORMATS:\n        try:\n"
                "            return datetime.strptime(s, f)\n        except ValueError:\n            continue\n    raise ValueError(s)\n\ndf['t'] = df['t'].map(parse)\n", line=11),
        Snippet("one try after the other", HEAD + "def parse(s):\n    try:\n        return datetime.strptime(s, '%m/%d/%Y')\n    except ValueError:\n"
                "        return datetime.strptime(s, '%d/%m/%Y')\n\ndf['t'] = df['t'].map(parse)\n", line=8),
        Snippet("what is missing is read the other way", HEAD + "t = pd.to_datetime(df['t'], format='%m/%d/%Y', errors='coerce')\n"
                "df['t'] = t.fillna(pd.to_datetime(df['t'], format='%d/%m/%Y', errors='coerce'))\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for node, formats in _tried(program):
            pair = _either_way(formats)
            if pair is not None:
                yield self.finding(program, node, self.message.format(*pair))


def _tried(program: Program) -> Iterator[tuple[ast.AST, list[str]]]:
    """Places where dates are read by one format after another until one fits, with the formats in order."""
    for loop in program.nodes:
        if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
            continue
        for attempt in inside(loop, ast.Try):
            for call in inside(attempt, ast.Call):
                given = [*call.args, *(keyword.value for keyword in call.keywords)]
                names = [name.id for part in given for name in inside(part, ast.Name)]
                if last_name(call.func) in _PARSING and loop.target.id in names:
                    yield call, _texts(program, loop.iter)
    for attempt in (node for node in program.nodes if isinstance(node, ast.Try)):
        first = [part for statement in attempt.body for part in _read_in(statement)]
        later = [part for handler in attempt.handlers for part in _read_in(handler)]
        if len(first) == 1 and later:
            yield first[0][0], [text for _, text in (*first, *later)]
    for event in program.methods_of("fillna", "combine_first"):
        before = event.call.receiver
        parts = [before, *event.call.given]
        read = [
            (other, value.value)
            for part in parts
            for other, value in _parsed(program)
            if resolved(part) is other.call
        ]
        if len(read) > 1:
            yield read[0][0].node, [text for _, text in read]


def _read_in(node: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    for call in inside(node, ast.Call):
        if last_name(call.func) in _PARSING:
            for given in (*call.args, *(keyword.value for keyword in call.keywords)):
                if isinstance(given, ast.Constant) and isinstance(given.value, str) and "%" in given.value:
                    yield call, given.value


def _texts(program: Program, node: ast.expr) -> list[str]:
    """The texts of a written list, or of a name that such a list is given to once."""
    if isinstance(node, ast.Name):
        values = [
            part.value
            for part in program.nodes
            if isinstance(part, ast.Assign) and any(isinstance(target, ast.Name) and target.id == node.id for target in part.targets)
        ]  # fmt: skip
        if len(values) != 1:
            return []
        node = values[0]
    elements = node.elts if isinstance(node, ast.List | ast.Tuple) else []
    return [part.value for part in elements if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def _either_way(formats: list[str]) -> tuple[str, str] | None:
    """The first two formats that differ only in the order of day and month."""
    for index, one in enumerate(formats):
        exchanged = re.sub("%[dm]", lambda found: "%m" if found.group() == "%d" else "%d", one)
        if exchanged != one and exchanged in formats[index + 1 :] and not re.search("%[bB]", one):
            return one, exchanged
    return None
