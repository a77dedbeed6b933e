"""Masks of class numbers whose values are mixed when they get another size."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.library.operations import COMPARISONS, INTEGERS
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Call,
    Collection,
    Const,
    Element,
    Item,
    Name,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.batches import calls_of_datasets, part_of_batch
from netmend.program.meaning.losses import LossUse, ends_in, loss_uses, width
from netmend.program.meaning.operations import operation, parts_of, reached
from netmend.program.meaning.pairs import names_a_target
from netmend.program.meaning.resizing import mixing
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Fix

HEAD = """\
import cv2
import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

class Scans(Dataset):
    def __init__(self, files):
        self.files = files

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        image = cv2.resize(cv2.imread(f"{self.files[i]}.png"), (64, 64), interpolation=cv2.INTER_AREA)
"""
FIT = """
net = torch.nn.Conv2d(3, 5, 3, padding=1)
opt = torch.optim.Adam(net.parameters())
for x, y in DataLoader(Scans(names), batch_size=8):
    opt.zero_grad()
    torch.nn.functional.{0}(net(x), y).backward()
    opt.step()
"""
LOOP = FIT.format("cross_entropy")
X = "        x = torch.from_numpy(image).permute(2, 0, 1).float()\n"
_CONVERSIONS = frozenset(
    (
        "torch.long",
        "torch.int64",
        "torch.int32",
        "numpy.int64",
        "numpy.int32",
        "torch.int",
        "int",
        "torch.LongTensor",
    )
)
_ENDS = frozenset(
    (
        *COMPARISONS,
        "argmax",
        "argmin",
        "isin",
        "searchsorted",
        "digitize",
        "unique",
        "one_hot",
        "where",
        "threshold",
        "equal",
        "greater",
        "less",
        "logical_and",
    )
)


class ClassNumbersMixed(StaticRule, code="S962", cause="PRE-WRONG-STEP"):
    """A mask of class numbers gets another size by a method that averages neighbouring pixels.

    Between a pixel of class 1 and one of class 4 lies 2.5, and classes 2 and 3 appear where nobody marked them, all along the borders; thin things
    vanish. The network learns these invented borders.

    Take the nearest pixel for masks: `cv2.INTER_NEAREST`, `Image.NEAREST`, `order=0`, `mode="nearest"`. Pictures may be averaged.
    """

    message = "This mask holds class numbers and is resized with {0}, which averages them: other classes appear along every border. Take the nearest pixel for the mask: {1}."
    triggers = (
        "resize",
        "zoom",
        "rotate",
        "warp",
        "interpolate",
        "Resize",
        "pool",
        "rescale",
        "shrink",
        "downscale",
    )

    GOOD = (
        Snippet("the nearest pixel", HEAD + "        mask = cv2.resize(cv2.imread(f'{self.files[i]}_m.png', 0), (64, 64), interpolation=cv2.INTER_NEAREST)\n" + X
                + "        return x, torch.from_numpy(mask).long()\n" + LOOP),
        Snippet("a covered share", HEAD + "        mask = cv2.resize(cv2.imread(f'{self.files[i]}_m.png', 0), (64, 64)) / 255.0\n" + X
                + "        return x, torch.from_numpy(mask).float()\n" + FIT.format("binary_cross_entropy_with_logits")),
        Snippet("a threshold behind it", HEAD + "        mask = cv2.resize(cv2.imread(f'{self.files[i]}_m.png', 0), (64, 64)) > 127\n" + X
                + "        return x, torch.from_numpy(mask).long()\n" + LOOP),
        Snippet("two classes are rounded", HEAD + "        mask = cv2.resize(cv2.imread(f'{self.files[i]}_m.png', 0), (64, 64))\n" + X
                + "        return x, torch.from_numpy(mask).long()\n" + LOOP.replace("5, 3", "2, 3")),
        Snippet("pairs in a list", "import cv2\nimport numpy as np\nimport torch\n\ndef read(n):\n    x = cv2.resize(cv2.imread(n), (64, 64))\n"
                "    y = cv2.resize(cv2.imread(n + 'm', 0), (64, 64), interpolation=cv2.INTER_NEAREST)\n    return x, y\n\npairs = [read(n) for n in names]\n"
                "X = torch.tensor(np.stack([a for a, _ in pairs]))\nY = torch.tensor(np.stack([b for _, b in pairs])).long()\nnet = torch.nn.Conv2d(3, 5, 3)\n"
                "torch.nn.functional.cross_entropy(net(X), Y).backward()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("the default of cv2", HEAD + "        mask = cv2.imread(f'{self.files[i]}_m.png', cv2.IMREAD_GRAYSCALE)\n        mask = cv2.resize(mask, (64, 64))\n" + X
                + "        return x, torch.from_numpy(mask).long()\n" + LOOP, line=17),
        mended("said so", HEAD + "        mask = cv2.imread(f'{self.files[i]}_m.png', 0)\n        mask = cv2.resize(mask, (64, 64), interpolation=⟨cv2.INTER_LINEAR → cv2.INTER_NEAREST⟩)\n" + X
               + "        return x, torch.from_numpy(mask.astype(np.int64))\n" + LOOP),
        mended("Pillow", HEAD + "        label = Image.open(f'{self.files[i]}_m.png').resize((64, 64), ⟨Image.BILINEAR → Image.NEAREST⟩)\n" + X
               + "        return x, torch.as_tensor(np.array(label), dtype=torch.long)\n"),
        Snippet("a function for both", "import cv2\nimport numpy as np\nimport torch\n\ndef shrink(a):\n    return cv2.resize(a, (32, 32), interpolation=cv2.INTER_AREA)\n\n"
                "X = torch.stack([torch.tensor(shrink(p)) for p in pictures])\nY = torch.from_numpy(np.stack([shrink(m) for m in masks])).long()\nnet = torch.nn.Conv2d(3, 5, 3)\n"
                "torch.nn.functional.cross_entropy(net(X), Y).backward()\n", line=6),
        Snippet("tensors", "import torch\nimport torch.nn.functional as F\nnet = torch.nn.Conv2d(3, 5, 3)\nfor x, m in loader:\n"
                "    y = F.interpolate(m[:, None].float(), size=(32, 32), mode='bilinear').squeeze(1).long()\n    F.cross_entropy(net(x), y).backward()\n", line=5),
        Snippet("skimage", "from skimage.transform import resize\n" + HEAD + "        mask = resize(np.load(f'{self.files[i]}_m.npy'), (64, 64), preserve_range=True)\n" + X
                + "        return x, torch.from_numpy(mask).long()\n" + LOOP, line=17),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        told: set[int] = set()
        for call in (*_of_targets(program), *_by_name(program)):
            node = call.node
            if node is None or id(node) in told:
                continue
            told.add(id(node))
            text = self.message.format(mixing(call), _nearest(call))
            yield self.finding(program, node, text, fix=_fix(program, call))


def _of_targets(program: Program) -> Iterator[Call]:
    """Calls that a target of class numbers has gone through."""
    for use in loss_uses(program):
        if use.kind in ("cross_entropy", "nll") and use.target is not None and not _has_two_classes(use):
            for call, is_whole in _resized(program, use.target, whole=use.kind == "nll"):
                if is_whole:
                    yield call


def _has_two_classes(use: LossUse) -> bool:
    ops = ends_in(use.prediction, ("conv2d", "linear", "convtranspose2d"))
    return any(width(op) in (1, 2) for op in ops)


def _by_name(program: Program) -> Iterator[Call]:
    """Calls on what is called a mask or a label, whose result is turned into whole numbers; where no loss is seen."""
    if any(use.target is not None for use in loss_uses(program)):
        return
    for event in (*program.calls, *calls_of_datasets(program)):
        if _makes_whole(event.call):
            for call, _ in _resized(program, event.call, whole=True):
                if call.node is not None and names_a_target(program, call.node):
                    yield call


def _resized(program: Program, target: Value, *, whole: bool) -> Iterator[tuple[Call, bool]]:
    """Calls that mix pixels on the way to a value, each with whether the result is turned into whole numbers afterwards."""
    whole_parts: set[int] = {id(resolved(target))} if whole else set()

    def parts(part: Value) -> Iterator[Value]:
        if isinstance(part, Call) and part.result is None and mixing(part):
            return
        if isinstance(part, Operation) and part.operator in (
            "==",
            "!=",
            "<",
            ">",
            "<=",
            ">=",
            "and",
            "or",
            "not",
        ):
            return
        if isinstance(part, Call) and _last_name(part) in _ENDS:
            return
        inner = list(_picked(program, part))
        if id(part) in whole_parts or (isinstance(part, Call) and _makes_whole(part)):
            whole_parts.update(map(id, inner))
        yield from inner

    for part in reached(target, parts):
        if isinstance(part, Call) and part.result is None and mixing(part):
            yield part, id(part) in whole_parts


def _picked(program: Program, part: Value) -> Iterator[Value]:
    """What a value is computed from; of a pair in a list only the place that is taken."""
    place = part_of_batch(program, part)
    if place is not None and place.value is not None:
        yield place.value
        return
    key = constant(part.key) if isinstance(part, Item) else None
    if not isinstance(part, Item) or not isinstance(key, int):
        yield from parts_of(part)
        return
    base = resolved(part.base)
    if isinstance(base, Element):
        base = resolved(base.iterable)
        pairs = [resolved(item) for item in base.items] if isinstance(base, Collection) else []
    else:
        pairs = [base]
    if not isinstance(base, Collection):
        if not isinstance(resolved(part.base), Element):
            yield part.base
        return
    for pair in pairs:
        if isinstance(pair, Collection) and -len(pair.items) <= key < len(pair.items):
            yield pair.items[key]


def _makes_whole(call: Call) -> bool:
    """Does a call turn what it is given into whole numbers?"""
    name = _last_name(call)
    if name in (*INTEGERS, "LongTensor"):
        return True
    if name in ("to", "type", "astype", "tensor", "as_tensor", "array", "asarray"):
        return any(_is_whole_type(value) for value in (*call.args, *call.keywords.values()))
    return False


def _is_whole_type(value: Value) -> bool:
    value = resolved(value)
    if isinstance(value, Const):
        return value.value in ("int64", "int32", "long", "int")
    return isinstance(value, Name) and value.qualified in _CONVERSIONS


def _last_name(call: Call) -> str:
    op = operation(call)
    return (call.qualified or call.method).rpartition(".")[2] or (op.name if op is not None else "")


def _nearest(call: Call) -> str:
    name = call.qualified
    if name.startswith("cv2."):
        return "cv2.INTER_NEAREST"
    if name.startswith(("scipy.", "skimage.")):
        return "order=0"
    if call.method == "resize":
        return "Image.NEAREST"
    return 'mode="nearest"' if "nterpolat" in _last_name(call) else "InterpolationMode.NEAREST"


def _fix(program: Program, call: Call) -> Fix | None:
    """Only where the call is the mask's own: a function for pictures and masks needs an argument."""
    if call.node is None or not names_a_target(program, call.node) or not call.node.args:
        return None
    given = next(
        (call.argument(name) for name in ("interpolation", "resample") if name in call.keywords), None
    )
    if given is None and call.method == "resize":
        given = call.argument("resample", 1)
    if given is None or given.node is None:
        return None
    return Fix("Take the nearest pixel", replace(program, given.node, _nearest(call)))
