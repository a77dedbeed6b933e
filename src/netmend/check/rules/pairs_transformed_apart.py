"""A picture and its mask, points or boxes that are not transformed alike."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.library.image_transforms import READERS
from netmend.program.engine.history import RETURN, CallEvent
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Call,
    Collection,
    Const,
    Element,
    Function,
    Instance,
    Item,
    Value,
    resolved,
)
from netmend.program.meaning.arrays import same_numbers
from netmend.program.meaning.batches import calls_of_datasets
from netmend.program.meaning.chance import MOVES, chance, is_seed, moves, moves_by_chance
from netmend.program.meaning.operations import walk
from netmend.program.meaning.pairs import are_learned_together, exclude_each_other, learned, names_a_target

HEAD = """\
import random
import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
"""
FLIP = """
def flipped(a):
    if random.random() < 0.5:
        a = a[:, ::-1].copy()
    return a
"""
PAIRS = """
class Cells(Dataset):
    def __init__(self, images, masks, augment=None):
        self.images, self.masks, self.augment = images, masks, augment

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = np.array(Image.open(self.images[i]))
        mask = np.array(Image.open(self.masks[i]))
"""

FIT = """
net = torch.nn.Conv2d(1, 1, 3, padding=1)
opt = torch.optim.Adam(net.parameters())
for x, y in DataLoader(Cells(images, masks), batch_size=8):
    opt.zero_grad()
    torch.nn.functional.binary_cross_entropy_with_logits(net(x), y).backward()
    opt.step()
