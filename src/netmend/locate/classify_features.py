"""A bug report as named numbers: its words, weighted by where they stand, what they mean, and rules about its form.

The words are split and cut here, not by words.py: the shipped weights belong to exactly this reading.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from netmend.errors import NetmendError
from netmend.locate.bug_report import BugReport
from netmend.locate.extrinsic_evidence import (
    PRIORS,
    evidence_in,
    own_names,
    package_of,
    plain_name,
    speaks_of_own_change,
)
from netmend.locate.words import spoken

TITLE_WEIGHT, PROSE_WEIGHT, MESSAGE_WEIGHT, CODE_WEIGHT = 3.0, 1.0, 1.5, 0.25
VECTOR_SCALES = {"title": 2.0, "text": 2.0, "message": 1.0}  # of the directions of their words
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CUT = """
    ization isation ations ation ingly ings ing edly ied ies ed es ly s
"""
_ENDINGS = tuple(_CUT.split())
_STOPPED = """
    a an and are as at be been but by can could did do does for from get got had has have i if in into is it its me my no
    not of on or our so such than that the their them then there these they this those to was we were what when where
    which while who why will with would you your please thanks thank hi hello also just like here how all any e g am use
    using used try bug describe
"""
_STOP = frozenset(_STOPPED.split())
# words that mark a type (parts of identifiers too); how many of them stand where is a feature beside the single words
MARKS = {
    "GPU": """gpu gpus cuda cudnn nccl ddp dp device devices multigpu distributed vram nvidia tpu xla cublas dataparallel parallel
        amp fp16 half allreduce rank world nccl gloo horovod cpu""",
    "Training": """loss losses metric metrics optimizer optimiser optim scheduler lr rate epoch epochs callback callbacks checkpoint
        checkpoints train training trainer early stopping dataloader loader augmentation gradient gradients grad backward autograd validation
        reward replay buffer collector policy agent env rollout episode accuracy auc precision recall bleu rouge map batch batches sampler sampling
        transform transforms dataset datasets preprocessing vocab vocabulary tokenizer tokenize masking elbo svi mcmc nuts hmc guide inference posterior
        handler handlers engine resume finetune search tuner trial trials hyperparameter hyperopt tune objective criterion regularization adam sgd
        momentum decay warmup evaluate evaluation eval score crop flip resize normalize""",
    "Model": """layer layers model models architecture embedding embeddings embedder attention head heads lstm gru rnn cnn conv convolution
        weights weight initializer initialization init pretrained decoder encoder backbone kernel kernels module modules normalization norm
        batchnorm dropout transformer bert gpt resnet densenet unet yolo ssd rpn bias parameter parameters sequential submodule block state
        savedmodel generator discriminator autoregressive flow prior likelihood gp mean net network nets networks activation relu pooling""",
    "Tensor": """shape shapes size sizes dimension dimensions dim dims dtype float int long double float32 float64 int64 int32 tensor tensors
        broadcast broadcasting index indices mismatch axis reshape nan nans inf numeric numerical precision array arrays ndarray expected stack concat
        gather scatter slice slicing dimensional scalar empty negative zero overflow channels channel image images""",
    "API": """deprecated deprecation deprecationwarning deprecate version versions api unexpected keyword argument attribute removed compatible
        compatibility upgrade renamed signature futurewarning warning support supported latest import importing""",
    "NonDL": """doc docs documentation docstring readme typo cli command commandline install installation docker path paths file files filename
        folder directory server ui dashboard config configuration yaml json logging log logs logger download url windows pip setup test tests ci
        link page permission unicode encoding cluster node autoscaler worker actor pickle pickling serialize tutorial notebook example examples
        print progress bar exception message wandb tensorboard comet mlflow s3 database sql document argparse flag option string""",
}  # fmt: skip
_MARKED: dict[str, tuple[str, ...]] = {}
for _kind, _line in MARKS.items():
    for _word in _line.split():
        _MARKED[_word] = (*_MARKED.get(_word, ()), _kind)
SHAPES = re.compile(
    r"\(\d+(?:, ?\d+)+\)|\[\d+(?:, ?\d+)+\]|\d+ ?x ?\d+|dtype|torch\.(?:float|int|Long|Short)\w*|\b(?:Float|Long|Double|Int|Half)Tensor\b"
)


def stem(word: str) -> str:
    """A word without its ending, if enough stays."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def pieces(text: str) -> Iterable[str]:
    """Identifiers split by case and underscore, lower case, cut to stems."""
    for name in _IDENTIFIER.findall(text):
        for part in _PART.findall(name):
            low = part.lower()
            if len(low) > 1 and low not in _STOP and not low.isdigit():
                yield stem(low)


def word_weights(report: BugReport) -> dict[str, float]:
    """Each word with the logarithm of its weighted count."""
    messages = "\n".join(f"{failure.kind} {failure.message}" for failure in report.failures)
    parts = (
        (report.title, TITLE_WEIGHT),
        (spoken(report)[:6_000], PROSE_WEIGHT),
        (messages[:2_000], MESSAGE_WEIGHT),
        ("\n".join(report.code)[:4_000], CODE_WEIGHT),
    )
    bag: dict[str, float] = {}
    for text, weight in parts:
        for word in pieces(text):
            bag[word] = bag.get(word, 0.0) + weight
    return {word: math.log1p(count) for word, count in bag.items()}


