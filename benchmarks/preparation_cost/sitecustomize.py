"""Notes what reaches a model and what it costs to get there, with netmend and without; benchmarks/preparation_cost.py puts it on the path of both.

A program begins with `import sitecustomize; sitecustomize.begin()`; then: a hash of all tensors handed to an outermost module or loss (inputs and targets), CPU and wall seconds until the first
backward pass, the final weights, the peak of memory.
"""

import atexit
import hashlib
import json
import os
import resource
import sys
import time
from importlib.machinery import PathFinder
from pathlib import Path

OUT = os.environ.get("PREPARATION_COST_OUT", "")
_seen = {"batches": hashlib.sha256(), "tensors": 0, "steps": 0}
_marks = {}
_depth = 0
_optimizers = {}


def begin():
    _marks["begin"] = _now()


def _now():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "wall": time.perf_counter(),
        "cpu": usage.ru_utime + usage.ru_stime,
        "memory": usage.ru_maxrss / 1024,
    }


def _after(name, action):
    """Call `action(module)` once a module has been executed."""

    class Finder:
        def find_spec(self, fullname, path=None, target=None):
            if fullname != name:
                return None
            spec = PathFinder.find_spec(fullname, path, target)
            if spec is None or spec.loader is None:
                return spec
            execute = spec.loader.exec_module

            def executed(module):
                execute(module)
                action(module)

            spec.loader.exec_module = executed
            sys.meta_path.remove(finder)
            return spec

    finder = Finder()
    sys.meta_path.insert(0, finder)


def _hash(torch, things):
    for thing in things:
        if isinstance(thing, torch.Tensor):
            _seen["tensors"] += 1
            data = thing.detach().cpu().contiguous()
            _seen["batches"].update(f"{thing.dtype}{tuple(thing.shape)}".encode())
            _seen["batches"].update(
                data.view(torch.uint8).numpy().tobytes() if data.dim() else str(data).encode()
            )
        elif isinstance(thing, (tuple, list)):
            _hash(torch, thing)
        elif isinstance(thing, dict):
            _hash(torch, thing.values())


def _watch(torch):
    torch.manual_seed(0)

    def outermost(function):
        def call(*args, **kwargs):
            global _depth
            if _depth == 0:
                _hash(torch, args)
                _hash(torch, kwargs.values())
            _depth += 1
            try:
                return function(*args, **kwargs)
            finally:
                _depth -= 1

        return call

    torch.nn.Module.__call__ = outermost(torch.nn.Module.__call__)
    functional = torch.nn.functional
    for name in (
        "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss",
        "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div",
    ):  # fmt: skip
        setattr(functional, name, outermost(getattr(functional, name)))
    backward = torch.Tensor.backward

    def first(self, *args, **kwargs):
        _marks.setdefault("first", _now())
        return backward(self, *args, **kwargs)

    torch.Tensor.backward = first

    def stepped(optimizer, *_):
        _seen["steps"] += 1
        _optimizers.setdefault(id(optimizer), optimizer)

    from torch.optim.optimizer import register_optimizer_step_post_hook

    register_optimizer_step_post_hook(stepped)

    def write():
        weights = hashlib.sha256()
        for optimizer in _optimizers.values():
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    weights.update(parameter.detach().cpu().contiguous().view(-1).numpy().tobytes())
        _marks["end"] = _now()
        result = {
            "batches": _seen["batches"].hexdigest(),
            "tensors": _seen["tensors"],
            "steps": _seen["steps"],
            "weights": weights.hexdigest(),
            "marks": _marks,
        }
        Path(OUT).write_text(json.dumps(result), encoding="utf-8")

    atexit.register(write)


def _unwatched(module):
    """netmend without its look at preparation."""
    module.LIBRARIES = ()


if OUT:
    _after("torch", _watch)
    _after("numpy", lambda numpy: numpy.random.seed(0))
    if os.environ.get("PREPARATION_COST_UNWATCHED"):
        _after("netmend.adapters.preparation.watch", _unwatched)
