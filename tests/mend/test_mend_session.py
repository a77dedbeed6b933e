"""A whole search on a small faulty classifier: choice, verdict, cache, few examples, and data that cannot be used."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

import netmend.mend.session as session  # noqa: E402
from netmend.errors import UsageError  # noqa: E402
from netmend.mend.gate import (  # noqa: E402
    HOLDS,
    Tally,
    Verdict,
    verdict_on,
)
from netmend.mend.options import MendOptions  # noqa: E402
from netmend.mend.patch import Fingerprint, Patch  # noqa: E402
from netmend.mend.result import Tried  # noqa: E402
from netmend.mend.torch.case import case_of  # noqa: E402
from netmend.mend.torch.trying import held_back, tried  # noqa: E402

CENTRES = torch.tensor([[2.0, 0.0, 0.0, 1.0], [0.0, 2.0, 0.0, -1.0], [0.0, 0.0, 2.0, 0.0]])
OPTIONS = MendOptions(methods=("sparse_mixing", "last_layer"), steps=40, rates=(0.01,), bound=0.1)


@cache
def _taught() -> tuple[dict[str, Any], Any, Any]:
    """Three clusters; the network was taught that most of the third are of the second class."""
    torch.manual_seed(1)
    labels = torch.arange(150) % 3
    inputs = CENTRES[labels] + 0.4 * torch.randn(150, 4)
    model = _network()
    taught = torch.where((labels == 2) & (torch.arange(150) % 10 != 0), 1, labels)
    optimiser = torch.optim.Adam(model.parameters(), 0.02)
    for _ in range(60):
        optimiser.zero_grad()
        nn.functional.cross_entropy(model(inputs), taught).backward()
        optimiser.step()
    return model.state_dict(), inputs, labels


def _network() -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 3))


def faulty() -> tuple[nn.Sequential, tuple[Any, Any], tuple[Any, Any]]:
    weights, inputs, labels = _taught()
    model = _network()
    model.load_state_dict(weights)
    wrong = model(inputs).argmax(1) != labels
    assert wrong.sum() > 30
    return model, (inputs[wrong], labels[wrong]), (inputs[~wrong], labels[~wrong])


def bits(model: nn.Module) -> list[bytes]:
    return [one.detach().numpy().tobytes() for one in model.state_dict().values()]


def test_a_patch_is_found_judged_applied_saved_and_known_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETMEND_DIR", str(tmp_path / "kept"))
    model, failing, guard = faulty()
    first = bits(model)
    stages: list[session.Stage] = []
    found = session.mend(model, failing, guard, options=OPTIONS, told=stages.append)
    assert bits(model) == first and model.training
    assert [one.method for one in found.tried] == [
        "fine_tune_kl",
        "sparse_mixing",
        "last_layer",
    ]  # the baseline unasked
    assert found.recommended is not None and found.patch is not None
    assert [stage.of for stage in stages] == [3] * len(stages) and any(stage.step == 40 for stage in stages)
    # What is said of unseen data is what the patched model does with it.
    case = case_of(model, failing, guard, None, OPTIONS.seed)
    found.apply(model)
    now = model(case.unseen_failing.inputs[0]).argmax(1) == case.unseen_failing.wanted
    kept = model(case.unseen_guard.inputs[0]).argmax(1) != case.unseen_guard.wanted
    unseen = found.recommended.unseen
    assert (int(now.sum()), len(now), int(kept.sum()), len(kept)) == (
        unseen.repaired, unseen.failing, unseen.broken, unseen.guarded
    )  # fmt: skip
    assert unseen.repaired > 0.5 * unseen.failing
    found.revert(model)
    assert bits(model) == first
    found.save(tmp_path / "p.safetensors")
    assert (tmp_path / "p.safetensors").stat().st_size > 0

    def no_attempt(*_: Any) -> None:
        raise AssertionError("what is known must not be tried again")

    monkeypatch.setattr("netmend.mend.torch.trying.mend", no_attempt)
    again = session.mend(model, failing, guard, options=OPTIONS)
    assert all(one.known for one in again.tried) and again.recommended is not None
    assert again.recommended.unseen == unseen and again.patch is not None
    assert [p.new.tolist() for p in again.patch] == [p.new.tolist() for p in found.patch]


def test_what_differs_in_anything_that_matters_is_tried_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    nothing = Patch((), Fingerprint({}))

    def pretended(case: Any, name: str, rate: float | None, *_: Any) -> Tried:
        made.append(name)
        return Tried(name, rate, nothing, *[Tally(1, 2, 0, 3)] * 3, seconds=1.0, steps=2, notes=("a note",))

    monkeypatch.setattr("netmend.mend.torch.trying.tried", pretended)
    model, failing, guard = faulty()
    options = replace(OPTIONS, methods=("last_layer",), directory=tmp_path)

    def attempts(data: Any = failing, wishes: MendOptions = options) -> int:
        made.clear()
        session.mend(model, data, guard, options=wishes)
        return len(made)

    assert attempts() == 2 and attempts() == 0
    assert attempts((failing[0][1:], failing[1][1:])) == 2
    assert attempts(wishes=replace(options, seed=1)) == attempts(wishes=replace(options, bound=0.2)) == 2
    assert attempts(wishes=replace(options, steps=41)) == 2
    assert attempts(wishes=replace(options, rates=(0.01, 0.02))) == 1  # of the baseline, at the other rate
    with torch.no_grad():
        model[4].bias[0] += 0.001
    assert attempts() == 2 and attempts() == 0
    next(tmp_path.glob("mend/*.json")).write_text("{")
    for file in tmp_path.glob("mend/*.json"):
        file.write_text(file.read_text()[:-5])  # cut short
    assert attempts() == 2
    found = session.mend(model, failing, guard, options=options)
    assert all(
        one.known and one.notes == ("a note",) and one.unseen == Tally(1, 2, 0, 3) for one in found.tried
    )


def test_the_first_line_says_what_speaks_against_a_recommended_patch(tmp_path: Path) -> None:
    model, failing, guard = faulty()
    options = replace(OPTIONS, methods=("last_layer",), directory=tmp_path)
    found = session.mend(model, failing, guard, options=options)
    assert len(found.tried) == 2
    plain, own = found.tried
    rival = replace(plain, validation=Tally(12, 21, 0, 138), unseen=Tally(19, 21, 2, 138))
    dense = replace(own, validation=Tally(21, 21, 0, 138), unseen=Tally(19, 21, 3, 138))
    flawed = replace(
        found,
        options=replace(options, bound=0.01),
        tried=(rival, dense),
        verdict=verdict_on([rival, dense], 0.01, 0),
    )
    first = " ".join(str(flawed).split("  failing")[0].split())
    assert first.startswith(
        "netmend Patch found, but it breaks more unseen inputs than the bound allows and the plain baseline does better: "
        "last_layer repairs 19 of 21 unseen failures, breaks 3 of 138 unseen guard inputs"
    )
    assert json.loads(flawed.json())["flaws"] == ["breaks more than the bound", "loses to the baseline"]
    # A smaller one that is as good says which one is the strongest.
    small = replace(rival, validation=Tally(20, 21, 0, 138))
    told = " ".join(str(replace(flawed, tried=(small, dense), verdict=Verdict(HOLDS, 0, (), (), 1))).split())
    assert (
        "for its size, and as good as the best within chance: on validation data it repairs 20 of 21 and breaks 0, last_layer repairs 21"
        in told
    )


def test_few_failing_inputs_are_not_divided_and_nothing_is_claimed_of_others(tmp_path: Path) -> None:
    model, failing, guard = faulty()
    options = replace(OPTIONS, methods=("last_layer",), directory=tmp_path)
    found = session.mend(model, (failing[0][:1], failing[1][:1]), guard, options=options)
    assert found.failing.shared and found.failing.unseen == 0 and not found.guard.shared
    assert found.recommended is not None and found.verdict.standing == "unsure"
    assert "no failing input was left unseen" in found.verdict.reasons[0]
    assert found.recommended.unseen.failing == 0 and found.recommended.unseen.guarded > 0
    told = str(found)
    assert "too few to hold any out" in told and "repairs the failing samples" in told
    assert json.loads(found.json())["tried"][0]["unseen"]["repaired_interval"] is None


def test_nothing_is_recommended_where_the_bound_cannot_be_kept(tmp_path: Path) -> None:
    model, failing, guard = faulty()
    # Half of the "guard" wants the very mistake: whatever repairs the one breaks the other.
    inputs, labels = torch.cat([guard[0], failing[0]]), torch.cat([guard[1], model(failing[0]).argmax(1)])
    other = (
        failing[0] + 0.01 * torch.randn(failing[0].shape, generator=torch.Generator().manual_seed(0)),
        failing[1],
    )
    options = replace(OPTIONS, bound=0.0, directory=tmp_path, methods=("last_layer",))
    found = session.mend(model, other, (inputs, labels), options=options)
    assert found.recommended is None and found.patch is None
    assert "No patch is recommended" in str(found)
    with pytest.raises(UsageError, match="no patch is recommended: "):
        found.save(tmp_path / "p")
    assert json.loads(found.json())["recommended"] is None


def test_a_patch_that_breaks_too_much_goes_a_part_of_its_way(tmp_path: Path) -> None:
    model, failing, guard = faulty()
    first = bits(model)
    case = case_of(model, failing, guard, None, 0)
    wild = tried(case, "fine_tune", 0.05, replace(OPTIONS, bound=0.5))  # nothing guards it
    assert wild.validation.broken > 0
    bound = (wild.validation.broken - 1) / wild.validation.guarded
    found = held_back(case, wild.patch, bound)
    assert bits(model) == first
    if found is not None:
        patch, part = found
        assert 0 < part < 1 and 0 < patch.norm < wild.patch.norm
    calmer = tried(case, "fine_tune", 0.05, replace(OPTIONS, bound=bound))
    assert bits(model) == first and (calmer.part < 1) == (found is not None)


def test_validation_data_of_the_user_chooses(tmp_path: Path) -> None:
    model, failing, guard = faulty()
    chosen = torch.cat([failing[0][:10], guard[0][:20]]), torch.cat([failing[1][:10], guard[1][:20]])
    case = case_of(model, failing, guard, chosen, 0)
    assert len(case.spec.failing_holdout) == 10 and len(case.spec.guard_holdout) == 20
    assert case.failing.unseen == (len(failing[1]) - 10) // 5 and case.failing.validation == 10
    assert any("10 failing inputs are among the validation inputs" in note for note in case.notes)


def test_inputs_that_are_right_are_no_failures_and_wrong_ones_no_guard() -> None:
    model, failing, guard = faulty()
    both = torch.cat([failing[0], guard[0][:7]]), torch.cat([failing[1], guard[1][:7]])
    case = case_of(
        model, both, (torch.cat([guard[0], failing[0][:3]]), torch.cat([guard[1], failing[1][:3]])), None, 0
    )
    assert case.failing.given == len(failing[1]) + 7
    assert case.failing.repair + case.failing.validation + case.failing.unseen == len(failing[1])
    assert [note.split(" are")[0] for note in case.notes] == [
        f"7 of {len(both[1])} failing inputs", f"3 of {len(guard[1]) + 3} guard inputs"
    ]  # fmt: skip


class Picky(nn.Module):
    """A forward that can be asked, not trained."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, inputs: Any) -> Any:
        if self.layer.weight.requires_grad and torch.is_grad_enabled():
            raise ValueError("no gradients here")
        return self.layer(inputs)