"""
_ALONE = (
    "This flips, turns or cuts the picture at random, but not the picture that is its target, so they no longer lie on each other; "
    "apply the same step with the same numbers to both."
)


class PairTransformedApart(StaticRule, code="S960", cause="PRE-WRONG-STEP"):
    """A random flip, turn or crop is called once for the picture and once for its mask.

    Each call draws its own numbers, so the mask no longer lies on what it marks: mirrored by one and not by the other, cut at another place. The
    network learns a blurred average of all positions.

    Draw once and use it for both: hand picture and mask to one call (`transform(image=image, mask=mask)`), stack them before the call, or draw the
    parameters yourself and apply them to both.
    """

    message = "The picture and its {0} go through two calls that each draw their own flips, turns or crops, so they no longer lie on each other; draw once and apply it to both."
    triggers = ("transform", "aug", "flip", "rot", "crop", "Flip", "Crop", "Rotat")

    GOOD = (
        Snippet("drawn once, applied to both", HEAD + PAIRS + "        if random.random() < 0.5:\n            image, mask = np.fliplr(image), np.fliplr(mask)\n        return image.copy(), mask.copy()\n" + FIT),
        Snippet("whether there is anything in the mask", HEAD + PAIRS + "        if random.random() < 0.5:\n            image = np.fliplr(image)\n        return image.copy(), float(mask.any())\n" + FIT),
        Snippet("one call for both", HEAD + "import albumentations as A\n" + PAIRS + "        both = self.augment(image=image, mask=mask)\n"
                "        return both['image'], both['mask']\n\ndata = Cells(a, b, A.Compose([A.HorizontalFlip(p=0.5)]))\ndata[0]\n"),
        Snippet("the same seed before each", HEAD + FLIP + PAIRS + "        seed = random.randint(0, 10**6)\n        random.seed(seed)\n        image = flipped(image)\n"
                "        random.seed(seed)\n        mask = flipped(mask)\n        return image, mask\n"),
        Snippet("two views of one picture", HEAD + FLIP + PAIRS + "        return flipped(image), flipped(image)\n"),
        Snippet("stacked", HEAD + FLIP + PAIRS + "        both = flipped(np.concatenate([image[None], mask[None]]))\n        return both[0], both[1]\n"),
        Snippet("two pictures of a pair", HEAD + FLIP + PAIRS.replace("mask", "other") + "        return flipped(image), flipped(other), self.same[i]\n"),
        Snippet("only colours by chance", HEAD + PAIRS + "        return noisy(image), noisy(mask)\n\ndef noisy(a):\n    return a + np.random.normal(0, 1, a.shape)\n"),
        Snippet("only one of the two, by the part", HEAD + FLIP + PAIRS + "        if self.augment:\n            return flipped(image), mask\n        return image, flipped(mask)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("the picture alone", HEAD + PAIRS + "        if random.random() < 0.5:\n            image = np.fliplr(image)\n        return image.copy(), mask.copy()\n" + FIT, line=18),
        Snippet("an own function", HEAD + FLIP + PAIRS + "        image = flipped(image)\n        mask = flipped(mask)\n        return image, mask\n", line=23),
        Snippet("a transform of a library", HEAD + "import albumentations as A\n" + PAIRS + "        image = self.augment(image=image)['image']\n        mask = self.augment(image=mask)['image']\n"
                "        return image, mask\n\ndata = Cells(a, b, A.Compose([A.HorizontalFlip(p=0.5)]))\ndata[0]\n", line=19),
        Snippet("one transform each", HEAD + "from torchvision import transforms as T\n" + PAIRS.replace("augment=None", "one, other").replace("augment = images, masks, augment", "one, self.other = images, masks, one, other")
                + "        return self.one(image), self.other(mask)\n\n"
                "data = Cells(a, b, T.Compose([T.RandomHorizontalFlip(), T.ToTensor()]), T.Compose([T.RandomHorizontalFlip(), T.ToTensor()]))\ndata[0]\n", line=18),
        Snippet("an object of one's own", HEAD + "class Crop:\n    def __init__(self, size):\n        self.size = size\n\n    def __call__(self, a):\n        y = np.random.randint(0, a.shape[0] - self.size)\n"
                "        x = np.random.randint(0, a.shape[1] - self.size)\n        return a[y : y + self.size, x : x + self.size]\n" + PAIRS
                + "        crop = Crop(64)\n        return {'image': crop(image), 'mask': crop(mask)}\n", line=26),
        Snippet("batches in the loop", HEAD + FLIP + "net = torch.nn.Conv2d(1, 1, 3, padding=1)\nopt = torch.optim.Adam(net.parameters())\nX, Y = torch.load('x.pt'), torch.load('y.pt')\n"
                "for i in range(100):\n    x, y = flipped(X[i]), flipped(Y[i])\n    opt.zero_grad()\n    torch.nn.functional.mse_loss(net(x), y).backward()\n    opt.step()\n", line=15),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for node in _one_alone(program):
            yield self.finding(program, node, _ALONE)
        for event in _each_of_both(program):
            yield self.finding(program, event.node, self.message.format("mask or target"))
        for one, other in _pairs(program):
            if names_a_target(program, other.node) or names_a_target(program, one.node):
                what = "mask or labels"
            elif are_learned_together(program, one.call, other.call):
                what = "target"
            else:
                continue
            yield self.finding(
                program,
                other.node,
                self.message.format(what),
                see=[("The other one is transformed here.", one.node)],
            )


# One number for a whole picture: flips leave it as it is.
_SUMMARIES = frozenset(
    (
        "any",
        "all",
        "sum",
        "mean",
        "max",
        "min",
        "amax",
        "unique",
        "argmax",
        "count_nonzero",
        "bincount",
        "median",
        "std",
        "getextrema",
        "len",
        "nonzero",
    )
)


def _last(call: Call) -> str:
    return (call.qualified or call.method).rpartition(".")[2]


def _one_alone(program: Program) -> Iterator[ast.AST]:
    """Random moves of a model's input whose target is a picture of its own that nothing moves."""
    for pair in learned(program):
        read = [part for part in pair.targets if isinstance(part, Call) and part.qualified in READERS]
        if not read or any(id(part.node) in pair.input_places for part in read):
            continue
        if any(
            moves(part) or (isinstance(part, Call) and MOVES in _chance(program, part))
            for part in pair.targets
        ):
            continue
        if any(isinstance(part, Call) and _last(part) in _SUMMARIES for part in pair.targets):
            continue
        for part in pair.inputs:
            if part.node is None or id(part.node) in pair.target_places:
                continue
            by_chance = isinstance(part, Call) and MOVES in _chance(program, part)
            if by_chance or moves_by_chance(part, program.module_of(part.node)):
                yield part.node
                break


