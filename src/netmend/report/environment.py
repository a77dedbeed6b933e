"""A checked environment as it is told: the outcome, what is wrong and what to do, then the facts; and its JSON (docs/env.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from netmend.environment.check import Checked
from netmend.environment.facts import Environment, Problem
from netmend.report.content import Document, Remark
from netmend.report.machine import Fields

ENVIRONMENT = Fields("bad", "problems", "environment", "paths")

# what a report about a training needs; everything else is in the JSON
SHOWN = (
    "torch", "torchvision", "torchaudio", "torchtext", "tensorflow", "keras", "tf-keras", "jax", "jaxlib", "flax", "mxnet", "numpy", "scipy", "pandas", "scikit-learn", "pillow", "opencv-python",
    "h5py", "protobuf", "lightning", "pytorch-lightning", "torchmetrics", "transformers", "tokenizers", "accelerate", "datasets", "deepspeed", "bitsandbytes", "triton", "xformers", "onnx", "onnxruntime",
    "ray", "gymnasium", "gym", "stable-baselines3", "optuna", "tensorboard", "wandb", "setuptools", "pip", "nvidia-cudnn-cu11", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13", "nvidia-nccl-cu11", "nvidia-nccl-cu12", "nvidia-nccl-cu13", "netmend",
)  # fmt: skip


def environment_document(checked: Checked) -> Document:
    """The outcome first, then what a person can do about it, then the facts."""
    bad = sum(problem.level == "bad" for problem in checked.problems)
    rest = len(checked.problems) - bad
    if bad:
        tone, words = "bad", f"{bad} problem{'s' * (bad > 1)} found."
    elif rest:
        tone, words = "warn", f"No known problems; {rest} thing{'s' * (rest > 1)} worth knowing."
    else:
        tone, words = "good", "No known problems."
    facts = tuple(fact_remarks(checked.environment))
    return Document(tone, words, (tuple(problem_remarks(checked.problems)), facts, tuple(_paths(checked))))


def _paths(checked: Checked) -> Iterator[Remark]:
    for one in checked.paths:
        words = f"{one.path}: {one.kind}, {one.files:,} files{' or more' * one.cut}, {_size(one.size)}"
        yield Remark("data", words)


def problem_remarks(problems: Iterable[Problem]) -> Iterator[Remark]:
    for problem in problems:
        label, tone = ("wrong", "bad") if problem.level == "bad" else ("note", "warn")
        yield Remark(label, problem.what, tone=tone)
        yield Remark("  do", problem.do)
        if problem.source.startswith("http"):
            yield Remark("  see", problem.source, tone="muted")


def fact_remarks(environment: Environment) -> Iterator[Remark]:
    yield Remark("python", f"{environment.python} ({environment.implementation}, {environment.executable})")
    libc = f", {environment.libc}" if environment.libc else ""
    yield Remark("system", f"{environment.release}, {environment.machine}{libc}")
    memory = f"{_size(environment.memory)} memory" if environment.memory else "memory unknown"
    free = f" ({_size(environment.memory_free)} free)" if environment.memory_free is not None else ""
    cores = f"{environment.cores} core{'s' * (environment.cores != 1)}, " if environment.cores else ""
    yield Remark("machine", f"{cores}{memory}{free}")
    if environment.gpus:
        for gpu in environment.gpus:
            memory = _size(gpu.memory) if gpu.memory else ""
            capability = f"capability {gpu.capability}" if gpu.capability else ""
            extra = ", ".join(filter(None, (memory, capability)))
            yield Remark("device", f"{gpu.name}{f' ({extra})' if extra else ''}")
        yield Remark("driver", f"{environment.driver}")
    else:
        driver = f", driver {environment.driver}" if environment.driver else ""
        yield Remark("device", f"no NVIDIA GPU found{driver}")
    if torch := environment.torch:
        build = f"CUDA {torch.cuda}" if torch.cuda else f"ROCm {torch.hip}" if torch.hip else "CPU only"
        yield Remark("torch", f"{torch.version}, built for {build}")
    packages = environment.packages
    named = [f"{name} {packages[name]}" for name in SHOWN if name in packages and name != "torch"]
    usual = ", ".join(named) or "none of the usual ones"
    yield Remark("packages", f"{usual}; {len(packages)} in all (--json lists them)")
    for space in environment.spaces:
        yield Remark("disk", f"{space.path}: {_size(space.free)} of {_size(space.total)} free")
    if shared := environment.shared_memory:
        yield Remark("shared", f"{shared.path}: {_size(shared.free)} of {_size(shared.total)} free")
    if environment.open_files:
        yield Remark("limits", f"{environment.open_files:,} open files")
    if environment.variables:
        named = [f"{name}={value[:60]}" for name, value in environment.variables.items()]
        yield Remark("variables", ", ".join(named), tone="muted")


def _size(count: int | None) -> str:
    if count is None:
        return "unknown"
    for unit, size in (("TB", 1024**4), ("GB", 1024**3), ("MB", 1024**2), ("kB", 1024)):
        if count >= size:
            return f"{count / size:.1f} {unit}" if count < 100 * size else f"{count / size:.0f} {unit}"
    return f"{count} bytes"
