"""The first batch as it reached the model: what is wrong with it is seen at once."""

from __future__ import annotations

import pytest

from netmend.report.run.program_sections import batch_remarks
from netmend.vocabulary import BatchPrint, Trace

PIXELS = tuple((100.0 + channel, 40.0, 0.0, 255.0) for channel in range(3))
TABLE = ((0.0, 0.5, -1.0, 1.0), (48_000.0, 9_000.0, 12_000.0, 90_000.0))


@pytest.mark.parametrize(
    ("batch", "words"),
    [
        (
            BatchPrint(0, "training", 32, feature_axis="channel", features=PIXELS, labels={"0": 32}, label_changes=0),
            "training: 32 samples, 3 channels from 0 to 255 (mean 101, standard deviation 40.0); all of class 0",
        ),
        (
            BatchPrint(0, "training", 8, feature_axis="feature", features=TABLE, labels={"1": 5, "0": 3}, label_changes=1),
            "2 features from -1 to 90,000 (standard deviations from 0.500 to 9,000); classes 1: 5, 0: 3; 1 of 7 neighbouring labels differ",
        ),
        (
            BatchPrint(4, "evaluation", 4, feature_axis="token", features=((0.0, 0.9, 1.0, 12.0),)),
            "evaluation: 4 samples, 12 distinct tokens, the most frequent is 90.0 % of them",
        ),
        (BatchPrint(0, "training", 4, target_mean=250.0, target_std=80.0), "4 samples, targets 250 ± 80.0"),
    ],
)  # fmt: skip
def test_ranges_and_the_order_of_labels(batch: BatchPrint, words: str) -> None:
    (remark,) = batch_remarks(Trace(batches=(batch, batch)))
    assert remark.label == "first batch" and words in remark.text


def test_what_is_not_finite_or_not_described_is_left_out() -> None:
    nan = float("nan")
    batches = (
        BatchPrint(0, "training", 2, feature_axis="feature", features=((nan, nan, nan, nan),)),
        BatchPrint(1, "evaluation", 2),
    )
    assert list(batch_remarks(Trace(batches=batches))) == []
