from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value, constant
from netmend.program.meaning.evaluation_sets import evaluation_transforms
from netmend.program.meaning.loaders_of_models import steps_of, transform_name
from netmend.vocabulary.finding import Finding

HEAD = "from torchvision import datasets, transforms as T\n\naugment = T.Compose([T.RandomCrop(32, padding=4), T.RandomHorizontalFlip(), T.ToTensor()])\n"
_RANDOM = frozenset(
    ("ColorJitter", "AutoAugment", "TrivialAugmentWide", "AugMix", "ElasticTransform", "GaussianNoise", "ScaleJitter", "MixUp", "CutMix")
)  # fmt: skip


@register
class RandomAugmentationInEvaluation(StaticRule):
    """The test images go through random augmentation.

    Each evaluation then sees other, harder images: the result is too low, and changes from run to run, so models cannot be
    compared.

    Give the test set a transform of its own, with resizing, `ToTensor` and normalisation only.
    """

    code = "S508"
    cause = "PRE-TRAIN-TEST-SKEW"
    message = "Test images are changed at random here; give the evaluation a transform without random steps."
    triggers = ("Random", "ColorJitter", "AutoAugment", "TrivialAugment", "AugMix")

    GOOD = (
        Snippet("only training is augmented", HEAD + 'train = datasets.CIFAR10("data", train=True, transform=augment)\n'
                'test = datasets.CIFAR10("data", train=False, transform=T.ToTensor())\n'),
        Snippet("the middle is cut out", HEAD + 'test = datasets.CIFAR10("data", train=False, transform=T.Compose([T.CenterCrop(28), T.ToTensor()]))\n'),
        Snippet("by flag", HEAD + "def make(is_train):\n    return datasets.CIFAR10('data', train=is_train, transform=augment if is_train else T.ToTensor())\n"),
        Snippet("never applied", HEAD + 'test = datasets.CIFAR10("data", train=False, transform=T.Compose([T.RandomHorizontalFlip(p=0.0), T.ToTensor()]))\n'),
    )  # fmt: skip
    BAD = (
        Snippet("one transform for both", HEAD + 'train = datasets.CIFAR10("data", train=True, transform=augment)\n'
                'test = datasets.CIFAR10("data", train=False, transform=augment)\n', line=5),
        Snippet("in a dictionary", 'import torch\nfrom torchvision import transforms\nsteps = {\n    "train": transforms.Compose([transforms.RandomResizedCrop(224), '
                'transforms.ToTensor()]),\n    "val": transforms.Compose([transforms.RandomResizedCrop(224), transforms.ToTensor()]),\n}\n', line=5),
        Snippet("a split by name", "import torchvision.transforms as T\nfrom torchvision.datasets import SVHN\n"
                'data = SVHN("data", split="test", transform=T.Compose([T.ColorJitter(0.4), T.ToTensor()]))\n', line=3),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        seen: set[int] = set()
        for transform, place in evaluation_transforms(program):
            if id(place) in seen:
                continue
            if any(_is_random(step) for step in steps_of(transform) or ()):
                seen.add(id(place))
                yield self.finding(program, place)


def _is_random(step: Value) -> bool:
    if not isinstance(step, Call):
        return False
    name = transform_name(step)
    is_random = name in _RANDOM or (
        name.startswith("Random") and name not in ("RandomApply", "RandomOrder", "RandomChoice")
    )
    return is_random and constant(step.keywords.get("p"), 1) != 0
