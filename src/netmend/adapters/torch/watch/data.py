"""Data: DataLoaders, and fingerprints of the batches that models are shown: a hash per sample, statistics per feature, a histogram of labels."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, RandomSampler, SequentialSampler, WeightedRandomSampler
from torch.utils.data.dataloader import _BaseDataLoaderIter

from netmend.adapters.torch.guard import RAISED, guarded
from netmend.adapters.torch.watch.arrivals import Deferred, Gathering
from netmend.adapters.torch.watch.eligible import tensors_in
from netmend.adapters.torch.watch.fingerprints import (
    describe_inputs,
    describe_targets,
    hash_samples,
    summary_of,
)
from netmend.adapters.torch.watch.loaders import Collation, HandedLabels, copied_to_workers, same_order
from netmend.observe.schedule import FULL
from netmend.vocabulary import BatchPrint, LoaderFact

if TYPE_CHECKING:
    from netmend.adapters.preparation.watch import Preparation
    from netmend.adapters.torch.watch.models import Model
    from netmend.adapters.torch.watch.session import TorchSession


_SHARE = 0.2  # of the budget goes into fingerprints on ordinary steps
_FIRST = {"training": 64, "evaluation": 16}  # batches that are fingerprinted whatever the budget says
_WRAPPED = 4  # subsets of subsets of a data set that are looked through
_MOST_KEPT = 1_000_000  # numbers of a batch that is copied for questions at the end
_MOST_SAMPLES = 65_536  # hashes kept, each for training and evaluation


class Data:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self.loaders: dict[str, LoaderFact] = {}
        self.deferred = Deferred()
        self.collation = Collation(session)
        self.handed = HandedLabels(session)
        self.preparation: Preparation | None = None
        self._loader = ""  # that handed out the latest batch
        self._pair: list[Tensor] = []  # the tensors of that batch
        self._open: Opening | None = None
        self._hashed = {"training": 0, "evaluation": 0}
        self._last = {"training": -1, "evaluation": -1}
        self._seen = {"training": 0, "evaluation": 0}
        self._cost = 0.0

    def install(self) -> None:
        watch = self.session.watch
        watch("DataLoaders", DataLoader, "__iter__", self._iterating, always=True)
        watch("DataLoaders", _BaseDataLoaderIter, "__next__", self._fetching, self._fetched)

    # -- loaders ------------------------------------------------------------------------------------------------

    def _iterating(self, args: Any, kwargs: Any) -> None:
        self.session.promote()
        if self.session.watching():
            self._epoch(args[0])
        if self.preparation is not None:  # the workers are forked next
            self.preparation.loading(self._loader)

    def _fetching(self, args: Any, kwargs: Any) -> bool | None:
        if not self._loader or not self.session.watching():
            return None
        self.collation.begins(args[0], self._loader)
        if self.preparation is not None:
            self.preparation.loading(self._loader)
        return True

    def _fetched(self, token: Any, args: Any, kwargs: Any, result: Any) -> None:
        self.collation.ends()
        if self.preparation is not None:
            self.preparation.loading("")
        if result is not RAISED:
            self._batch(result)

    @guarded("DataLoaders")
    def _epoch(self, loader: Any) -> None:
        session = self.session
        name = session.names.get(loader)
        site = session.sites.here()
        if name is None:
            name = session.unique_name(session.sites.name_here(loader) or "loader")
            session.names.put(loader, name)
            fact = self.loaders[name] = _loader_fact(session, loader, name)
            self._worker_seeds(loader, name)
            if self.preparation is not None:
                self.preparation.loader(
                    name, loader.dataset, fact.samples, fact.workers, fact.created or site
                )
        if self.loaders[name].iterated is None:
            self._store(replace(self.loaders[name], iterated=site))
        self._loader = name
        session.evaluation.data_begins()
        session.recorder.patterns.note("epoch", name, "", site)

    def _worker_seeds(self, loader: Any, name: str) -> None:
        copied = copied_to_workers(loader)
        if copied is not None:
            values = {"workers": loader.num_workers, **vars(copied)}
            site = values.pop("site")
            self.session.recorder.probe("worker seeds", name, values, site)

    @guarded("DataLoaders")
    def _batch(self, batch: Any) -> None:
        self.session.recorder.patterns.note("batch", self._loader)
        self.handed.arrived(batch)
        wanted = self.preparation is not None and self.preparation.batches.wanted("evaluation")
        self._pair = list(tensors_in(batch))[:2] if wanted else []

    def _store(self, fact: LoaderFact) -> None:
        self.loaders[fact.name] = fact
        self.session.recorder.fact(fact)

    def _phase_known(self, phase: str) -> None:
        fact = self.loaders.get(self._loader)
        if fact is not None and fact.phase == "unknown":
            self._store(replace(fact, phase=phase))

    @property
    def fetching(self) -> bool:
        """Whether a loader is just making a batch."""
        return self.collation.at_work

    @property
    def batch_size(self) -> int | None:
        """Samples in a batch of the loader that was asked last."""
        fact = self.loaders.get(self._loader)
        return fact.batch_size if fact is not None else None

    # -- fingerprints -------------------------------------------------------------------------------------------

    def looked_at(self, model: Model, args: Any, kwargs: Any, training: bool) -> None:
        """A model is called: fingerprint its input, if it is time."""
        phase = "training" if training else "evaluation"
        self.close()
        self._phase_known(phase)
        self._seen[phase] += 1
        full = self.session.recorder.level == FULL and training
        if not full and not self._due(phase):
            return
        inputs = next((t for t in tensors_in((args, kwargs)) if t.dim() >= 1 and len(t)), None)
        if inputs is None:
            return
        if _single(inputs, model):
            inputs = inputs.unsqueeze(0)
        started = perf_counter()
        self.handed.fed(inputs)
        self._last[phase] = self._seen[phase]
        step = self.session.recorder.step
        self._open = Opening(self.session, BatchPrint(step, phase, len(inputs), model.name))
        if self.preparation is not None and self.preparation.batches.wanted(phase):
            self._open.inputs = inputs.detach()
            if phase == "evaluation" and len(self._pair) == 2 and same_order(self._pair[0], inputs.detach()):
                self._open.came_with = self._pair[1]
        if self.preparation is not None and training:
            self.preparation.batch_arrives()
        self._examine(inputs.detach(), model.name, full or not training)
        cost = perf_counter() - started
        self._cost = cost if not self._cost else 0.8 * self._cost + 0.2 * cost

    def _due(self, phase: str) -> bool:
        if self._hashed[phase] >= _MOST_SAMPLES:
            return False
        seen = self._seen[phase]
        if seen <= _FIRST[phase] or seen & (seen - 1) == 0:
            return True
        budget = self.session.recorder.budget
        if not budget.base_seconds or not self._cost:
            return True
        interval = self._cost / (budget.base_seconds * budget.share * _SHARE)
        return seen - self._last[phase] >= interval

    @torch.no_grad()
    def _examine(self, inputs: Tensor, model: str, full: bool) -> None:
        opened = self._open
        assert opened is not None
        phase, step, recorder = opened.print.phase, opened.print.step, self.session.recorder
        wanted: dict[str, Tensor] = {}
        if self._hashed[phase] < _MOST_SAMPLES:
            self._hashed[phase] += len(inputs)
            wanted["hashes"] = hash_samples(inputs)
        axis = ""
        if full:
            axis, features = describe_inputs(inputs)
            if features is not None:
                wanted["features"] = features
            if inputs.is_floating_point() and phase == "training":
                wanted["summary"] = summary_of(inputs)

        def known(values: dict[str, Tensor]) -> None:
            if "summary" in values:
                recorder.row("input", model, step, values["summary"].tolist())
            features = (
                tuple(tuple(row) for row in values["features"].t().tolist()) if "features" in values else ()
            )
            hashes = tuple(values["hashes"].tolist()) if "hashes" in values else ()
            opened.fill({"hashes": hashes, "features": features, "feature_axis": axis})

        if wanted:
            self.deferred.add(wanted, opened.gathering.awaited(known))

    def saw_target(self, target: Tensor | None) -> None:
        """A loss was computed for the batch that was fingerprinted last."""
        opened = self._open
        if opened is None or opened.has_target or target is None or not target.numel():
            return
        if target.dim() == 0 or len(target) != opened.print.size:
            return
        opened.has_target = True

        def known(values: dict[str, Tensor]) -> None:
            opened.fill(describe_targets(values["target"]))

        self.deferred.add({"target": target.detach()[:4096]}, opened.gathering.awaited(known))
        self._keep(opened, target.detach())

    def _keep(self, opened: Opening, target: Tensor) -> None:
        """Copies of the first batches, one row for each sample."""
        inputs, opened.inputs = opened.inputs, None
        if inputs is None or self.preparation is None or inputs.numel() + target.numel() > _MOST_KEPT:
            return
        if inputs.dtype == torch.bfloat16 or inputs.is_complex() or target.dtype == torch.bfloat16:
            return

        kept = self.preparation.batches

        def arrived(values: dict[str, Tensor]) -> None:
            kept.keep(
                opened.print.phase, opened.print.step, values["inputs"].numpy(), values["target"].numpy()
            )

        self.deferred.add({"inputs": inputs, "target": target}, arrived)

    def close(self) -> None:
        opened, self._open = self._open, None
        if opened is not None:
            if opened.came_with is not None and not opened.has_target:
                self._keep(opened, opened.came_with)  # scored without a loss
            elif opened.inputs is not None and opened.print.phase == "evaluation":
                self._keep(opened, opened.inputs.new_zeros((len(opened.inputs), 0)))  # answers without a loss
            opened.gathering.close(lambda: self.session.recorder.batch(opened.print))

    def step_over(self, step: int) -> None:
        self.handed.forget()
        self.deferred.collect()
        self.close()

    def finish(self) -> None:
        self.deferred.collect(wait=True)
        self.close()
        self.deferred.collect(wait=True)  # what was kept of the last batch


class Opening:
    """A fingerprint that is being put together; written once it is closed and everything about it has arrived."""

    def __init__(self, session: TorchSession, empty: BatchPrint) -> None:
        self.print = empty
        self.has_target = False
        self.inputs: Tensor | None = None
        self.came_with: Tensor | None = None  # the second part of the loader's batch
        self.gathering = Gathering(session)

    def fill(self, fields: dict[str, Any]) -> None:
        self.print = replace(self.print, **fields)


def _single(inputs: Tensor, model: Model) -> bool:
    """Whether a row of numbers is one sample's features rather than a batch: the first layer takes as many."""
    module = model.reference() if inputs.dim() == 1 and inputs.is_floating_point() else None
    if module is None:
        return False
    weight = next((p for p in module.parameters() if p.dim() == 2), None)
    return weight is not None and weight.shape[1] == len(inputs)


