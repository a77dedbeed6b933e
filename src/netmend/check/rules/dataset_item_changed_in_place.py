from __future__ import annotations

import ast

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import AUGMENT, RETURN, STORE, Branch, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Item,
    Operation,
    Value,
    constant,
    options,
    resolved,
)
from netmend.program.meaning.batches import CHANGES, FILLS, has_copy, is_dataset, is_tensor, sample_of
from netmend.program.meaning.operations import depends_on, walk
from netmend.program.text.edits import wrap
from netmend.vocabulary.finding import Fix

HEAD = """\
import random
import numpy as np
import torch
from torch.utils.data import Dataset

class Digits(Dataset):
    def __init__(self, images, labels):
        self.images = images.astype(np.float32)
        self.labels = labels
        self.cache = {{}}

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        img = {}
"""
SHAPE = "        y, x = random.randint(0, 24), random.randint(0, 24)\n"
HOLE = SHAPE + "        img[y:y + 4, x:x + 4] = 0\n"
END = "        return torch.from_numpy(img), self.labels[i]\n"
PLAIN = HEAD.format("self.images[i]")
HELPER = """
    def cutout(self, img):
        y = np.random.randint(0, 24)
        img[y:y + 4] = 0
        return np.roll(img, 1)
"""
_GROWS = frozenset(("append", "insert", "extend"))
_RANDOM = ("random.", "numpy.random.", "torch.rand", "torch.bernoulli", "torch.multinomial", "torch.normal")
_DRAWS = frozenset(("integers", "randint", "random", "uniform", "choice", "normal", "permutation", "standard_normal", "randrange"))  # fmt: skip
_REDUCED = frozenset(("mean", "median", "max", "min", "std", "var", "norm", "sum", "amax", "amin", "ptp"))
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow)


