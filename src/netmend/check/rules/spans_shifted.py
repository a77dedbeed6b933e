"""Positions of characters that belong to another text than the one they are used on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import Branch, Loop, StoreEvent
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Element, Item, Operation, Value, constant, resolved
from netmend.program.meaning.operations import walk

HEAD = """\
import torch
import json
import re

def clean(text):
    return re.sub(r"\\s+", " ", text).strip()

def tags(rec):
    found = []
    for m in re.finditer(r"\\w+", rec["text"]):
        tag = "O"
        for e in rec["entities"]:
            if e["start"] <= m.start() < e["end"]:
                tag = e["label"]
        found.append(tag)
    return found

"""
_CHANGING = frozenset(
    ("re.sub", "re.subn", "regex.sub", "html.unescape", "unicodedata.normalize", "emoji.demojize", "emoji.replace_emoji", "ftfy.fix_text", "unidecode.unidecode", "textwrap.dedent")
)  # fmt: skip
_COMPARED = ("compare", "<", "<=", ">", ">=", "==", "in")


class SpansOfAnotherText(StaticRule, code="S965", cause="PRE-WRONG-STEP"):
    """A text is cleaned, and positions that were counted in the text as it was are used on the cleaned one.

    Every blank that is squeezed and every sign that is dropped moves what follows to the left. The positions then mark other words, ever farther from those
    that were meant.

    Use the positions on the text as it stands and clean afterwards what they mark, or count them anew.
    """

    message = "The text is made shorter here, but positions counted in the text as it was are used on it later; use them on the text as it stands and clean afterwards."
    triggers = ("start", "end", "span", "offset", "begin")

    GOOD = (
        Snippet("positions first", HEAD + "for line in open('a.jsonl'):\n    rec = json.loads(line)\n    rec['tags'] = tags(rec)\n    rec['text'] = clean(rec['text'])\n"),
        Snippet("as long as before", HEAD + "for line in open('a.jsonl'):\n    rec = json.loads(line)\n    rec['text'] = rec['text'].lower().rstrip()\n    print(tags(rec))\n"),
        Snippet("counted anew", HEAD + "for line in open('a.jsonl'):\n    rec = json.loads(line)\n    text = clean(rec['text'])\n"
                "    for e in rec['entities']:\n        start = text.find(clean(e['surface']))\n        print(text[start : start + 3])\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in the record", HEAD + "for line in open('a.jsonl'):\n    rec = json.loads(line)\n    rec['text'] = clean(rec['text'])\n    print(tags(rec))\n", line=20),
        Snippet("cut out of the cleaned text", HEAD + "for rec in json.load(open('a.json')):\n    text = rec['text'].replace('\\n', '').strip()\n"
                "    for e in rec['entities']:\n        print(text[e['start'] : e['end']], e['label'])\n", line=19),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        stored = [event for event in program.stores if _shortened(event) is not None]
        told: set[int] = set()
        tests = ((part.order, part.test) for part in program.parts if isinstance(part, Branch | Loop))
        for order, whole in (*((event.order, event.value) for event in program.events), *tests):
            for value in walk(whole):
                for text, position in _used_on(value):
                    node = _cleaned(text, position, stored, order)
                    if node is not None and id(node) not in told:
                        told.add(id(node))
                        yield self.finding(
                            program,
                            node,
                            see=[("The positions are used here.", value.node)]
                            if value.node is not None
                            else (),
                        )


def _used_on(value: Value) -> Iterator[tuple[Value, Value]]:
    """A text, and a position that is used on it: `text[start:end]`, `start <= match.start()`."""
    if isinstance(value, Item) and isinstance(value.key, Operation) and value.key.operator == "slice":
        for bound in value.key.operands[:2]:
            if _is_field(bound):
                yield value.base, resolved(bound)
    elif isinstance(value, Operation) and value.operator in _COMPARED:
        pairs = list(pairwise(value.operands))
        for one, other in (*pairs, *(pair[::-1] for pair in pairs)):
            place = resolved(other)
            if _is_field(one) and isinstance(place, Call) and place.method in ("start", "end"):
                yield place, resolved(one)


def _is_field(value: Value | None) -> bool:
    """Is it a field of a record as it was read, by a name?"""
    value = resolved(value)
    if isinstance(value, Call) and value.qualified == "int" and value.args:
        value = resolved(value.args[0])
    return isinstance(value, Item) and isinstance(constant(value.key), str | int)


def _record(value: Value) -> Value | None:
    """The record that a field is of, behind lists in it."""
    for _ in range(6):
        value = resolved(value)
        if isinstance(value, Item):
            value = value.base
        elif isinstance(value, Element) and isinstance(resolved(value.iterable), Item):
            value = value.iterable
        else:
            return value
    return None


def _shortened(event: StoreEvent) -> tuple[Value, Value | None] | None:
    """A record whose text is replaced by a shorter one of its own, with the key."""
    base, key = resolved(event.target.base), event.target.key
    if base is None or key is None or _change(event.value) is None:
        return None
    own = any(
        isinstance(part, Item) and resolved(part.base) is base and constant(part.key) == constant(key)
        for part in walk(event.value)
    )
    return (base, key) if own else None


def _cleaned(text: Value, position: Value, stored: list[StoreEvent], order: int) -> ast.AST | None:
    """Where the text was made shorter that a position of the same record is used on."""
    record = _record(position)
    if record is None:
        return None
    for part in walk(text):
        if (
            not isinstance(part, Item)
            or not isinstance(constant(part.key), str)
            or resolved(part.base) is not record
        ):
            continue
        for event in stored:
            found = _shortened(event)
            if (
                found is not None
                and found[0] is record
                and constant(found[1]) == constant(part.key)
                and event.order < order
            ):
                return event.node
        changed = _change(text)
        if changed is not None and any(inner is part for inner in walk(changed)):
            return changed.node
    return None


def _change(value: Value | None) -> Call | None:
    """The call that may take characters out of a text, before its end."""
    for part in walk(value):
        if isinstance(part, Call) and part.result is None and _takes_out(part):
            return part
    return None


def _takes_out(call: Call) -> bool:
    if call.qualified in _CHANGING:
        return True
    if call.method in ("strip", "lstrip"):
        return True
    if call.method == "replace" and len(call.args) >= 2:
        old, new = (constant(resolved(argument)) for argument in call.args[:2])
        return isinstance(old, str) and isinstance(new, str) and len(old) != len(new)
    return call.method == "join" and any(
        isinstance(part, Call) and part.method == "split" for argument in call.args for part in walk(argument)
    )
