"""The number of the padding that is also the number of a word."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Call,
    Collection,
    Const,
    Element,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.operations import walk
from netmend.program.meaning.paths import paths
from netmend.program.text.edits import replace, wrap
from netmend.vocabulary.finding import Fix

HEAD = """\
from collections import Counter
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

texts = [line.split() for line in open("texts.txt")]
counts = Counter(w for text in texts for w in text)
"""
MODEL = "ids = pad_sequence([torch.tensor([number[w] for w in text]) for text in texts], batch_first=True)\n"
EMBED = "emb = nn.Embedding({}, 16, padding_idx=0)\nout = emb(ids)\n"


class PaddingIsAWord(StaticRule, code="S970", cause="PRE-WRONG-STEP"):
    """Words are numbered from 0, and 0 is also the padding that the network leaves out.

    `padding_idx` keeps the vector of that number at zero and out of training (an `EmbeddingBag` skips it), and a mask `ids != 0` hides it: the word
    with number 0 is left out of every text. Numbered by frequency it is the most common word, which may be a "not".

    Number words from 1: `enumerate(words, start=1)`, with `len(words) + 1` rows in the embedding.
    """

    message = "The first word gets number 0, which is the padding and is left out; number words from 1: `enumerate(words, start=1)`, and give the embedding `len(words) + 1` rows."
    triggers = ("padding_idx", "mask_zero", "!= 0", "== 0", "> 0", ".ne(0)", ".eq(0)")
    needs = "Embedding"

    GOOD = (
        Snippet("from one", HEAD + "number = {w: i for i, (w, _) in enumerate(counts.most_common(), start=1)}\n" + MODEL + EMBED.format("len(number) + 1")),
        Snippet("one added", HEAD + "number = {w: i + 1 for i, w in enumerate(counts)}\n" + MODEL + EMBED.format("len(number) + 1")),
        Snippet("one added where it is looked up", HEAD + "number = {w: i for i, w in enumerate(counts)}\n" + MODEL.replace("number[w]", "number[w] + 1") + EMBED.format("len(number) + 1")),
        Snippet("a word for the padding", HEAD + "words = ['<pad>', '<unk>'] + sorted(counts)\nnumber = {w: i for i, w in enumerate(words)}\n" + MODEL + EMBED.format("len(number)")),
        Snippet("its own number", HEAD + "number = {w: i for i, w in enumerate(sorted(counts))}\nPAD = len(number)\n" + MODEL.replace("True)\n", "True, padding_value=PAD)\n") + EMBED.format("len(number) + 1").replace("=0", "=PAD")),
        Snippet("the padding is there first", HEAD + "number = {'<pad>': 0}\nfor w in counts:\n    number[w] = len(number)\n" + MODEL + EMBED.format("len(number)")),
        Snippet("words of a file", HEAD + "words = open('vocab.txt').read().split()\nnumber = {w: i for i, w in enumerate(words)}\n" + MODEL + EMBED.format("len(number)")),
        Snippet("labels", HEAD + "number = {w: i for i, w in enumerate(sorted(counts), 1)}\nlabel = {w: i for i, w in enumerate(sorted(set(open('labels.txt'))))}\n" + MODEL + EMBED.format("len(number) + 1")),
        Snippet("no padding", HEAD + "number = {w: i for i, w in enumerate(sorted(counts))}\nemb = nn.Embedding(len(number), 16)\nkept = torch.tensor([1]) != 0\n"),
    )  # fmt: skip
    BAD = (
        mended("by frequency", HEAD + "number = {w: i for i, (w, _) in enumerate(counts.most_common()⟨ → , start=1⟩)}\n" + MODEL + EMBED.format("len(number)⟨ →  + 1⟩")),
        Snippet("a sorted set", HEAD + "words = sorted(set(w for text in texts for w in text))\nnumber = {w: i for i, w in enumerate(words)}\n" + MODEL + EMBED.format("len(words)"), line=9),
        Snippet("one after the other", HEAD + "number = {}\nfor text in texts:\n    for w in text:\n        if w not in number:\n            number[w] = len(number)\n" + MODEL + EMBED.format("len(number)"), line=12),
        Snippet("zip", HEAD + "number = dict(zip(counts, range(len(counts))))\n" + MODEL + EMBED.format("len(number)"), line=8),
        Snippet("letters", "import string\nfrom torch import nn\n\nnumber = {c: i for i, c in enumerate(string.ascii_lowercase)}\nbag = nn.EmbeddingBag(len(number), 8, padding_idx=0)\n", line=4),
        Snippet("a mask", HEAD + "number = {w: i for i, w in enumerate(sorted(counts))}\n" + MODEL + "emb = nn.Embedding(len(number), 16)\nmask = (ids != 0).unsqueeze(-1)\nout = (emb(ids) * mask).sum(1)\n", line=8),
        Snippet("in a class", HEAD + "class Vocabulary:\n    def __init__(self):\n        self.number = {}\n        for w, n in counts.most_common():\n            self.number[w] = len(self.number)\n\n    def __len__(self):\n"
                "        return len(self.number)\n\nvocabulary = Vocabulary()\nemb = nn.Embedding(len(vocabulary.number), 16, padding_idx=0)\n", line=12),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.calls_of(
            "torch.nn.Embedding", "torch.nn.EmbeddingBag", "keras.layers.Embedding"
        ):
            layer = event.call
            size = layer.argument("num_embeddings", 0) or layer.argument("input_dim")
            if size is None or layer.open:
                continue
            leaves_out = _leaves_out_zero(layer) or _mask_of_zero(program, layer)
            if not leaves_out:
                continue
            for numbers in _counted(size):
                found = _numbered_from_zero(program, numbers)
                if found is not None and not _is_moved(program, numbers):
                    see = [("0 is left out here.", layer.node)] if layer.node is not None else ()
                    yield self.finding(program, found.node, fix=_from_one(program, found, layer), see=see)


def _from_one(program: Program, numbers: Value, layer: Call) -> Fix | None:
    """`enumerate(words)` → `enumerate(words, start=1)`, and a row more in the embedding."""
    size = layer.node.args[0] if layer.node is not None and layer.node.args else None
    counting = [
        node for node in ast.walk(numbers.node or ast.Pass()) if isinstance(node, ast.Call) and ast.unparse(node.func) == "enumerate"
    ]  # fmt: skip
    if size is None or len(counting) != 1 or len(counting[0].args) != 1 or counting[0].keywords:
        return None
    wider = wrap(program, size, "", " + 1")
    started = replace(program, counting[0], f"enumerate({program.source(counting[0].args[0])}, start=1)")
    return Fix("Number words from 1", (*started, *wider)) if wider and started else None


def _leaves_out_zero(layer: Call) -> bool:
    if layer.qualified.startswith("keras"):
        return constant(layer.keywords.get("mask_zero")) is True
    pad = layer.argument("padding_idx", 2)
    return isinstance(pad, Const) and pad.value == 0 and pad.value is not False


def _mask_of_zero(program: Program, layer: Call) -> bool:
    """Is what the layer looks up compared with 0, to tell words from padding?"""
    for op in paths(program).ops:
        if op.layer is not layer or op.input is None:
            continue
        given = resolved(op.input)
        for event in program.events:
            for value in walk(event.value):
                if isinstance(value, Operation) and value.operator in ("!=", "==", ">"):
                    left, right = value.operands
                    if constant(right) == 0 and resolved(left) is given:
                        return True
    return False


def _counted(size: Value) -> Iterator[Value]:
    """What the rows of the embedding are counted from: `number` of `len(number) + 1`."""
    for value in walk(size):
        if isinstance(value, Call) and value.qualified == "len" and value.args:
            yield resolved(value.args[0])


def _numbered_from_zero(program: Program, numbers: Value) -> Value | None:
    """The dictionary (or its line) that gives number 0 to the first of some words."""
    if isinstance(numbers, Collection) and numbers.kind == "dict":
        return _of_dictionary(program, numbers)
    if isinstance(numbers, Call) and numbers.qualified == "dict" and numbers.args:
        zipped = resolved(numbers.args[0])
        if isinstance(zipped, Call) and zipped.qualified == "zip" and len(zipped.args) == 2:
            counting = resolved(zipped.args[1])
            if not isinstance(counting, Call) or counting.qualified not in ("range", "itertools.count"):
                return None
            return numbers if _starts_at_zero(counting) and _is_of_words(zipped.args[0]) else None
        return None
    if not _is_of_words(numbers):
        return None
    for event in program.stores:  # the words were counted: a dictionary that numbers just these
        kept = resolved(event.value)
        if isinstance(kept, Collection) and kept.kind == "dict" and _source(kept) is numbers:
            return _of_dictionary(program, kept)
    return None


def _of_dictionary(program: Program, numbers: Collection) -> Value | None:
    if numbers.repeated and len(numbers.items) == 1:
        source = _source(numbers)
        return numbers if source is not None and _is_of_words(source) else None
    stores = [
        event
        for event in program.stores
        if event.target.base is not None and resolved(event.target.base) is numbers
    ]
    first = [item for item in numbers.items if not _is_length(item)]
    if first or not stores or any(isinstance(resolved(event.target.key), Const) for event in stores):
        return None
    grown = [event for event in stores if _is_length(event.value)]
    return Value(grown[0].node) if len(grown) == len(stores) else None


def _is_length(value: Value | None) -> bool:
    """`len(number)`, which is not told of a dictionary that a loop fills."""
    value = resolved(value)
    return isinstance(value, Call) and value.qualified == "len"


def _source(numbers: Collection) -> Value | None:
    """The words of `{w: i for i, w in enumerate(words)}`, counted from 0."""
    item = resolved(numbers.items[0]) if len(numbers.items) == 1 else None
    if isinstance(item, Item) and constant(item.key) == 0:
        item = resolved(item.base)
    made = resolved(item.iterable) if isinstance(item, Element) else None
    if (
        not isinstance(made, Call)
        or made.qualified != "enumerate"
        or not made.args
        or not _starts_at_zero(made)
    ):
        return None
    return resolved(made.args[0])


def _starts_at_zero(counting: Call) -> bool:
    if counting.qualified == "range":
        return len(counting.args) == 1 or constant(counting.args[0]) == 0
    start = counting.argument("start", 1 if counting.qualified == "enumerate" else 0)
    return start is None or constant(start) == 0


_COUNTS = (
    "collections.Counter",
    "set",
    "sorted",
    "list",
    "numpy.unique",
    "dict.fromkeys",
    "frozenset",
    "tuple",
)
_ALPHABETS = (
    "string.ascii_lowercase",
    "string.ascii_letters",
    "string.ascii_uppercase",
    "string.printable",
    "string.digits",
)


def _is_of_words(value: Value | None, depth: int = 8) -> bool:
    """Were the words gathered from data, without one for the padding in front?"""
    value = resolved(value)
    if value is None or not depth:
        return False
    if isinstance(value, Const):
        return isinstance(value.value, str) and value.value[:1].isalnum()
    if getattr(value, "qualified", "") in _ALPHABETS:
        return True
    if isinstance(value, Collection):
        if value.kind == "set":
            return not any(isinstance(item, Const) for item in value.items)
        is_gathered = value.open or value.repeated
        first = resolved(value.items[0]) if value.items else None
        return is_gathered and value.kind in ("list", "generator") and isinstance(first, Item | Element) and any(
            _is_of_words(part, depth - 1) for part in walk(first) if isinstance(part, Call)
        )  # fmt: skip
    if isinstance(value, Item) and isinstance(resolved(value.key), Operation):  # `[:5000]`
        key = resolved(value.key)
        first = key.operands[0] if isinstance(key, Operation) and key.operands else None
        return first is not None and constant(first) in (None, 0) and _is_of_words(value.base, depth - 1)
    if not isinstance(value, Call):
        return False
    if value.method in ("most_common", "keys", "unique", "copy", "items"):
        return value.method in ("most_common", "unique") or _is_of_words(value.receiver, depth - 1)
    if value.qualified in ("set", "collections.Counter", "numpy.unique"):
        return True
    return value.qualified in _COUNTS and bool(value.args) and _is_of_words(value.args[0], depth - 1)


def _is_moved(program: Program, numbers: Value) -> bool:
    """Is a number added where words are looked up, or is the padding given a place later?"""
    for event in program.events:
        for value in walk(event.value, into=lambda part: not isinstance(part, Element)):
            if (
                isinstance(value, Operation)
                and value.operator == "+"
                and any(isinstance(part, Const) for part in value.operands)
            ):
                for part in map(resolved, value.operands):
                    looked = (
                        part.base
                        if isinstance(part, Item)
                        else part.receiver
                        if isinstance(part, Call) and part.method == "get"
                        else None
                    )
                    if looked is not None and resolved(looked) is numbers:
                        return True
    return any(
        event.target.base is not None and resolved(event.target.base) is numbers and isinstance(resolved(event.target.key), Const)
        for event in program.stores
    )  # fmt: skip
