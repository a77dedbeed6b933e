"""Seeds and generators of random numbers."""

from __future__ import annotations

import ast

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Function, Instance, Value, resolved
from netmend.program.meaning.loaders import LOADER_NAME, dataset_of
from netmend.program.meaning.settings import number
from netmend.program.text.queries import inside, names_in

HEAD = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset

class Noisy(Dataset):
    def __init__(self, x):
        self.x = x
        self.rng = {0}

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i] + {1}

"""
_GENERATORS = (
    "numpy.random.default_rng",
    "numpy.random.RandomState",
    "numpy.random.Generator",
    "random.Random",
)


class GeneratorCopiedToWorkers(StaticRule, code="S509", cause="LOOP-WORKER-SEED"):
    """A dataset keeps its own random generator and is read by several workers.

    Each worker gets a copy of the generator in the same state, and in every epoch anew. All workers draw the same "random"
    augmentation, and each epoch repeats that of the one before.

    Make the generator in the worker: `torch.utils.data.get_worker_info().seed`, or a `worker_init_fn`; or use `torch.rand`,
    which is seeded for each worker.
    """

    message = "All workers copy this generator and draw the same numbers, every epoch again; seed it in each worker."
    triggers = ("num_workers",)

    GOOD = (
        Snippet("no workers", HEAD.format("np.random.default_rng(0)", "self.rng.normal()") + "loader = DataLoader(Noisy(x), batch_size=8, num_workers=0)\n"),
        Snippet("seeded in each worker", HEAD.format("np.random.default_rng(0)", "self.rng.normal()")
                + "loader = DataLoader(Noisy(x), num_workers=4, worker_init_fn=reseed)\n"),
        Snippet("used once, in the main process", HEAD.format("np.random.default_rng(0)", "1") + "loader = DataLoader(Noisy(x), num_workers=4)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("numpy", HEAD.format("np.random.default_rng(0)", "self.rng.normal()") + "loader = DataLoader(Noisy(x), batch_size=8, num_workers=4)\n", line=15),
        Snippet("in a method", "import random\nimport torch.utils.data as data\n\nclass Crops(data.Dataset):\n    def __init__(self, images, seed=1):\n"
                "        self.images = images\n        self.random = random.Random(seed)\n\n    def crop(self, image):\n        k = self.random.randint(0, 8)\n"
                "        return image[k : k + 32]\n\n    def __getitem__(self, i):\n        return self.crop(self.images[i])\n\n"
                "WORKERS = 2\nloader = data.DataLoader(Crops(images), shuffle=True, num_workers=WORKERS)\n", line=17),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.calls_of(LOADER_NAME):
            call = event.call
            if call.open or "worker_init_fn" in call.keywords:
                continue
            dataset = dataset_of(call)
            workers = number(program, call.argument("num_workers", 5))
            if not workers or not isinstance(dataset, Instance):
                continue
            if not dataset.cls.inherits("torch.utils.data.Dataset"):
                continue
            if _mentions_worker(dataset):
                continue
            for name, value in dataset.attributes.items():
                made = resolved(value)
                if (
                    _is_generator(made)
                    and made.node is not None
                    and _draws(dataset, "__getitem__", name, set())
                ):
                    yield self.finding(program, event.node, see=[("The generator is made here.", made.node)])
                    break


def _is_generator(value: Value) -> bool:
    """A generator with a fixed start; one without a seed is copied too."""
    return isinstance(value, Call) and value.qualified in _GENERATORS


def _draws(dataset: Instance, method: str, name: str, seen: set[str]) -> bool:
    """Does a method, or one of the object's own methods that it calls, use `self.<name>.…()`?"""
    function: Function | None = dataset.cls.method(method)
    if function is None or method in seen or len(seen) > 20:
        return False
    seen.add(method)
    for part in inside(function.definition, ast.Call):
        if not isinstance(part.func, ast.Attribute):
            continue
        holder = part.func.value
        if (
            isinstance(holder, ast.Attribute)
            and holder.attr == name
            and getattr(holder.value, "id", "") == "self"
        ):
            return True
        if getattr(holder, "id", "") == "self" and _draws(dataset, part.func.attr, name, seen):
            return True
    return False


def _mentions_worker(dataset: Instance) -> bool:
    return "get_worker_info" in names_in(dataset.cls.definition)


_SEEDS = (
    "numpy.random.seed",
    "pytorch_lightning.seed_everything",
    "lightning.seed_everything",
    "transformers.set_seed",
    "accelerate.utils.set_seed",
)


class SeedOfNumpyMissing(StaticRule, code="S720", cause="LOOP-SEED", advisory=True):
    """The program seeds torch but draws random numbers with numpy, which nothing seeds.

    torch and numpy (and Python's `random`) have generators of their own. Two runs with the same seed then still differ, which
    makes a fault hard to find again.

    Seed all that are used: `np.random.seed(seed)`, or better a generator `np.random.default_rng(seed)`.
    """

    message = "torch is seeded, numpy's generator is not; call np.random.seed(seed) too."
    triggers = ("manual_seed",)

    GOOD = (
        Snippet(
            "both",
            "import numpy as np\nimport torch\n\ntorch.manual_seed(0)\nnp.random.seed(0)\nx = np.random.rand(3)\n",
        ),
        Snippet(
            "a generator",
            "import numpy as np\nimport torch\n\ntorch.manual_seed(0)\nx = np.random.default_rng(0).random(3)\n",
        ),
        Snippet(
            "numpy draws nothing",
            "import numpy as np\nimport torch\n\ntorch.manual_seed(0)\nx = np.zeros(3)\n",
        ),
    )
    BAD = (
        Snippet(
            "in a script",
            "import numpy as np\nimport torch\n\ntorch.manual_seed(0)\norder = np.random.permutation(100)\n",
            line=5,
        ),
        Snippet(
            "in a function",
            "import numpy as np\nimport torch\n\ndef main(seed):\n    torch.manual_seed(seed)\n    return np.random.randn(10, 3)\n",
            line=6,
        ),
    )

    def check(self, program: Program) -> Findings:
        seeds = program.calls_of("torch.manual_seed")
        if not seeds or program.calls_of(*_SEEDS) or "random.seed" in program.text:
            return
        for event in program.calls:
            call = event.call
            if (
                isinstance(call, Call)
                and call.qualified.startswith("numpy.random.")
                and call.qualified.count(".") == 2
            ):
                name = call.qualified.rpartition(".")[2]
                is_draw = name[:1].islower() and name not in ("default_rng", "get_state", "set_state")
                if is_draw and any(
                    program.entry_of(seed) is program.entry_of(event) and seed.order < event.order
                    for seed in seeds
                ):
                    yield self.finding(program, event.node)
                    return