def _not_finite() -> nn.Module:
    model = _network()
    with torch.no_grad():
        model[0].weight[1, 2] = float("nan")
    return model


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m, f, g: (m, (f[0][:, :3], f[1]), g), r"cannot be given the failing inputs, of shape \[\d+, 3\]"),
        (lambda m, f, g: (m, f, g[0][:, :3]), r"cannot be given the guard inputs"),
        (lambda m, f, g: (m, (f[0], f[1] + 5), g), "the model knows 0 to 2"),
        (lambda m, f, g: (m, f, (g[0], g[1] + 5)), "labels of the guard inputs run from 5"),
        (lambda m, f, g: (m, f, (g[0], g[1].float())), "must be whole numbers"),
        (lambda m, f, g: (m, f, (g[0], g[1][:5])), "one wanted answer per input"),
        (lambda m, f, g: (m, (f[0], f[1][:2]), g), "one wanted answer per input"),
        (lambda m, f, g: (m, (f[0][:0], f[1][:0]), g), "there is no failing input"),
        (lambda m, f, g: (m, f, g[0][:0]), "there is no guard input"),
        (lambda m, f, g: (m, g, g), "answers all \\d+ failing inputs as wanted"),
        (lambda m, f, g: (m, f, f), "answers all \\d+ guard inputs wrongly"),
        (lambda m, f, g: (m, f[0], g), "must come with what is wanted"),
        (lambda m, f, g: (m, (f[0] * float("nan"), f[1]), g), "infinite or NaN"),
        (lambda m, f, g: (_not_finite(), f, g), r"1 of 48 weights of 0\.weight are infinite or NaN"),
        (lambda m, f, g: ("model.pt", f, g), "a torch.nn.Module; a str was given"),
        (lambda m, f, g: (nn.ReLU(), f, g), "no weights"),
        (lambda m, f, g: (m, (np.array(["a", "b"]), [0, 1]), g), "cannot be made into tensors"),
        (lambda m, f, g: (m, None, g), "a repair needs failing="),
        (lambda m, f, g: (m, (f[0], f[1].float()), g), "tolerance"),
    ],
)  # fmt: skip
def test_data_that_cannot_be_used_is_refused(change: Any, words: str, tmp_path: Path) -> None:
    model, failing, guard = change(*faulty())
    with pytest.raises(UsageError, match=words):
        session.mend(model, failing, guard, options=replace(OPTIONS, directory=tmp_path))


def test_a_method_that_a_model_does_not_bear_is_left_out_and_told(tmp_path: Path) -> None:
    _, failing, guard = faulty()
    model = Picky()
    with torch.no_grad():
        wrong = failing[0], (model(failing[0]).argmax(1) + 1) % 3
    with pytest.raises(
        UsageError, match="no method could be tried; fine_tune_kl: ValueError: no gradients here"
    ):
        session.mend(
            model, wrong, guard[0], options=replace(OPTIONS, directory=tmp_path, methods=("fine_tune",))
        )


def test_numbers_are_mended_within_a_tolerance(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model, inputs = nn.Linear(3, 1), torch.randn(60, 3)
    wanted = model(inputs).detach()
    fails = inputs[:, 0] > 0.8
    wanted = torch.where(fails[:, None], wanted + 0.3, wanted)
    options = MendOptions(
        ("fine_tune",), steps=60, rates=(0.01,), bound=0.5, tolerance=0.25, directory=tmp_path
    )
    found = session.mend(
        model, (inputs[fails], wanted[fails]), (inputs[~fails], wanted[~fails]), options=options
    )
    assert found.tried[0].seen.failing > 0 and any(one.seen.repaired for one in found.tried)
