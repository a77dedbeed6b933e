"""Transforms of images."""

from __future__ import annotations

import ast

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Value, constant, resolved
from netmend.program.meaning.loaders import image_set, split_of, steps_of, transform_name, transform_of
from netmend.program.meaning.statements import exchanged
from netmend.vocabulary.finding import Fix

ORDER_HEAD = "from torchvision import transforms as T\n\n"
# These need images of PIL or leave them as they are; whatever stands before them is no tensor yet.
_TAKE_IMAGES = frozenset(
    ["Resize", "CenterCrop", "RandomCrop", "RandomResizedCrop", "RandomHorizontalFlip", "RandomVerticalFlip", "RandomRotation", "ColorJitter",
     "Grayscale", "RandomGrayscale", "Pad", "FiveCrop", "RandomAffine", "RandomPerspective", "AutoAugment", "RandAugment", "TrivialAugmentWide"]
)  # fmt: skip
# These take values from 0 to 1 (or bytes) for granted.
_TAKE_COLOURS = frozenset(
    ["ColorJitter", "RandomAutocontrast", "RandomEqualize", "RandomPosterize", "RandomSolarize", "RandomAdjustSharpness", "AutoAugment", "RandAugment",
     "TrivialAugmentWide", "AugMix"]
)  # fmt: skip


