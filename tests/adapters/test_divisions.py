"""What is seen of a division of rows: whose they are, and whether one person's lie in both parts."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from netmend.adapters.preparation.batches import Batches
from netmend.adapters.preparation.divisions import divisions
from netmend.adapters.preparation.identities import numbered
from netmend.adapters.preparation.watch import Preparation
from netmend.observe.sites import Sites


@pytest.fixture
def preparation() -> Preparation:
    watched = Preparation(Sites())
    watched.batches = Batches()
    return watched


def _told(preparation: Preparation, answers: np.ndarray) -> dict[str, object]:
    """What is known at the end, where the batches show these answers."""
    preparation.batches.keep("training", 0, np.random.default_rng(0).normal(size=(len(answers), 3)), answers)
    divisions(preparation).ask()
    facts = [fact for fact in preparation.facts.values() if fact.kind == "split"]
    return dict(facts[-1].seen) if facts else {}


def _people(each: int = 10) -> tuple[list[str], np.ndarray]:
    people = [f"P{person:03d}" for person in range(40) for _ in range(each)]
    ill = np.random.default_rng(1).random(40) < 0.5
    return people, np.repeat(ill, each).astype(np.int64)


def test_people_beside_the_rows_are_found(preparation: Preparation) -> None:
    patient, y = _people()
    order = np.random.default_rng(0).permutation(len(y))
    divisions(preparation).by_numbers("library.split", len(y), order[100:], order[:100], (y,))
    seen = _told(preparation, y)
    assert len(patient) == len(y)
    assert (seen["identity"], seen["groups"], seen["in_both"], seen["same_answer"]) == (
        "patient",
        40,
        1.0,
        1.0,
    )


def test_a_number_that_is_fed_to_the_model_is_no_identity(preparation: Preparation) -> None:
    member = np.repeat(np.arange(40), 10)
    y = np.repeat(np.random.default_rng(1).random(40) < 0.5, 10).astype(np.int64)
    order = np.random.default_rng(0).permutation(len(y))
    divisions(preparation).by_numbers("library.split", len(y), order[100:], order[:100], (member, y), y)
    preparation.batches.keep("training", 0, member[order[100:], None].astype(np.float32), y[order[100:]])
    divisions(preparation).ask()
    assert "identity" not in next(iter(preparation.facts.values())).seen


@pytest.mark.parametrize(
    ("name", "groups"), [("{0}/leaf{1:03d}_{2}.png", 100), ("p{1:02d}_slice{2}.png", 50)]
)
def test_files_are_grouped_by_the_beginning_of_their_names(
    preparation: Preparation, name: str, groups: int
) -> None:
    kinds = ["ash", "oak"] if "leaf" in name else [""]
    files = [
        Path(name.format(kind, leaf, variant)) for kind in kinds for leaf in range(50) for variant in range(4)
    ]
    y = (
        np.array([k for k in range(len(kinds)) for _ in range(200)])
        if len(kinds) > 1
        else np.repeat(np.arange(50) % 2, 4)
    )
    order = np.random.default_rng(0).permutation(len(y))
    divisions(preparation).by_numbers("library.split", len(y), order[60:], order[:60], (files, y), y)
    seen = _told(preparation, y)
    assert seen["of_files"] and seen["groups"] == groups and seen["in_both"] > 0.9


def test_two_masks_that_exclude_one_another_divide_a_table(preparation: Preparation) -> None:
    pd = pytest.importorskip("pandas")
    people, ill = _people()
    table = pd.DataFrame({"who": people, "ill": ill})
    mask = np.random.default_rng(2).random(len(table)) < 0.25
    known = divisions(preparation)
    known.selected(table, ~mask)
    known.selected(table, table["ill"] == 1)
    known.selected(table, mask)
    seen = _told(preparation, ill[~mask])
    assert seen["rows_tested"] == mask.sum() and seen["identity"] == "who"


def test_a_splitter_gives_what_it_always_gave() -> None:
    module = pytest.importorskip("sklearn.model_selection")
    from netmend.adapters.preparation import sklearn

    X, y = np.arange(200).reshape(100, 2), np.tile([0, 1], 50)
    plain = [
        [part.tolist() for part in pair] for pair in module.KFold(4, shuffle=True, random_state=3).split(X, y)
    ]
    watched = Preparation(Sites())
    try:
        sklearn.watch(watched)
        again = [
            [part.tolist() for part in pair]
            for pair in module.KFold(4, shuffle=True, random_state=3).split(X, y)
        ]
        train, _ = module.train_test_split(X, random_state=0)
    finally:
        watched.remove()
    assert plain == again and len(train) == 75
    assert [(fact.seen["rows"], fact.seen["rows_tested"]) for fact in watched.facts.values()] == [
        (75, 25),
        (75, 25),
    ]


def test_what_cannot_be_compared_is_left_alone(preparation: Preparation) -> None:
    odd = SimpleNamespace(rows=object())
    divisions(preparation).by_numbers(
        "library.split", 40, range(30), range(30, 40), (odd, [object()] * 40, np.full(40, np.nan))
    )
    divisions(preparation).ask()
    assert "identity" not in next(iter(preparation.facts.values())).seen


def _begins(preparation: Preparation, y: np.ndarray) -> dict[str, object]:
    """What is known of the parts in the functions that lead here, once training has begun."""
    divisions(preparation)
    preparation.batch_arrives()
    return _told(preparation, y)


@pytest.fixture
def from_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """This file counts as the user's."""
    monkeypatch.setattr(Sites, "is_user_file", lambda self, file: file == __file__)


