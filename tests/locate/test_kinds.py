"""The type of a report: plain cases of each, and that the shipped weights agree with their own features."""

from __future__ import annotations

import math

import pytest

from netmend.locate.bug_report import read_report
from netmend.locate.classify import NAMES, kind_of, score_type, weights, word_vector
from netmend.locate.classify_features import pieces, rule_features, stem


@pytest.mark.parametrize(
    ("title", "text", "code"),
    [
        ("CUDA out of memory with DDP on 2 GPUs", "Training on multiple GPUs with nccl, rank 1 uses cuda:0 memory.", "GPU"),
        ("Shape mismatch: tensor of size (3, 4) but expected (4, 3)", "RuntimeError: The size of tensor a (3) must match the size of tensor b (4), dtype float32", "Tensor"),
        ("Learning rate scheduler steps before the optimizer, loss is wrong", "After each epoch the training loss and validation metric are computed with the wrong learning rate.", "Training"),
        ("Typo in README and broken link in documentation", "The command line docs page has a broken link to the config file.", "NonDL"),
        ("Attention layer initializes bias even with bias=False", "The encoder module's embedding layer and decoder layer weights are not initialised.", "Model"),
    ],
)  # fmt: skip
def test_plain_cases(title: str, text: str, code: str) -> None:
    kind = kind_of(read_report(text, title))
    assert kind.code == code
    assert kind.name == NAMES[code]
    assert kind.reasons and kind.probability > max(share for _, share in kind.others)
    assert math.isclose(kind.probability + sum(share for _, share in kind.others), 1.0)


def test_a_report_of_unknown_words_still_gets_an_answer() -> None:
    kind = kind_of(read_report("訓練が失敗する"))
    assert kind.code in NAMES and 0 < kind.probability < 1


def test_weights_fit_the_features() -> None:
    model = weights()["type"]
    assert sorted(model["classes"]) == sorted(NAMES) and len(model["bias"]) == len(NAMES)
    assert all(len(row) == len(NAMES) for row in model["weights"].values())
    vector = word_vector(read_report("gradient optimizer loss", "loss"), weights()["rarity"])
    assert math.isclose(sum(value * value for value in vector.values()), 1.0)


def test_more_marks_of_a_type_raise_its_probability() -> None:
    few = score_type(read_report("It fails.", "problem")).probabilities["GPU"]
    many = score_type(
        read_report("It fails on cuda with several gpu devices and nccl.", "GPU problem")
    ).probabilities["GPU"]
    assert many > few + 0.2


def test_reasons_show_words_as_written() -> None:
    reasons = kind_of(read_report("The CrossEntropy losses of training epochs", "optimizers")).reasons
    assert any("optimizers" in reason for reason in reasons)


def test_words_are_split_and_cut() -> None:
    assert list(pieces("BatchNormLoss of_training the models")) == ["batch", "norm", "loss", "train", "model"]
    assert stem("es") == "es"


def test_rule_features_look_at_own_frames_only() -> None:
    trace = 'Traceback (most recent call last):\n  File "/x/site-packages/mypkg/losses/dice.py", line 3, in forward\n    a()\n  File "/x/site-packages/torch/nn/functional.py", line 9, in relu\n    b()\nValueError: bad\n'
    features = rule_features(read_report(trace, "t"), ["mypkg"])
    assert features["ends in: torch"] == 1.0 and features["failure: ValueError"] == 1.0
    assert features["place: Training"] > 0
    assert rule_features(read_report(trace, "t"), ["mypkg", "torch"])["ends in: own"] == 1.0