class DatasetItemChangedInPlace(StaticRule, code="S535", cause="TRN-AUG-EXTRA", in_tests=False):
    """`__getitem__` takes a sample out of the data set's store and writes into it, without a copy.

    Indexing an array, a tensor or a list gives no copy: what is written into the sample stays in the store. Noise, holes and scaling of
    one epoch are still there in the next, and little by little the data is destroyed.

    Work on a copy: `img = self.images[i].copy()`, for tensors `.clone()`.
    """

    message = (
        "This modifies the stored sample itself, again in every epoch; work on a copy (.copy() or .clone())."
    )
    triggers = ("__getitem__",)
    patterns = (r"def __getitem__\(",)

    GOOD = (
        Snippet("a copy", HEAD.format("self.images[i].copy()") + HOLE + END),
        Snippet("the name gets a new array", PLAIN + "        img = img + np.random.normal(0, 0.1, img.shape)\n        img[0] = random.random()\n" + END),
        Snippet("the same every time", PLAIN + "        img[img > 1] = 1\n        img[:, 0] = 0\n        img -= img.mean()\n        img /= img.std()\n" + END),
        Snippet("what was there is replaced", PLAIN + "        img[0] = np.random.rand(*img[0].shape)\n" + END),
        Snippet("another data set", PLAIN.replace("images.astype(np.float32)", "images") + HOLE + END),
        Snippet("not what is given", PLAIN + "        self.images[0][random.randint(0, 9)] = 0\n" + END),
    )  # fmt: skip
    BAD = (
        Snippet("a hole", PLAIN + HOLE + END, line=18, fixed=HEAD.format("self.images[i].copy()") + HOLE + END),
        Snippet("in a method", PLAIN + "        return self.cutout(img), self.labels[i]\n" + HELPER, line=21),
        Snippet("in a function", PLAIN.replace("class Digits", "def noisy(a):\n    a += np.random.normal(0, 0.1, a.shape)\n    return a\n\nclass Digits").replace("= self.images[i]", "= noisy(self.images[i])")
                + END, line=7),
        Snippet("in-place methods", PLAIN.replace("self.images[i]", "torch.from_numpy(self.images[i])") + "        img.sub_(0.5).div_(0.5)\n        return img, self.labels[i]\n", line=17),
        Snippet("tensors are scaled again", PLAIN.replace("images.astype(np.float32)", "images.clamp(0, 255).unsqueeze(1)") + "        img -= 70.0\n        img /= 60.0\n        return img, self.labels[i]\n", line=17,
                fixed=PLAIN.replace("images.astype(np.float32)", "images.clamp(0, 255).unsqueeze(1)").replace("= self.images[i]", "= self.images[i].clone()")
                + "        img -= 70.0\n        img /= 60.0\n        return img, self.labels[i]\n"),
        Snippet("boxes are scaled again", PLAIN.replace("img = ", "boxes = ") + "        boxes[:, 0] *= 640\n        return boxes\n", line=17),
        Snippet("a list grows", "class Texts:\n    def __init__(self, lines):\n        import torch\n        self.tokens = [list(line) for line in lines]\n\n    def __len__(self):\n        return len(self.tokens)\n\n"
                "    def __getitem__(self, i):\n        tokens = self.tokens[i]\n        tokens.append(2)\n        return tokens\n", line=11),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        told: set[int] = set()
        for entry in program.entries:
            function = entry.function
            if function is None or function.name != "__getitem__" or not is_dataset(entry):
                continue
            events = list(entry.block.events())
            given = [event.value for event in events if event.kind == RETURN]
            for event in events:
                changed = _changed(event)
                samples = [sample_of(option, entry) for option in options(changed)] if changed else []
                if not samples or not all(sample is not None for sample in samples) or changed is None:
                    continue
                sample = samples[0]
                if sample is None or id(sample) in told or not _is_lasting(event, changed, sample, events):
                    continue
                if any(depends_on(value, sample) for value in given):
                    told.add(id(sample))
                    yield self.finding(
                        program,
                        event.node,
                        fix=_copied(program, sample),
                        see=[("The sample is taken here.", sample.node or event.node)],
                    )


def _copied(program: Program, sample: Item) -> Fix | None:
    """`self.images[i]` → `self.images[i].copy()` where the sample is taken."""
    node = sample.node
    if not isinstance(node, ast.Subscript) or program.place(node).file != program.file:
        return None
    copied = "clone" if is_tensor(sample.base) else "copy" if has_copy(sample.base) else ""
    edits = wrap(program, node, "", f".{copied}()") if copied else ()
    return Fix("Work on a copy of the sample", edits)


def _changed(event: Event) -> Value | None:
    """What an event writes into."""
    call, target = event.call, event.target
    if call is not None:
        return call.receiver if call.method in CHANGES | FILLS | _GROWS else None
    if target is None or event.kind not in (STORE, AUGMENT):
        return None
    if target.key is not None:
        return target.base
    return target.old if event.kind == AUGMENT and target.base is None else None


def _is_random(value: Value | None) -> bool:
    return any(
        isinstance(part, Call) and (part.qualified.startswith(_RANDOM) or part.method in _DRAWS)
        for part in walk(value)
    )


def _is_lasting(event: Event, changed: Value, sample: Item, events: list[Event]) -> bool:
    """Is the sample another one after each time: not `img[img > 1] = 1`, not `img -= img.mean()`?"""
    call, target = event.call, event.target
    by_chance = any(isinstance(part, Branch) and _is_random(part.test) for part in event.around())
    if call is not None:
        if call.method in _GROWS:
            return isinstance(event.node, ast.Call) and not _is_written_out(event.node)
        if call.method in CHANGES:
            return not any(_is_reduced(value, sample) for value in call.args)
        return by_chance or any(_is_random(value) for value in (*call.args, *call.keywords.values()))
    if target is None:
        return False
    if event.kind == STORE:
        is_by_chance = _is_random(target.key) or (by_chance and not isinstance(target.key, Const))
        return is_by_chance or ((by_chance or _is_random(event.value)) and _uses(event.value, sample))
    if not isinstance(event.node, ast.AugAssign) or not isinstance(event.node.op, _OPERATORS):
        return False
    operands = event.value.operands if isinstance(event.value, Operation) else ()
    change = operands[-1] if operands else None
    if change is None or constant(change) in (0, 1) or _is_reduced(change, sample):
        return False
    if "mask" in ast.unparse(event.node.value).lower():
        return False
    return target.key is not None or _is_wide(changed, sample, change, events)


def _uses(value: Value, sample: Item) -> bool:
    """Is a value computed from what is in the sample, not only from its size?"""
    return any(
        part is sample
        for part in walk(value, into=lambda part: getattr(part, "name", "") not in ("shape", "dtype", "size"))
    )


def _is_written_out(node: ast.Call) -> bool:
    """`self.seen[i].append(x)`: the store is meant."""
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    return not isinstance(owner, ast.Name)


def _is_reduced(value: Value, sample: Item) -> bool:
    """Does a change hold the mean, the largest value or the like of the sample itself?"""
    for part in walk(value):
        name = (part.method or part.qualified.rpartition(".")[2]) if isinstance(part, Call) else ""
        if name in _REDUCED and depends_on(part, sample):
            return True
    return False


def _is_wide(changed: Value, sample: Item, change: Value, events: list[Event]) -> bool:
    """Is the sample more than a number, which `+=` would not change in place?"""
    if changed is not sample or isinstance(resolved(change), Collection) or is_tensor(sample.base):
        return True
    for event in events:
        for part in walk(event.value):
            if isinstance(part, Attribute) and part.base is sample and part.name in ("shape", "ndim", "T"):
                return True
            if isinstance(part, Item) and part.base is sample and not isinstance(part.key, Const):
                return True
    return False