@pytest.mark.usefixtures("from_here")
def test_row_numbers_in_variables(preparation: Preparation) -> None:
    patient, y = _people()
    order = np.random.default_rng(0).permutation(len(patient))
    train_rows, test_rows = order[100:], order[:100]
    seen = _begins(preparation, y)
    assert (seen["identity"], seen["rows"], seen["rows_tested"]) == (
        "patient",
        len(train_rows),
        len(test_rows),
    )
    assert seen["in_both"] == 1.0


@pytest.mark.usefixtures("from_here")
def test_a_mask_in_a_variable_and_whole_people_held_out(preparation: Preparation) -> None:
    patient, y = _people()
    is_test = np.isin(patient, [f"P{person:03d}" for person in range(0, 40, 4)])
    seen = _begins(preparation, y)
    assert (seen["identity"], seen["in_both"], seen["rows_tested"]) == ("patient", 0.0, is_test.sum())


@pytest.mark.usefixtures("from_here")
def test_lists_of_files_and_the_latest_ones_held_out(preparation: Preparation) -> None:
    files = [
        (Path(f"p{person:02d}_{visit:02d}.png"), person % 2) for person in range(40) for visit in range(5)
    ]
    y = np.array([kind for _, kind in files])
    test_files = [item for item in files if item[0].stem.endswith("_04")]
    train_files = [item for item in files if item not in test_files]
    np.random.default_rng(0).shuffle([1, 2])
    seen = _begins(preparation, y)
    assert (seen["rows"], seen["in_both"], seen["order"]) == (len(train_files), 1.0, 1.0)


def test_answers_on_a_scale(preparation: Preparation) -> None:
    patient = [f"P{person:03d}" for person in range(60) for _ in range(8)]
    age = np.repeat(np.random.default_rng(1).normal(50, 12, 60), 8)
    order = np.random.default_rng(0).permutation(len(age))
    divisions(preparation).by_numbers(
        "library.split", len(age), order[100:], order[:100], ({"patient": patient, "age": age},)
    )
    seen = _told(preparation, (age[order[100:]] - age.mean()) / age.std())
    assert (seen["identity"], seen["groups"]) == ("patient", 60) and seen["same_answer"] > 0.9


def test_an_identity_that_was_read_and_dropped(preparation: Preparation) -> None:
    pd = pytest.importorskip("pandas")
    people, ill = _people()
    divisions(preparation).read(pd.DataFrame({"who": people, "ill": ill}))
    order = np.random.default_rng(0).permutation(len(ill))
    people = []
    divisions(preparation).by_numbers("library.split", len(ill), order[100:], order[:100], (), ill)
    assert _told(preparation, ill)["identity"] == "who"


def test_two_picks_of_rows_divide(preparation: Preparation) -> None:
    patient, y = _people()
    whole = type("Table", (), {})()
    order = np.random.default_rng(0).permutation(len(y))
    for rows in (order[:50], order[100:], order[:100]):
        divisions(preparation).picked("library.pick", whole, len(y), rows, ({"patient": patient},))
    seen = _told(preparation, y)
    assert (seen["rows"], seen["rows_tested"], seen["identity"]) == (300, 50, "patient")


def test_amounts_that_were_read_as_texts_are_nobodys_name() -> None:
    assert numbered("kWh", ["3,5", "12,25", "3,5", "7"] * 10) == []
    assert [column.is_identity for column in numbered("patient", ["p1", "p2", "p1", "p3"] * 10)] == [True]


def test_the_target_in_other_words_is_nobodys_name(preparation: Preparation) -> None:
    heat = np.random.default_rng(3).integers(20, 220, 600)
    as_text = [str(amount) for amount in heat]
    order = np.random.default_rng(0).permutation(600)
    divisions(preparation).by_numbers("library.split", 600, order[150:], order[:150], (heat.astype(float),))
    seen = _told(preparation, heat.astype(float))
    assert len(as_text) == 600
    assert "identity" not in seen
