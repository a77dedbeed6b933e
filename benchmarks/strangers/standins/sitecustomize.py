"""What old public scripts expect around them, on a machine without a network: data sets that are already there, and plots nobody looks at."""

import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder

os.environ.setdefault("MPLBACKEND", "Agg")
DATA = os.environ.get("STRANGERS_DATA", "")


def _data_sets_are_here(module):
    """`torchvision.datasets`: whatever folder a script names, the files lie in STRANGERS_DATA and nothing is fetched."""
    for name in ("MNIST", "FashionMNIST", "KMNIST", "CIFAR10", "CIFAR100"):
        known = getattr(module, name, None)
        if known is None or known.__dict__.get("_here"):
            continue
        original = known.__init__

        def here(self, root=None, *args, _original=original, **options):
            options.pop("download", None)
            _original(self, DATA, *args[:3], **options)  # train, transform, target_transform

        known.__init__ = here
        if name.startswith("CIFAR"):
            known._check_integrity = lambda self: True  # made here: other bytes than the published ones
        known._here = True


class _AfterTorchvision(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name != "torchvision.datasets":
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def loaded(module):
            load(module)
            _data_sets_are_here(module)

        spec.loader.exec_module = loaded
        return spec


if DATA:
    sys.meta_path.insert(0, _AfterTorchvision())