def _marks(name: str, text: str, found: dict[str, float]) -> None:
    """Count the marks of each type in a text, each word once."""
    words = {
        part.lower()
        for identifier in _IDENTIFIER.findall(text)
        for part in (identifier, *_PART.findall(identifier))
    }
    for word in words:
        for kind in _MARKED.get(word, ()):
            key = f"{name}: {kind}"
            found[key] = found.get(key, 0.0) + 1.0


def rule_features(report: BugReport, own: Iterable[str] = ()) -> dict[str, float]:
    """Features that are no single word: evidence of an outer cause, marks of types, kinds of failure, where traces end."""
    own = tuple(own)
    ours = own_names(own)
    counts: dict[str, float] = {}
    messages = " ".join(failure.message for failure in report.failures)
    _marks("title", report.title, counts)
    _marks("text", spoken(report)[:3_000], counts)
    _marks("message", messages[:600], counts)
    frames = [frame for trace in report.traces[-2:] for frame in trace if _is_own(frame.path, ours)][-2:]
    places = [f"{_tail(frame.path)} {frame.function or ''} {frame.code}" for frame in frames]
    places += [_tail(path) for path in report.paths[:3]]
    _marks("place", " ".join(places), counts)
    found = {key: math.log1p(value) for key, value in counts.items()}
    found.update(outer_features(report, own))
    if report.code:
        found["has code"] = 1.0
    if SHAPES.search(f"{report.title} {messages}"):
        found["shapes or types of numbers"] = 1.0
    found.update(vector_features(report))
    return found


def vector_features(report: BugReport) -> dict[str, float]:
    """Where the words of each part point: what was learned of a word carries over to words of its kind."""
    failures = "\n".join(f"{failure.kind} {failure.message}" for failure in report.failures)
    texts = {"title": report.title, "text": spoken(report)[:4_000], "message": failures[:1_500]}
    vectors = word_vectors()
    return {
        f"{part} direction {number}": VECTOR_SCALES[part] * float(value)
        for part, text in texts.items()
        for number, value in enumerate(vectors.mean(pieces(text)))
        if value
    }


def outer_features(report: BugReport, own: Iterable[str] = ()) -> dict[str, float]:
    """Features that speak of causes outside the project: evidence, kinds of failure, the package where a trace ends."""
    own = tuple(own)
    ours = own_names(own)
    evidence = evidence_in(report, own)
    found = {f"evidence: {one.kind}": 1.0 for one in evidence}
    if evidence:
        found["evidence in all"] = sum(PRIORS[kind] for kind in {one.kind for one in evidence})
        found["evidence in the title"] = sum(
            PRIORS[kind] for kind in {one.kind for one in evidence if one.in_title}
        )
    if speaks_of_own_change(report, own):
        found["the project itself changed"] = 1.0
    for failure in report.failures[-3:]:
        found[f"failure: {failure.name}"] = 1.0
    if report.traces:
        package = package_of(report.traces[-1][-1].path)
        foreign = package is not None and plain_name(package) not in ours
        found["has trace"] = 1.0
        found[f"ends in: {plain_name(package) if package and foreign else 'own'}"] = 1.0
    else:
        found["no trace"] = 1.0
    return found


def _is_own(path: str, ours: set[str]) -> bool:
    package = package_of(path)
    return package is None or plain_name(package) in ours


def _tail(path: str) -> str:
    """The last folders of a path: what stands before is the user's disk."""
    return "/".join(re.split(r"[\\/]", path)[-3:])


# What words mean, as numbers: words that stand near the same others in commit messages have vectors that point the same way.
#
# The file is made by benchmarks/locate_vectors.py. A vector's length says how rare its word is.

VECTORS = Path(__file__).with_name("word_vectors.npz")


@dataclass(frozen=True)
class WordVectors:
    rows: dict[str, int]
    values: npt.NDArray[np.int8]  # words by dimensions

    @property
    def dimensions(self) -> int:
        return int(self.values.shape[1])

    def mean(self, words: Iterable[str]) -> npt.NDArray[np.float64]:
        """The direction of a text, of length one; 0 where none of its words is known."""
        counts: dict[int, int] = {}
        for word in words:
            row = self.rows.get(word)
            if row is not None:
                counts[row] = counts.get(row, 0) + 1
        if not counts:
            return np.zeros(self.dimensions)
        weights = np.log1p(np.fromiter(counts.values(), dtype=float, count=len(counts)))
        total = weights @ self.values[list(counts)].astype(float)
        length = float(np.linalg.norm(total))
        return np.asarray(total / length if length else total)


def pack(words: list[str], values: npt.NDArray[np.int8], file: Path) -> None:
    np.savez_compressed(file, words=np.frombuffer("\n".join(words).encode(), dtype=np.uint8), values=values)


@cache
def word_vectors() -> WordVectors:
    try:
        with np.load(VECTORS, allow_pickle=False) as data:
            words = data["words"].tobytes().decode("utf-8").split("\n")
            values = data["values"]
        if len(words) != len(values):
            raise ValueError(f"{len(words)} words, {len(values)} vectors")
    except (OSError, ValueError, KeyError) as problem:
        raise NetmendError(
            f"The word vectors {VECTORS} cannot be read: {problem}. Install netmend again."
        ) from problem
    return WordVectors({word: row for row, word in enumerate(words)}, values)
