"""The examination of a trained model in its own process: every test set is put to it, input by input.

Originals keep the inputs and labels that they were examined on. A mutant of the same seed gets the same ones, because a fault in the
data must not change what it is judged by. Only where a mutant's own test set has the same labels in the same order are its inputs
taken as its program prepares them: preparation is a part of the program, and a fault in it has to show."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from netmend.adapters.torch.subject.answers import (
    Task,
    as_data,
    class_labels,
    constant_score,
    judged,
    task_of,
)
from netmend.adapters.torch.subject.calls import Heard
from netmend.adapters.torch.subject.data import Data, canonical_order, read_data, sorted_digest, write_data
from netmend.adapters.torch.subject.listener import MOST_TRAINING, Listener
from netmend.adapters.torch.subject.sources import NoData, found_data, heard_data, own_test
from netmend.adapters.torch.watch.eligible import tensors_in
from netmend.adapters.torch.watch.undisturbed import undisturbed
from netmend.launch.run import Finished
from netmend.mutate.examined import DATA, WEIGHTS, Examined
from netmend.mutate.test_sets import PROGRAM, TRAINING, TestSet, from_data

_LONGEST = 120.0  # seconds; what is not reached by then is left out
Answers = Callable[[nn.Module, Data, Task], np.ndarray]


def examine_weights(
    model: nn.Module,
    sets: dict[str, Data],
    task: Task,
    arrays: dict[str, np.ndarray],
    answers: Answers,
    wishes: dict[str, Any],
    notes: list[str],
) -> list[str]:
    """Every operator at a few layers and shares; the results go into `arrays`. The names of the mutants."""
    from netmend.adapters.torch.weight_mutants import MUTANTS

    made: list[str] = []
    kind = "right" if task.higher_is_better else "error"
    started = perf_counter()
    for operator in MUTANTS.all():
        for place in _spread(operator.places(model), int(wishes["places"])):
            for share in wishes["shares"]:
                if perf_counter() - started > _LONGEST:
                    return made
                name = f"{WEIGHTS}/{operator.code}/{place.replace('/', '|') or 'model'}/{share:g}"
                generator = torch.Generator().manual_seed(_number(name))
                found: dict[str, np.ndarray] = {}
                try:
                    with operator.apply(model, place, float(share), generator):
                        for test, data in sets.items():
                            values = answers(model, data, task)
                            found[f"{name}/{test}/{kind}"] = (
                                values.astype(bool) if kind == "right" else values
                            )
                except Exception as problem:  # noqa: BLE001 - a layer that an operator does not fit must not cost the others
                    notes.append(f"{operator.code} at {place}: {type(problem).__name__}: {problem}")
                    break
                arrays.update(found)
                made.append(name)
    return made


def _spread(places: list[str], most: int) -> list[str]:
    """A few of the places, from the first to the last."""
    if len(places) <= most:
        return places
    return (
        [places[round(number * (len(places) - 1) / (most - 1))] for number in range(most)]
        if most > 1
        else places[:1]
    )


def _number(name: str) -> int:
    """The same for every model, so that all originals are changed alike."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=4).digest(), "big")


_listener: Listener | None = None


def begin(options: str, folder: Path) -> None:
    """Listen while the program runs."""
    global _listener
    _listener = Listener(str(folder / "program"))
    _listener.install()


def end(options: str, finished: Finished) -> None:
    """Put the test sets to the model that the program has left."""
    listener = _listener
    if listener is None:
        return
    listener.finish()
    wishes: dict[str, Any] = json.loads(options)
    adapter = getattr(finished.watching, "_adapter", None)
    try:
        if adapter is not None:
            adapter.alive = False  # what is computed here is not the program's
        examined = Examination(wishes, finished, listener).run()
    except NoData as problem:
        examined = Examined({}, {"problem": str(problem), "sets": {}})
    finally:
        if adapter is not None:
            adapter.alive = True
    examined.write(finished.folder)


def needs(options: str, folder: Path) -> list[tuple[str, Path]]:
    """What another machine has to be given: the data of the original, under its name in the trial's own folder."""
    given = json.loads(options).get("data", "")
    place = folder.parent / given / DATA
    return [(DATA, place)] if given and place.exists() else []


