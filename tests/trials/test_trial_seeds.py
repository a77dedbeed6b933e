"""Seeds are moved, whatever a program sets them with; each check in a fork, because the generators stay changed."""

from __future__ import annotations

import copy
import os
import pickle
import random
import tempfile
import traceback
from collections.abc import Callable

import numpy as np
import pytest
import torch

from netmend.trials.seeds import move_from_first_model, move_seeds, move_torch_seeds, moved


def in_fork(number: int, work: Callable[[], list[object]], keeps_data: bool = False) -> list[object]:
    """What a piece of program sees under a seed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            move_seeds(0 if keeps_data else number)
            (move_from_first_model if keeps_data else move_torch_seeds)(number)
            answer = pickle.dumps(work())
        except BaseException:  # noqa: BLE001 - told in the test
            answer = pickle.dumps([traceback.format_exc()])
        os.write(writing, answer)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        result: list[object] = pickle.loads(stream.read())
    os.waitpid(child, 0)
    return result


def seeded() -> list[object]:
    random.seed(1)
    np.random.seed(2)
    torch.manual_seed(3)
    values: list[object] = [random.random(), np.random.rand(), torch.rand(1).item()]
    random.seed("text")
    values.append(random.random())
    one = random.Random(4)
    values.append(one.random())
    one.seed(b"bytes")
    values.append(one.random())
    values += [
        random.Random(0.5).random(),
        np.random.RandomState(5).rand(),
        np.random.RandomState(seed=6).rand(),
    ]
    values += [np.random.default_rng(7).random(), np.random.default_rng([8, 9]).random()]
    values += [np.random.default_rng(np.array([8, 9])).random(), np.random.default_rng(np.int64(7)).random()]
    values += [np.random.default_rng(np.random.SeedSequence(10)).random()]
    values += [np.random.default_rng(np.random.SeedSequence(entropy=11)).random()]
    for name in ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"):
        values.append(np.random.Generator(getattr(np.random, name)(12)).random())
    values += [torch.rand(1, generator=torch.Generator().manual_seed(13)).item()]
    values += [torch.rand(1, generator=torch.Generator()).item()]  # always the same one in torch
    return values


def unseeded() -> list[object]:
    random.seed()
    np.random.seed()
    values: list[object] = [random.random(), np.random.rand(), torch.rand(1).item(), torch.seed()]
    values += [random.Random().random(), np.random.default_rng().random(), np.random.RandomState().rand()]
    values += [np.random.Generator(np.random.PCG64()).random(), np.random.SeedSequence().entropy]
    return [*values, torch.rand(1).item()]


def test_seed_0_changes_nothing() -> None:
    assert in_fork(0, seeded) == _plain(seeded)


def _plain(work: Callable[[], list[object]]) -> list[object]:
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()
    try:
        return work()
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        torch.set_rng_state(states[2])


def test_other_seeds_move_every_one() -> None:
    own, one, two = in_fork(0, seeded), in_fork(1, seeded), in_fork(2, seeded)
    assert one == in_fork(1, seeded)
    for index, values in enumerate(zip(own, one, two, strict=True)):
        assert len(set(values)) == 3, index


@pytest.mark.parametrize("number", [0, 1001])
def test_program_without_seeds_can_be_repeated(number: int) -> None:
    assert in_fork(number, unseeded) == in_fork(number, unseeded)
    assert in_fork(number, unseeded) != in_fork(5, unseeded)


def look_alike() -> list[object]:
    """Instances are of the classes that others know, and can be sent around."""

    class Own(np.random.RandomState):
        pass

    state, generator, torchs = np.random.RandomState(1), np.random.default_rng(1), torch.Generator()
    torchs.manual_seed(1)
    facts = [
        isinstance(state, np.random.RandomState),
        isinstance(np.random.mtrand._rand, np.random.RandomState),  # type: ignore[attr-defined]
        isinstance(generator, np.random.Generator),
        isinstance(np.random.PCG64(1), np.random.PCG64),
        isinstance(np.random.PCG64(1), np.random.BitGenerator),
        isinstance(Own(1), np.random.RandomState) and isinstance(Own(1), Own),
        issubclass(Own, np.random.RandomState),
        not isinstance(state, Own),
        isinstance(torchs, torch.Generator),
        isinstance(torch.default_generator, torch.Generator),
        not isinstance(1, np.random.RandomState),
    ]
    for item in (state, generator, np.random.PCG64(1), random.Random(1)):
        pickle.loads(pickle.dumps(item))
        copy.deepcopy(item)
    again = [pickle.loads(pickle.dumps(torchs)), copy.deepcopy(torchs)]
    same = torch.rand(1, generator=torchs).item()
    facts += [torch.rand(1, generator=item).item() == same for item in again]
    return list(facts)


def drawn() -> list[object]:
    return [
        random.random(),
        np.random.rand(),
        torch.rand(1).item(),
        *seeded(),
        np.random.default_rng().random(),
    ]


def test_data_can_stay_the_same_until_there_is_a_model() -> None:
    def program() -> list[object]:
        torch.manual_seed(3)
        before = drawn()
        torch.nn.CrossEntropyLoss()  # has nothing to learn
        before += drawn()
        weight = torch.nn.Linear(1, 1).weight.item()
        return [before, weight, drawn()]

    own, one, two = (in_fork(number, program, keeps_data=True) for number in (0, 1, 2))
    assert one[0] == two[0] == own[0] == in_fork(0, program)[0]
    assert len({own[1], one[1], two[1]}) == 3 and one == in_fork(1, program, keeps_data=True)
    for values in zip(one[2], two[2], strict=True):  # type: ignore[call-overload]
        assert values[0] != values[1]


def test_a_model_that_was_read_counts_from_its_optimizer_on() -> None:
    model = torch.nn.Linear(1, 1)

    def program() -> list[object]:
        first = torch.rand(1).item()
        torch.optim.SGD(model.parameters(), lr=0.1)
        return [first, torch.rand(1).item()]

    one, two = (in_fork(number, program, keeps_data=True) for number in (1, 2))
    assert one[0] == two[0] and one[1] != two[1]


def as_it_looks_after_a_model() -> list[object]:
    torch.nn.Linear(1, 1)
    return look_alike()


@pytest.mark.parametrize("number", [0, 1])
def test_nothing_else_is_different(number: int) -> None:
    result = in_fork(number, look_alike)
    result += in_fork(number, as_it_looks_after_a_model, keeps_data=True)
    assert all(item is True for item in result), result


def test_names_of_temporary_files_differ() -> None:
    def named() -> list[object]:
        torch.nn.Linear(1, 1)
        return [tempfile.mktemp()]

    names = [in_fork(1, named, keeps_data) for keeps_data in (False, False, True, True)]
    assert len({str(name) for name in names}) == 4


def test_moved() -> None:
    assert moved(5, 0) == 5
    assert moved(True, 3) is True
    assert moved(None, 3) is None
    assert moved(5, 3) == moved(np.int64(5), 3) != 5
    assert 0 <= moved(-1, 1001) < 2**32
    assert 0 <= moved(2**63, 1001) < 2**32
    generator = np.random.default_rng(1)
    assert moved(generator, 3) is generator
