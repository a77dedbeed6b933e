"""One kind of evidence of an outer cause, and the names of libraries that expressions may hold as LIBRARY."""

from __future__ import annotations

import re
from dataclasses import dataclass

# libraries that deep-learning projects build on, as people write them
LIBRARIES = (
    "pytorch", "torch", "torchvision", "torchtext", "torchaudio", "tensorflow", "tensorflow-gpu", "tf", "tf2", "keras", "mxnet", "gluon", "jax", "flax", "chainer", "cupy", "theano", "numpy", "scipy", "pandas",
    "scikit-learn", "sklearn", "transformers", "huggingface", "tokenizers", "datasets", "tensorboard", "tensorboardx", "gym", "gymnasium", "pillow", "pil", "opencv", "cv2", "h5py", "protobuf", "spacy", "nltk", "dask",
    "redis", "hydra", "omegaconf", "wandb", "comet", "mlflow", "neptune", "visdom", "trains", "pyglet", "cython", "numba", "matplotlib", "seaborn", "plotly", "mmcv", "apex", "onnx", "onnxruntime", "boto", "boto3", "pyyaml",
    "ruamel", "pytest", "setuptools", "pip", "sacrebleu", "tqdm", "cuda", "cudnn", "nccl", "mpi", "openmpi", "python", "python3", "sphinx", "flask", "django", "elasticsearch", "smac", "hyperopt", "optuna", "xgboost", "lightgbm", "catboost",
    "horovod", "ray", "deepspeed", "dill", "cloudpickle", "pickle", "psutil", "requests", "click", "docker", "kubernetes", "ipython", "jupyter", "spark", "pyspark", "pyarrow", "arrow", "nibabel", "simpleitk", "librosa", "soundfile", "imgaug", "albumentations",
    "shapely", "pycocotools", "networkx", "sympy", "gensim", "fasttext", "allennlp", "fairseq", "pytorch-lightning", "lightning", "ignite", "catalyst", "pyro", "tensorflow-addons", "tensorflow-probability", "tfp", "addons", "mujoco", "conda", "bazel", "gcc", "cmake",
)  # fmt: skip
_LIBRARY = "(?:" + "|".join(sorted(map(re.escape, LIBRARIES), key=len, reverse=True)) + ")"
_VERSION = r"(?:version )?[=v]{0,3} ?\d+(?:\.\d+)+\w*"


@dataclass(frozen=True)
class Pattern:
    """A kind of evidence, the expression that finds it, and what outside the code to look at."""

    kind: str
    expression: re.Pattern[str]
    prior: float  # log-odds that it speaks of an outer cause, by judgement; training starts from their sum
    look_at: str  # library, system, python, device, service, installation
    title_only: bool = False
    of_library: bool = False  # counts only if the library it names is not the project itself


def pattern(
    kind: str,
    prior: float,
    look_at: str,
    *expressions: str,
    title_only: bool = False,
    of_library: bool = False,
) -> Pattern:
    text = "|".join(expressions).replace("LIBRARY", _LIBRARY).replace("VERSION", _VERSION)
    return Pattern(kind, re.compile(text, re.IGNORECASE), prior, look_at, title_only, of_library)