@dataclass
class Examination:
    """One model, its test sets, and what it was given."""

    wishes: dict[str, Any]
    finished: Finished
    listener: Listener

    def run(self) -> Examined:
        if self.listener.example is None:
            why = "; ".join(dict.fromkeys(self.listener.problems))
            raise NoData(
                f"no call of a model was seen{f' ({why})' if why else ''}; is the script the one that trains?"
            )
        tests = [from_data(each) for each in self.wishes["tests"]]
        given = self.wishes.get("data", "")
        own = self._own_sets(tests, strict=not given)
        if given:
            kept, meta = read_data(_given(self.finished.folder, given))
            sets, task = self._settled(kept, own), Task(**meta["task"])
        else:
            sets, task = own, self._task(own)
            write_data(sets, {"task": as_data(task)}, self.finished.folder / DATA)
        return self._answers(sets, task)

    def _own_sets(self, tests: list[TestSet], strict: bool) -> dict[str, Data]:
        """The sets that this program itself leads to; a mutant may lack some."""
        listener = self.listener
        found: dict[str, Data] = {}
        for test in tests:
            try:
                if test.kind == PROGRAM:
                    data = heard_data(own_test(listener, listener.rows))
                else:
                    data = found_data(test, listener, self.finished.names, self.finished.root)
                if data is not None:
                    found[test.name] = data
            except Exception as problem:  # noqa: BLE001 - of the user's own data, told as it is
                if strict:
                    kind = "" if isinstance(problem, NoData) else f"{type(problem).__name__}: "
                    raise NoData(f"test set {test.name!r}: {kind}{problem}") from None
        training = heard_data(listener.training, MOST_TRAINING)
        if training is not None:
            found[TRAINING] = training
        elif strict:
            raise NoData(
                "the training data was not found: the model must be called with tensors and answer with one row per sample, "
                "and the labels be given to a loss of torch or come from the same DataLoader"
            )
        return found

    def _settled(self, kept: dict[str, Data], own: dict[str, Data]) -> dict[str, Data]:
        """The original's sets; the mutant's own inputs where it prepares the same ones otherwise."""
        sets = dict(kept)
        prepared_otherwise = False
        for name, data in kept.items():
            mine = own.get(name)
            if (
                name != TRAINING
                and mine is not None
                and _same_labels(mine, data)
                and mine.digest != data.digest
            ):
                sets[name], prepared_otherwise = mine, True
        mine = own.get(TRAINING)
        if prepared_otherwise and mine is not None and _same_labels(mine, kept[TRAINING]):
            sets[TRAINING] = mine
        return sets

    @property
    def _model(self) -> nn.Module:
        """The model that was evaluated last, if it was trained; else the one that was trained last."""
        latest = max(self.listener.passes.values(), key=lambda one: one.order, default=None)
        trained = self.listener.trained
        if (
            latest is not None
            and latest.calls
            and (trained is None or _shares(latest.calls[0].model, trained.model))
        ):
            return latest.calls[0].model
        example = trained or self.listener.example
        assert example is not None
        return example.model

    def _task(self, sets: dict[str, Data]) -> Task:
        """From what a loss was given, in training or else in evaluation."""
        calls: list[Heard] = [*self.listener.training.calls[:1]]
        calls += [call for one in self.listener.passes.values() for call in one.calls[:1] if call.criterion]
        seen = next((call for call in calls if call.criterion), None)
        criterion, relation, which = (seen.criterion, seen.relation, seen.which) if seen else ("", "", 0)
        training = sets[TRAINING]
        labels = training.labels if training.labels is not None else training.batches[0].label
        with undisturbed(self._model):
            output = answer(self._model, sets[TRAINING], 0, which)
        return task_of(criterion, relation, which, output, labels)

    def _answers(self, sets: dict[str, Data], task: Task) -> Examined:
        model = self._model
        arrays: dict[str, np.ndarray] = {}
        about: dict[str, Any] = {}
        kind = "right" if task.higher_is_better else "error"
        with undisturbed(model):
            for name, data in sets.items():
                values = answers(model, data, task)
                arrays[f"{name}/{kind}"] = values.astype(bool) if kind == "right" else values
                arrays[f"{name}/score"] = np.array(values.mean())
                labels = class_labels(task, data)
                if labels is not None:
                    arrays[f"{name}/label"] = labels
                arrays[f"{name}/order"] = canonical_order(data)
                about[name] = {"inputs": data.inputs, "digest": sorted_digest(data), "whole": data.whole}
                about[name]["constant"] = constant_score(task, data)
            mutants: list[str] = []
            notes = list(dict.fromkeys(self.listener.problems))[:3]
            if self.wishes.get("weights"):
                mutants = examine_weights(model, sets, task, arrays, answers, self.wishes["weights"], notes)
        meta = {
            "higher_is_better": task.higher_is_better,
            "task": task.kind,
            "sets": about,
            "weight_mutants": mutants,
            "notes": notes,
        }
        return Examined(arrays, meta)


def _given(folder: Path, name: str) -> Path:
    """The original's data: carried along to another machine, else in the folder of the original."""
    carried = folder / DATA
    return carried if carried.exists() else folder.parent / name / DATA


def _same_labels(one: Data, other: Data) -> bool:
    mine, its = one.labels, other.labels
    return mine is not None and its is not None and mine.shape == its.shape and bool((mine == its).all())


def _shares(one: nn.Module, other: nn.Module) -> bool:
    """Whether two modules have weights in common: a wrapper and what it wraps do."""
    known = {id(parameter) for parameter in one.parameters()}
    return one is other or any(id(parameter) in known for parameter in other.parameters())


def answers(model: nn.Module, data: Data, task: Task) -> np.ndarray:
    """The judged answers to all inputs of a set; those that make the model fail are wrong."""
    parts = []
    for number, batch in enumerate(data.batches):
        output = answer(model, data, number, task.which)
        parts.append(judged(task, output, batch.label))
    return np.concatenate(parts)


@torch.no_grad()
def answer(model: nn.Module, data: Data, number: int, which: int) -> Tensor:
    """The output for one batch; the model is in evaluation mode."""
    model.eval()
    batch = data.batches[number]
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    tensors = [torch.from_numpy(np.ascontiguousarray(array)).to(device) for array in batch.inputs]
    positional = [tensor for tensor, name in zip(tensors, data.names, strict=True) if not name]
    named = {name: tensor for tensor, name in zip(tensors, data.names, strict=True) if name}
    outputs = list(tensors_in(model(*positional, **named)))
    rows = len(batch.label)
    fitting = [each for each in outputs if each.dim() and len(each) == rows]
    if which < len(outputs) and outputs[which].dim() and len(outputs[which]) == rows:
        return outputs[which]
    if not fitting:
        shapes = ", ".join(str(tuple(each.shape)) for each in outputs) or "no tensor"
        raise NoData(f"the model does not answer with one row per input: {shapes} for {rows} inputs")
    return fitting[0]