class TransformsInWrongOrder(StaticRule, code="S515", cause="PRE-WRONG-STEP"):
    """In a `Compose`, `Normalize` stands before `ToTensor`, `ToTensor` stands twice, or colours are changed after `Normalize`.

    `Normalize` and `RandomErasing` work on tensors and `ToTensor` on images, so the first sample that is loaded stops the program. Colour
    steps (`ColorJitter`, `RandAugment`, …) take values from 0 to 1 and cut off what lies outside: after `Normalize` half of the
    picture is lost without a word.

    Change the picture, convert once, then normalise: `Compose([Resize(...), ColorJitter(...), ToTensor(), Normalize(...)])`.
    """

    message = "Normalize needs a tensor; put ToTensor before it."
    triggers = ("ToTensor", "Normalize")
    needs = "transforms"

    GOOD = (
        Snippet(
            "converted, then normalised",
            ORDER_HEAD + "steps = T.Compose([T.Resize(32), T.ToTensor(), T.Normalize(0.5, 0.5)])\n",
        ),
        Snippet(
            "back to an image between",
            ORDER_HEAD
            + "steps = T.Compose([T.ToTensor(), T.Normalize(0.5, 0.5), T.ToPILImage(), T.Resize(8), T.ToTensor()])\n",
        ),
        Snippet(
            "a step that is not known",
            ORDER_HEAD
            + "steps = T.Compose([to_tensor, T.Normalize(0.5, 0.5), T.Lambda(to_image), T.ToTensor()])\n",
        ),
        Snippet(
            "tensors come in", ORDER_HEAD + "steps = T.Compose([T.Normalize(0.5, 0.5), T.RandomErasing()])\n"
        ),
    )
    BAD = (
        mended("normalised first", ORDER_HEAD + "steps = T.Compose([T.Resize(32), T.⟨Normalize((0.5,), (0.5,)), T.ToTensor() → ToTensor(), T.Normalize((0.5,), (0.5,))⟩])\n"),
        Snippet("colours last", ORDER_HEAD + "steps = T.Compose([\n    T.ToTensor(),\n    T.Normalize((0.5, 0.5, 0.5), (0.5, 0.5, 0.5)),\n    T.ColorJitter(0.4, 0.4),\n])\n", line=6),
        Snippet("an image is erased", ORDER_HEAD + "def steps():\n    return T.Compose([T.Resize(32), T.RandomErasing(), T.ToTensor()])\n", line=4),
        Snippet("converted twice", "import torchvision.transforms as transforms\nbasic = [transforms.ToTensor()]\n"
                "steps = transforms.Compose([transforms.ToTensor(), transforms.Resize(32), transforms.ToTensor()])\n", line=3),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.calls_of("torchvision.transforms.Compose", "torchvision.transforms.v2.Compose"):
            steps = steps_of(event.call)
            if steps is None:
                continue
            names = [transform_name(step) for step in steps]
            normalised = names.index("Normalize") if "Normalize" in names else len(names)
            for at in range(normalised + 1, len(names)):
                node = steps[at].node
                if names[at] in _TAKE_COLOURS and node is not None and not _is_undone(names[normalised:at]):
                    text = f"{names[at]} expects values from 0 to 1 and clips the others; put it before Normalize."
                    yield self.finding(program, node, text)
            if "ToTensor" not in names:
                continue
            first = names.index("ToTensor")
            early = names[:first]
            if "RandomErasing" in early and all(
                name in _TAKE_IMAGES or name == "RandomErasing" for name in early
            ):
                node = steps[early.index("RandomErasing")].node
                if node is not None:
                    yield self.finding(program, node, "RandomErasing needs a tensor; put it after ToTensor.")
            if "Normalize" in early and all(name in _TAKE_IMAGES or name == "Normalize" for name in early):
                at = early.index("Normalize")
                node = steps[at].node
                if node is not None:
                    yield self.finding(program, node, fix=self._fix(program, steps, at, first))
            second = next((at for at in range(first + 1, len(names)) if names[at] == "ToTensor"), None)
            if second is not None and all(
                name in _TAKE_IMAGES or name == "Normalize" for name in names[first + 1 : second]
            ):
                node = steps[second].node
                if node is not None:
                    yield self.finding(
                        program,
                        node,
                        "ToTensor was already applied and fails on a tensor; drop the second one.",
                    )

    def _fix(self, program: Program, steps: tuple[Value, ...], at: int, first: int) -> Fix | None:
        one, other = steps[at].node, steps[first].node
        if one is None or other is None or first != at + 1 or not isinstance(program.parent(one), ast.List):
            return None
        if program.parent(one) is not program.parent(other):
            return None
        return Fix("Convert before normalising", exchanged(program, one, other), "safe")


def _is_undone(names: list[str]) -> bool:
    """May a step between bring the values back to 0…1?"""
    return any(not name or name in ("Lambda", "ToPILImage") for name in names)


LABEL_HEAD = "from torchvision import datasets, transforms as T\n\n"
_CHARACTERS = frozenset(("MNIST", "EMNIST", "KMNIST", "QMNIST", "USPS", "SVHN", "Omniglot"))
_HALF_TURN = 120  # degrees; from here a 6 may become a 9


class AugmentationChangesLabel(StaticRule, code="S523", cause="TRN-AUG-EXTRA"):
    """Digits or letters are mirrored or turned upside down at random while their labels stay.

    A mirrored 2 is no 2, and a 6 on its head is a 9: the network is taught wrong answers, and it meets shapes that the test set never has.

    Leave flips out for characters; use small rotations, shifts and crops.
    """

    message = "Flipped or rotated digits and letters no longer match their labels; remove this step."
    triggers = ("Flip", "RandomRotation", "RandomAffine")
    needs = "torchvision"

    GOOD = (
        Snippet("other pictures", LABEL_HEAD + "train = datasets.CIFAR10('data', train=True, transform=T.Compose([T.RandomHorizontalFlip(), T.ToTensor()]))\n"),
        Snippet("a small turn", LABEL_HEAD + "train = datasets.MNIST('data', transform=T.Compose([T.RandomRotation(10), T.ToTensor()]))\n"),
        Snippet("never", LABEL_HEAD + "train = datasets.MNIST('data', transform=T.Compose([T.RandomHorizontalFlip(p=0), T.ToTensor()]))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("flipped digits", LABEL_HEAD + "steps = T.Compose([T.RandomHorizontalFlip(), T.ToTensor()])\ntrain = datasets.MNIST('data', train=True, transform=steps)\n", line=3),
        Snippet("upside down", "import torchvision\nfrom torchvision.transforms import Compose, RandomRotation, ToTensor\n\ndef load():\n    return torchvision.datasets.SVHN(\n        'data',\n        split='train',\n"
                "        transform=Compose([\n            RandomRotation(180),\n            ToTensor(),\n        ]),\n    )\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.calls:
            if image_set(event.call) not in _CHARACTERS or split_of(event.call) == "test":
                continue
            for step in steps_of(transform_of(event.call)) or ():
                if isinstance(step, Call) and _changes(step):
                    yield self.finding(program, step.node)


def _changes(step: Call) -> bool:
    name = transform_name(step)
    if name in ("RandomHorizontalFlip", "RandomVerticalFlip"):
        return bool(constant(step.argument("p", 0), 0.5) != 0)
    return name in ("RandomRotation", "RandomAffine") and _degrees(step.argument("degrees", 0)) >= _HALF_TURN


def _degrees(value: Value | None) -> float:
    value = resolved(value)
    if isinstance(value, Collection) and value.items and not value.open:
        return max(_degrees(item) for item in value.items)
    number = constant(value)
    return abs(number) if isinstance(number, int | float) else 0
