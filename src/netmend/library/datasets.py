"""Well-known data sets: how many classes they have, what a sample looks like, how they come."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dataset:
    """A data set of torchvision, or a loader of scikit-learn."""

    name: str
    classes: int = 0
    picture: tuple[int, int, int] | None = None  # channels, height, width
    stored_bytes: bool = False  # pictures lie in memory as numbers from 0 to 255
    trains_by_default: bool = False  # `train=True` unless told otherwise


DATASETS = (
    Dataset("MNIST", 10, (1, 28, 28), True, True),
    Dataset("FashionMNIST", 10, (1, 28, 28), True, True),
    Dataset("KMNIST", 10, (1, 28, 28), True, True),
    Dataset("EMNIST", 0, None, True, True),
    Dataset("QMNIST", 10, (1, 28, 28), True, True),
    Dataset("CIFAR10", 10, (3, 32, 32), True, True),
    Dataset("CIFAR100", 100, (3, 32, 32), True, True),
    Dataset("USPS", 10, None, True, True),
    Dataset("SVHN", 10, None, True),
    Dataset("STL10", 10),
    Dataset("Food101", 101),
    Dataset("Flowers102", 102),
    Dataset("GTSRB", 43),
    Dataset("DTD", 47),
    Dataset("EuroSAT", 10),
    Dataset("ImageNet", 1000),
    Dataset("OxfordIIITPet", 37),
    Dataset("StanfordCars", 196),
    Dataset("load_digits", 10),
    Dataset("load_iris", 3),
    Dataset("load_wine", 3),
    Dataset("load_breast_cancer", 2),
)

CLASSES = {each.name: each.classes for each in DATASETS if each.classes}
PICTURES = {each.name: each.picture for each in DATASETS if each.picture}
STORED_BYTES = frozenset(each.name for each in DATASETS if each.stored_bytes)
TRAIN_BY_DEFAULT = frozenset(each.name for each in DATASETS if each.trains_by_default)