def _loader_fact(session: TorchSession, loader: Any, name: str) -> LoaderFact:
    dataset, sampler = loader.dataset, getattr(loader, "sampler", None)
    shuffle = None
    if isinstance(sampler, (RandomSampler, WeightedRandomSampler)):
        shuffle = True
    elif isinstance(sampler, SequentialSampler):
        shuffle = False
    elif type(sampler).__name__ == "DistributedSampler":
        shuffle = bool(getattr(sampler, "shuffle", False))
    try:
        samples = len(dataset)
    except TypeError:  # an iterable dataset has no length
        samples = None
    return LoaderFact(
        name=name,
        dataset=type(dataset).__name__,
        samples=samples,
        batch_size=loader.batch_size,
        shuffle=shuffle,
        sampler=type(sampler).__name__ if sampler is not None else "",
        drop_last=bool(loader.drop_last),
        workers=loader.num_workers,
        created=session.created.get(loader),
        part=_part(dataset),
    )


def _part(dataset: Any) -> str:
    """Which part of the data a data set says it holds: `train=False`, `split="test"`; "" where it says nothing."""
    for _ in range(_WRAPPED):
        train, split = getattr(dataset, "train", None), getattr(dataset, "split", None)
        if isinstance(train, bool):
            return "train" if train else "test"
        if isinstance(split, str):
            return {"train": "train", "training": "train", "test": "test"}.get(split.lower(), "")
        dataset = getattr(dataset, "dataset", None)
        if dataset is None:
            return ""
    return ""
