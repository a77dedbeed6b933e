"""Random changes of training pictures that turn one class into another, where the names of the classes say so."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.library.image_transforms import LIBRARIES, TRANSFORMS
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Const, Value, constant, resolved
from netmend.program.meaning.losses import loss_uses
from netmend.program.meaning.pairs import words
from netmend.program.text.edits import delete_list_element
from netmend.program.text.queries import inside
from netmend.vocabulary.finding import Fix

HEAD = """\
import albumentations as A
import torch
from torch.utils.data import DataLoader

SIGNS = ["stop", "turn_left", "turn_right"]
"""
FIT = """
net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(784, len(SIGNS)))
opt = torch.optim.Adam(net.parameters())
for x, y in DataLoader(Signs(files, steps)):
    opt.zero_grad()
    torch.nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
"""
_SIDES = (
    {"left", "right"},
    {"leftward", "rightward"},
    {"east", "west"},
    {"clockwise", "counterclockwise"},
    {"clockwise", "anticlockwise"},
    {"cw", "ccw"},
    {"b", "d"},
    {"p", "q"},
)
_ENDS = (
    {"up", "down"},
    {"top", "bottom"},
    {"north", "south"},
    {"upward", "downward"},
    {"b", "p"},
    {"d", "q"},
    {"m", "w"},
)
_AROUND = (
    {"6", "9"},
    {"m", "w"},
    {"u", "n"},
    {"b", "q"},
    {"d", "p"},
    {"left", "up"},
    {"left", "down"},
    {"right", "up"},
    {"right", "down"},
    {"horizontal", "vertical"},
)
_COLOURS = frozenset(
    ("red", "orange", "yellow", "green", "blue", "violet", "purple", "pink", "brown", "cyan", "magenta", "turquoise", "golden", "crimson", "maroon", "lime", "amber",
     "indigo", "teal", "beige", "olive", "scarlet")
)  # fmt: skip
_LEAST_HUE = 0.04  # of the circle of colours
_LARGE_TURN = 60  # degrees; less is a tilt
_ON_THE_HEAD = 120


class ClassesTurnedIntoEachOther(StaticRule, code="S964", cause="TRN-AUG-EXTRA"):
    """Training pictures are mirrored, turned or given other colours at random, and the names of the classes say that just this decides.

    A mirrored `turn_left` is a `turn_right` that is still called left; a green tomato with its hue moved is a red one that is still called green. Half of
    the training teaches the wrong name.

    Leave the step out, or change the label together with the picture.
    """

    message = "{0} changes what the classes `{1}` and `{2}` are told apart by, while the label stays; leave this step out."
    triggers = (
        "Flip",
        "Rotate",
        "Rotation",
        "Affine",
        "D4",
        "SquareSymmetry",
        "Transpose",
        "Jitter",
        "Hue",
        "Gray",
        "ChannelShuffle",
        "Invert",
        "Solarize",
    )

    GOOD = (
        Snippet("a shift", HEAD + "steps = A.Compose([A.Affine(translate_percent=0.1), A.RandomBrightnessContrast(p=0.5)])\n" + FIT),
        Snippet("another direction", HEAD + "steps = A.Compose([A.VerticalFlip(p=0.5)])\n" + FIT),
        Snippet("never", HEAD + "steps = A.Compose([A.HorizontalFlip(p=0.0)])\n" + FIT),
        Snippet("labels go with it", HEAD + "OTHER = {'turn_left': 'turn_right', 'turn_right': 'turn_left'}\nsteps = A.Compose([A.HorizontalFlip(p=0.5)])\n" + FIT),
        Snippet("brightness alone", HEAD.replace('"stop", "turn_left", "turn_right"', '"red", "green"') + "steps = A.Compose([A.ColorJitter(brightness=0.3, hue=0.0)])\n" + FIT),
        Snippet("one colour among others", HEAD.replace('"stop", "turn_left", "turn_right"', '"red fox", "dog", "cat", "hare"') + "steps = A.Compose([A.ColorJitter(hue=0.2)])\n" + FIT),
        Snippet("letters that look the same", HEAD.replace('"stop", "turn_left", "turn_right"', '"8", "H", "I", "O", "X"') + "steps = A.Compose([A.HorizontalFlip(), A.VerticalFlip()])\n" + FIT),
    )  # fmt: skip
    BAD = (
        mended("left and right", HEAD + "steps = A.Compose([⟨A.HorizontalFlip(p=0.5),  → ⟩A.RandomBrightnessContrast(p=0.5)])\n" + FIT),
        Snippet("colours", HEAD.replace('"stop", "turn_left", "turn_right"', '"green", "turning", "pink", "red"') + "steps = A.Compose([\n    A.HorizontalFlip(p=0.5),\n"
                "    A.ColorJitter(brightness=0.2, hue=0.2),\n])\n" + FIT, line=8),
        Snippet("on its head", HEAD.replace('["stop", "turn_left", "turn_right"]', 'list("0123456789")').replace("import albumentations as A", "from torchvision import transforms as T")
                + "steps = T.Compose([T.RandomRotation(180), T.ToTensor()])\n" + FIT, line=6),
        Snippet("a class each in a dictionary", HEAD.replace('["stop", "turn_left", "turn_right"]', '{"up": 0, "down": 1}') + "steps = A.Compose([A.VerticalFlip()])\n" + FIT, line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        if not any(use.kind in ("cross_entropy", "nll", "bce_logits", "bce") for use in loss_uses(program)):
            return
        groups = [names for names in _names_of_classes(program) if not _are_exchanged(program, names)]
        if not groups:
            return
        for event in program.calls:
            call = event.call
            if not call.qualified.startswith(LIBRARIES) or constant(call.keywords.get("p")) == 0:
                continue
            for names in groups:
                pair = _told_apart(call, names)
                if pair is not None:
                    name = call.qualified.rpartition(".")[2]
                    fix = self._fix(program, call)
                    yield self.finding(program, call.node, self.message.format(name, *pair), fix=fix)
                    break

    def _fix(self, program: Program, call: Call) -> Fix | None:
        node = call.node
        known = TRANSFORMS[call.qualified.rpartition(".")[2]]
        above = program.parent(node) if node is not None else None
        if node is None or known.colours or not isinstance(above, ast.List) or len(above.elts) < 2:
            return None
        return Fix("Leave this step out", delete_list_element(program, above, node))


def _names_of_classes(program: Program) -> Iterator[tuple[str, ...]]:
    """Lists of different texts, and keys that stand for numbers."""
    seen: set[int] = set()
    for event in program.stores:
        value = resolved(event.value)
        if id(value) in seen:
            continue
        seen.add(id(value))
        names: list[object] = []
        if isinstance(value, Collection) and not value.open and value.kind != "dict":
            names = [constant(resolved(item)) for item in value.items]
        elif (
            isinstance(value, Collection)
            and value.keys
            and all(isinstance(constant(resolved(item)), int) for item in value.items)
        ):
            names = [constant(key) for key in value.keys]
        elif (
            isinstance(value, Call)
            and value.qualified == "list"
            and value.args
            and isinstance(text := constant(resolved(value.args[0])), str)
        ):
            names = list(text)
        texts = tuple(name for name in names if isinstance(name, str))
        if len(texts) == len(names) >= 2 and len(set(texts)) == len(texts):
            yield texts


def _are_exchanged(program: Program, names: tuple[str, ...]) -> bool:
    """Does the program know which class becomes which?"""
    known = set(names)
    for node in program.nodes:
        if isinstance(node, ast.Dict):
            pairs = [
                (constant_of(key), constant_of(value))
                for key, value in zip(node.keys, node.values, strict=True)
            ]
            if any(key in known and value in known and key != value for key, value in pairs):
                return True
        elif isinstance(node, ast.Call) and {str(constant_of(part)).lower() for part in node.args} in _SIDES:
            return True  # `name.replace("left", "right")`
    sides = ("left", "right", "mirror", "flip", "swap", "partner", "opposite")
    stored = (name.id.lower() for name in inside(program.tree, ast.Name) if isinstance(name.ctx, ast.Store))
    return any(
        word in name and ("map" in name or "swap" in name or "partner" in name)
        for name in stored
        for word in sides
    )


def constant_of(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _told_apart(call: Call, names: tuple[str, ...]) -> tuple[str, str] | None:
    """Two classes that a random step turns into each other."""
    known = TRANSFORMS.get(call.qualified.rpartition(".")[2])
    if known is None:
        return None
    pairs: tuple[set[str], ...] = ()
    if known.mirrors:
        pairs += _SIDES
    if known.topples:
        pairs += _ENDS
    turn = _degrees(call) if known.turns else 0.0
    if turn >= _LARGE_TURN:
        pairs += (
            _AROUND
            if turn >= _ON_THE_HEAD
            else tuple(pair for pair in _AROUND if len(max(pair, key=len)) > 1)
        )
    for pair in pairs:
        found = _named(names, pair)
        if found is not None:
            return found
    return _by_colour(names) if known.colours and _moves_hue(call) else None


def _named(names: tuple[str, ...], pair: set[str]) -> tuple[str, str] | None:
    """Two names that differ in just these words."""
    one, other = sorted(pair)
    if len(one) == 1:
        lower = {name.lower(): name for name in names if len(name) == 1}
        return (lower[one], lower[other]) if one in lower and other in lower else None
    by_words = {words(name): name for name in names}
    for parts, name in by_words.items():
        if one in parts and other not in parts:
            partner = by_words.get(parts - {one} | {other})
            if partner is not None:
                return name, partner
    return None


def _by_colour(names: tuple[str, ...]) -> tuple[str, str] | None:
    coloured = [name for name in names if words(name) & _COLOURS]
    if len(coloured) < 2 or 2 * len(coloured) < len(names):
        return None
    return coloured[0], coloured[-1]


def _moves_hue(call: Call) -> bool:
    name = call.qualified.rpartition(".")[2]
    if name not in ("ColorJitter", "ColorJiggle"):
        return True
    given = call.argument("hue", 3)
    return given is not None and _largest(given) >= _LEAST_HUE


def _degrees(call: Call) -> float:
    """The largest angle that a step turns by."""
    name = call.qualified.rpartition(".")[2]
    if name in ("RandomRotate90", "RandRotate90", "Rot90", "Transpose", "D4"):
        return 90.0 if name == "Transpose" else 180.0
    given = next(
        (
            call.keywords[word]
            for word in ("degrees", "limit", "rotate", "rotate_limit")
            if word in call.keywords
        ),
        None,
    )
    if given is None and name in ("RandomRotation", "Rotate", "SafeRotate", "RandomAffine") and call.args:
        given = call.args[0]
    if given is None:
        return 90.0 if name in ("Rotate", "SafeRotate") else 0.0
    return _largest(given)


def _largest(value: Value) -> float:
    value = resolved(value)
    if isinstance(value, Collection) and value.items and not value.open:
        return max(_largest(item) for item in value.items)
    number = value.value if isinstance(value, Const) else None
    return abs(float(number)) if isinstance(number, int | float) else 0.0
