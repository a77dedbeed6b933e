"""Text to terms: splitting, stems, stop words."""

from __future__ import annotations

import sys

import pytest

from netmend.errors import UsageError
from netmend.locate import words as module
from netmend.locate.words import count_words, spellings, term_number, words


def test_an_identifier_gives_its_parts_and_itself() -> None:
    assert words("TrialRunner") == ["trial", "runner", "trialrunn"]
    assert words("trial_runner") == words("TrialRunner")
    assert words("ray.tune.run_experiments") == ["ray", "tune", "run", "experi", "runexperi"]


def test_runs_of_capitals_stay_together() -> None:
    assert words("PPOTrainer")[:2] == ["ppo", "trainer"]
    assert words("MultiGPU") == ["multi", "gpu", "multigpu"]


def test_digits_do_not_become_words_of_their_own() -> None:
    assert words("conv2d") == ["conv", "conv2d"]
    assert words("3.7 100") == []


def test_inflections_meet() -> None:
    assert words("crashes crashed crashing") == ["crash"] * 3
    assert words("GPUs") == words("gpus") == words("GPU") == ["gpu"]


def test_stop_words_and_python_keywords_are_dropped() -> None:
    assert words("the self of def return None") == []


def test_encoded_data_gives_nothing() -> None:
    assert words("x" * 61) == []
    assert words("x" * 60) != []


def test_other_scripts_are_kept() -> None:
    assert words("训练 loss") == ["训练", "loss"]


def test_people_are_shown_the_part_that_matched() -> None:
    assert spellings("SliceSampler") == {"slice": "Slice", "sampler": "Sampler", "slicesampl": "SliceSampler"}
    assert spellings("reading") == {"read": "reading"}


def test_counting_equals_listing() -> None:
    text = "the TrialRunner runs trial_runner and TrialRunner"
    counts = count_words([text, "trial"])
    assert counts["trial"] == 4
    assert sum(counts.values()) == len(words(text)) + 1


def test_term_numbers_are_the_same_in_every_process() -> None:
    assert term_number("trainer") == 3306489888


def test_without_the_stemmer_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    module._stemmer.cache_clear()
    module.expand.cache_clear()
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    with pytest.raises(UsageError, match=r'pip install "netmend\[locate\]"'):
        words("anything")
    module._stemmer.cache_clear()
