from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Value, constant, resolved
from netmend.program.meaning.loaders_of_models import (
    image_set,
    split_of,
    steps_of,
    transform_name,
    transform_of,
)
from netmend.vocabulary.finding import Finding

HEAD = "from torchvision import datasets, transforms as T\n\n"
_CHARACTERS = frozenset(("MNIST", "EMNIST", "KMNIST", "QMNIST", "USPS", "SVHN", "Omniglot"))
_HALF_TURN = 120  # degrees; from here a 6 may become a 9


@register
class AugmentationChangesLabel(StaticRule):
    """Digits or letters are mirrored or turned upside down at random while their labels stay.

    A mirrored 2 is no 2, and a 6 on its head is a 9: the network is taught wrong answers, and it meets shapes that the test set never has.

    Leave flips out for characters; use small rotations, shifts and crops.
    """

    code = "S523"
    cause = "TRN-AUG-EXTRA"
    message = "Flipped or rotated digits and letters no longer match their labels; remove this step."
    triggers = ("Flip", "RandomRotation", "RandomAffine")
    needs = "torchvision"

    GOOD = (
        Snippet("other pictures", HEAD + "train = datasets.CIFAR10('data', train=True, transform=T.Compose([T.RandomHorizontalFlip(), T.ToTensor()]))\n"),
        Snippet("clothes", HEAD + "train = datasets.FashionMNIST('data', transform=T.Compose([T.RandomHorizontalFlip(), T.ToTensor()]))\n"),
        Snippet("a small turn", HEAD + "train = datasets.MNIST('data', transform=T.Compose([T.RandomRotation(10), T.ToTensor()]))\n"),
        Snippet("never", HEAD + "train = datasets.MNIST('data', transform=T.Compose([T.RandomHorizontalFlip(p=0), T.ToTensor()]))\n"),
        Snippet("by name of a shape", HEAD + "def make(kind):\n    return getattr(datasets, kind)('data', transform=T.Compose([T.RandomHorizontalFlip(), T.ToTensor()]))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("flipped digits", HEAD + "steps = T.Compose([T.RandomHorizontalFlip(), T.ToTensor()])\ntrain = datasets.MNIST('data', train=True, transform=steps)\n", line=3),
        Snippet("upside down", "import torchvision\nfrom torchvision.transforms import Compose, RandomRotation, ToTensor\n\ndef load():\n    return torchvision.datasets.SVHN(\n        'data',\n        split='train',\n"
                "        transform=Compose([\n            RandomRotation(180),\n            ToTensor(),\n        ]),\n    )\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        told: set[int] = set()
        for event in program.calls:
            if image_set(event.call) not in _CHARACTERS or split_of(event.call) == "test":
                continue
            for step in steps_of(transform_of(event.call)) or ():
                if (
                    isinstance(step, Call)
                    and step.node is not None
                    and id(step.node) not in told
                    and _changes(step)
                ):
                    told.add(id(step.node))
                    yield self.finding(program, step.node)


def _changes(step: Call) -> bool:
    name = transform_name(step)
    if name in ("RandomHorizontalFlip", "RandomVerticalFlip"):
        return bool(constant(step.argument("p", 0), 0.5) != 0)
    return name in ("RandomRotation", "RandomAffine") and _degrees(step.argument("degrees", 0)) >= _HALF_TURN


def _degrees(value: Value | None) -> float:
    value = resolved(value) if value is not None else None
    if isinstance(value, Collection) and value.items and not value.open:
        return max(_degrees(item) for item in value.items)
    number = constant(value)
    return abs(number) if isinstance(number, int | float) else 0
