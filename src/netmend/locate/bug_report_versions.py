"""Versions that a report names: of libraries, Python, CUDA, drivers and operating systems."""

from __future__ import annotations

import re

NUMBER = r"v?(?P<version>\d+(?:\.\d+){1,3}(?:[-.]?(?:a|b|rc|post|dev)\d*)?(?:\+[\w.]+)?(?:\.dev\d+)?)"
# how people call them → the name of the distribution (or of the part of the machine)
NAMES = {
    "pytorch": "torch",
    "torch": "torch",
    "libtorch": "torch",
    "torchvision": "torchvision",
    "torchaudio": "torchaudio",
    "torchtext": "torchtext",
    "tensorflow": "tensorflow",
    "tensorflow-gpu": "tensorflow",
    "tensorflow_gpu": "tensorflow",
    "tf": "tensorflow",
    "tf-nightly": "tensorflow",
    "tensorflow-addons": "tensorflow-addons",
    "tensorflow-probability": "tensorflow-probability",
    "keras": "keras",
    "jax": "jax",
    "jaxlib": "jaxlib",
    "flax": "flax",
    "mxnet": "mxnet",
    "mxnet-cu101": "mxnet",
    "mxnet-cu100": "mxnet",
    "chainer": "chainer",
    "cupy": "cupy",
    "theano": "theano",
    "cntk": "cntk",
    "numpy": "numpy",
    "scipy": "scipy",
    "pandas": "pandas",
    "scikit-learn": "scikit-learn",
    "sklearn": "scikit-learn",
    "h5py": "h5py",
    "protobuf": "protobuf",
    "opencv": "opencv-python",
    "opencv-python": "opencv-python",
    "pillow": "pillow",
    "matplotlib": "matplotlib",
    "numba": "numba",
    "onnx": "onnx",
    "onnxruntime": "onnxruntime",
    "pytorch-lightning": "pytorch-lightning",
    "pytorch_lightning": "pytorch-lightning",
    "lightning": "pytorch-lightning",
    "pytorch lightning": "pytorch-lightning",
    "pl": "pytorch-lightning",
    "torchmetrics": "torchmetrics",
    "transformers": "transformers",
    "tokenizers": "tokenizers",
    "datasets": "datasets",
    "accelerate": "accelerate",
    "deepspeed": "deepspeed",
    "apex": "apex",
    "horovod": "horovod",
    "ray": "ray",
    "gym": "gym",
    "gymnasium": "gymnasium",
    "dask": "dask",
    "pyspark": "pyspark",
    "spark": "spark",
    "redis": "redis",
    "setuptools": "setuptools",
    "pip": "pip",
    "allennlp": "allennlp",
    "spacy": "spacy",
    "nltk": "nltk",
    "fairseq": "fairseq",
    "mmcv": "mmcv",
    "mmcv-full": "mmcv-full",
    "mmdetection": "mmdet",
    "mmdet": "mmdet",
    "detectron2": "detectron2",
    "fastai": "fastai",
    "optuna": "optuna",
    "wandb": "wandb",
    "tensorboard": "tensorboard",
    "tensorboardx": "tensorboardx",
    "yaml": "pyyaml",
    "pyyaml": "pyyaml",
    "hydra": "hydra-core",
    "hydra-core": "hydra-core",
    "omegaconf": "omegaconf",
    "click": "click",
    "django": "django",
    "flask": "flask",
    "grpcio": "grpcio",
    "docker": "docker",
    "ninja": "ninja",
    "kornia": "kornia",
    "python": "python",
    "ipython": "ipython",
    "cuda": "cuda",
    "cudatoolkit": "cuda",
    "cuda toolkit": "cuda",
    "nvcc": "cuda",
    "cudnn": "cudnn",
    "nccl": "nccl",
    "nvidia driver": "driver",
    "gpu driver": "driver",
    "driver": "driver",
    "nvidia-driver": "driver",
    "gcc": "gcc",
    "g++": "gcc",
    "cmake": "cmake",
    "glibc": "glibc",
    "ubuntu": "ubuntu",
    "debian": "debian",
    "centos": "centos",
    "windows": "windows",
    "macos": "macos",
    "mac os": "macos",
    "mac os x": "macos",
    "osx": "macos",
    "os x": "macos",
    "mojave": "macos",
    "catalina": "macos",
    "linux": "linux",
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
LISTED = re.compile(
    rf"^\s*(?P<name>[a-z][\w-]+)\s{{2,}}{NUMBER}(?:\s{{2,}}\S+.*)?\s*$", re.MULTILINE
)  # pip list, conda list
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