def _each_of_both(program: Program) -> Iterator[CallEvent]:
    """One call in a comprehension over the picture and its mask: it draws anew for each."""
    for event in (*program.calls, *calls_of_datasets(program)):
        call = event.call
        given = _picture(call) if MOVES in _chance(program, call) else None
        if not isinstance(given, Element):
            continue
        each = resolved(given.iterable)
        if not isinstance(each, Collection) or each.open or len(each.items) != 2 or _same_source(*each.items):
            continue
        in_both = any(id(call.node) in pair.input_places & pair.target_places for pair in learned(program))
        if in_both or names_a_target(program, event.node):
            yield event


def _pairs(program: Program) -> Iterator[tuple[CallEvent, CallEvent]]:
    """Two calls in one place that move what they are given by chance, each something else."""
    moving: dict[int, list[tuple[CallEvent, Value]]] = {}
    for event in (*program.calls, *calls_of_datasets(program)):
        call = event.call
        if MOVES not in _chance(program, call):
            continue
        given = _picture(call)
        if given is None:
            continue
        place = event.body
        earlier = moving.setdefault(id(place) if place is not None else 0, [])
        for first, known in earlier:
            if _are_two(program, first, known, event, given):
                yield first, event
                break
        earlier.append((event, given))


def _chance(program: Program, call: Call) -> frozenset[str]:
    """What a call changes by chance; asked once for each object that is called."""
    function = resolved(call.function)
    if not isinstance(function, Call | Function | Instance):
        return frozenset()
    kept: dict[int, tuple[Value, frozenset[str]]] = program.answers.setdefault("chance", {})
    key = (
        id(function.definition) if isinstance(function, Function) and function.owner is None else id(function)
    )
    if key not in kept:
        kept[key] = (function, chance(function))
    return kept[key][1]


def _picture(call: Call) -> Value | None:
    """What a transform is given: its only picture. None where it gets several."""
    given = [value for value in call.args if _may_be_picture(value)]
    named = [
        value
        for name, value in call.keywords.items()
        if name in ("image", "img", "images", "input", "x", "mask", "sample", "pic")
    ]
    if (
        len(given) + len(named) != 1
        or call.open
        or any(name in call.keywords for name in ("masks", "keypoints", "bboxes"))
    ):
        return None
    return same_numbers((given + named)[0])


def _may_be_picture(value: Value) -> bool:
    value = resolved(value)
    return not isinstance(value, Const)


def _are_two(program: Program, first: CallEvent, one: Value, second: CallEvent, other: Value) -> bool:
    if one is other or _same_item(one, other) or exclude_each_other(first, second):
        return False
    if any(part is first.call or part is one for part in walk(other)) or any(
        part is other for part in walk(one)
    ):
        return False
    if _same_source(one, other):
        return False
    return not _is_apart(program, first, second)


def _same_item(one: Value, other: Value) -> bool:
    """`self.images[i]` written twice."""
    if (
        not isinstance(one, Item)
        or not isinstance(other, Item)
        or resolved(one.base) is not resolved(other.base)
    ):
        return False
    nodes = (one.node, other.node)
    keys = [ast.dump(node.slice) for node in nodes if isinstance(node, ast.Subscript)]
    return len(keys) == 2 and keys[0] == keys[1]


def _same_source(one: Value, other: Value) -> bool:
    """Two copies of one picture: both come from the same reading."""
    reads = {id(part) for part in walk(one) if isinstance(part, Call) and part.qualified in READERS}
    again = {id(part) for part in walk(other) if isinstance(part, Call) and part.qualified in READERS}
    return bool(reads) and reads == again


def _is_apart(program: Program, first: CallEvent, second: CallEvent) -> bool:
    """Is a generator seeded, or its state set back, between two calls; or is the second on a path of its own?"""
    around = first.body
    events = program.events if around is None else tuple(around.events())
    for event in events:
        if not first.order < event.order < second.order:
            continue
        if event.kind == RETURN and event.body is around and event.block is first.block:
            return True
        if event.call is not None and is_seed(event.call):
            return True
        if event.target is not None and event.target.name in ("state", "seed"):
            return True
    return False
