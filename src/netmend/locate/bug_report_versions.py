"""Versions that a report names: of libraries, Python, CUDA, drivers and operating systems."""

from __future__ import annotations

import re

NUMBER = r"v?(?P<version>\d+(?:\.\d+){1,3}(?:[-.]?(?:a|b|rc|post|dev)\d*)?(?:\+[\w.]+)?(?:\.dev\d+)?)"
# how the distribution (or the part of the machine) is called, also by people …
_PLAIN = """
torch torchvision torchaudio torchtext tensorflow tensorflow-addons tensorflow-probability keras jax
jaxlib flax mxnet chainer cupy theano cntk numpy scipy pandas scikit-learn h5py protobuf opencv-python
pillow matplotlib numba onnx onnxruntime pytorch-lightning torchmetrics transformers tokenizers datasets
accelerate deepspeed apex horovod ray gym gymnasium dask pyspark spark redis setuptools pip allennlp
spacy nltk fairseq mmcv mmcv-full mmdet detectron2 fastai optuna wandb tensorboard tensorboardx pyyaml
hydra-core omegaconf click django flask grpcio docker ninja kornia python ipython cuda cudnn nccl driver
gcc cmake glibc ubuntu debian centos windows macos linux
"""
# … and what else people call it
_ALSO = {
    "torch": ("pytorch", "libtorch"),
    "tensorflow": ("tensorflow-gpu", "tensorflow_gpu", "tf", "tf-nightly"),
    "mxnet": ("mxnet-cu101", "mxnet-cu100"),
    "scikit-learn": ("sklearn",),
    "opencv-python": ("opencv",),
    "pytorch-lightning": ("pytorch_lightning", "lightning", "pytorch lightning", "pl"),
    "mmdet": ("mmdetection",),
    "pyyaml": ("yaml",),
    "hydra-core": ("hydra",),
    "cuda": ("cudatoolkit", "cuda toolkit", "nvcc"),
    "driver": ("nvidia driver", "gpu driver", "nvidia-driver"),
    "gcc": ("g++",),
    "macos": ("mac os", "mac os x", "osx", "os x", "mojave", "catalina"),
}
NAMES = {name: name for name in _PLAIN.split()} | {
    also: name for name, many in _ALSO.items() for also in many
}
_ALTERNATIVES = "|".join(
    sorted((re.escape(name).replace(r"\ ", r"\s") for name in NAMES), key=len, reverse=True)
)
# "PyTorch version (e.g., 1.0): 1.6.0", "CUDA/cuDNN version: 10.1 / 7.6.5", "torch==1.4.0", "tensorflow-gpu   2.0.0, binary", "Python 3.7.3"
VERSION = re.compile(
    rf"(?<![\w./-])(?P<name>{_ALTERNATIVES})(?![\w-])"
    r"(?:\s*\([^()\n]{0,60}\))?(?:\s+(?:runtime\s+)?version\w*|\s+Platform and Distribution)?(?:\s*\([^()\n]{0,60}\))?"
    rf"\s*[\"'`]?(?:===?|~=|>=|<=|[:=|@-])?>?\s*[\"'`]?(?:is\s+|was\s+)?{NUMBER}",
    re.IGNORECASE,
)
PINNED = re.compile(rf"(?<![\w./-])(?P<name>[A-Za-z][\w.-]*)==\s*{NUMBER}")
# pip list, conda list
LISTED = re.compile(rf"^\s*(?P<name>[a-z][\w-]+)\s{{2,}}{NUMBER}(?:\s{{2,}}\S+.*)?\s*$", re.MULTILINE)
BOTH = re.compile(
    r"\bCUDA\s*/\s*cuDNN version\s*:\s*(?:CUDA\s*)?(?P<cuda>\d+(?:\.\d+)+)(?:\s*[/,]\s*(?:cuDNN\s*)?(?P<cudnn>\d+(?:\.\d+)+))?",
    re.IGNORECASE,
)
WINDOWS = re.compile(r"\bwin(?:dows)?\s?(?P<version>7|8|10|11)\b", re.IGNORECASE)


def versions_in(text: str) -> tuple[tuple[str, str], ...]:
    """Pairs of name and version, once each, in the order of the text."""
    found: dict[tuple[str, str], int] = {}
    for match in VERSION.finditer(text):
        name = re.sub(r"\s", " ", match["name"].lower())
        found.setdefault((NAMES[name], match["version"].lower()), match.start())
    for pattern in (PINNED, LISTED):
        for match in pattern.finditer(text):
            name = match["name"].lower()
            found.setdefault((NAMES.get(name, name), match["version"].lower()), match.start())
    for match in BOTH.finditer(text):
        for name in ("cuda", "cudnn"):
            if match[name]:
                found.setdefault((name, match[name]), match.start())
    for match in WINDOWS.finditer(text):
        found.setdefault(("windows", match["version"]), match.start())
    return tuple(sorted(found, key=lambda pair: found[pair]))
