"""R501."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.data.batch_order import in_random_order
from netmend.diagnose.measures.batches import training_loader
from netmend.program.source.naming import rename_callee
from netmend.program.source.values import Faces, set_argument
from netmend.program.text.queries import last_name
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary import LoaderFact
from netmend.vocabulary.change import FREE, Change


@register
@dataclass(frozen=True)
class Shuffle:
    """Draw the training samples in a new random order in every epoch.

    Helps where the data is sorted, by class or by time of recording. It costs nothing, but a program whose order carries meaning
    (a stream, a curriculum) is changed by it.
    """

    code: ClassVar[str] = "R501"
    cures: ClassVar[tuple[str, ...]] = ("API-SHUFFLE-POS",)
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = True

    def propose(self, case: Case) -> Iterator[Change]:
        loader = self._loader(case)
        if loader is not None:
            title = f"shuffle {loader.name or 'the training data'}"
            yield from change(self, case, title, _shuffled(case, loader), knob="training order")
        elif case.fault is not None and training_loader(case.trace) is None:
            edits = in_random_order(case)
            yield from change(self, case, "draw the batches in random order", edits, knob="training order")

    def _loader(self, case: Case) -> LoaderFact | None:
        """A loader that feeds training in the order of its data."""
        loader = training_loader(case.trace)
        if loader is None or loader.shuffle is not False or loader.sampler not in ("SequentialSampler", ""):
            return None
        return loader

    EXAMPLES: ClassVar[tuple[Example, ...]] = ()


def _shuffled(case: Case, loader: LoaderFact) -> Faces:
    found = case.code.call_at(loader.created)
    if found is None:
        return Faces()
    file, call = found
    sources = case.sources
    if last_name(call.func) != "DataLoader" or sources.argument(call, "batch_sampler", 4) is not None:
        return Faces()
    sampler = sources.argument(call, "sampler", 3)
    if isinstance(sampler, ast.Call) and last_name(sampler.func) == "SequentialSampler":
        return Faces(rename_callee(file, sampler, "torch.utils.data.RandomSampler"))
    if sampler is not None and not (isinstance(sampler, ast.Constant) and sampler.value is None):
        return Faces()
    return set_argument(case.code, loader.created, "shuffle", "True", position=2, arguments=case.arguments)


_example = partial(
    example,
    begin="torch.manual_seed(0)\nx, y = torch.randn(12, 4), torch.arange(12) // 6",
    model="nn.Linear(4, 2)",
    epochs="for epoch in range(2)",
    loop="for a, b in loader",
    backward="nn.functional.cross_entropy(model(a), b)",
)


Shuffle.EXAMPLES = (
    _example("a loader", setup="loader = DataLoader(TensorDataset(x, y), batch_size=⟨4 → 4, shuffle=True⟩)"),
    _example(
        "a constant elsewhere",
        setup="""
            MIX = ⟨False → True⟩
            loader = ⟨DataLoader(TensorDataset(x, y), batch_size=4, shuffle=MIX)⟩""",
    ),
    example(
        "slices in order",
        """
            torch.manual_seed(0)
            x, y = torch.randn(12, 4), torch.arange(12) // 6
            model = nn.Linear(4, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for epoch in range(2):
                + order = torch.randperm(len(x))
                for start in range(0, len(x), 4):
                    stop = start + 4
                    out = model(x[⟨start:stop → order[start:stop]⟩])
                    loss = nn.functional.cross_entropy(out, y[⟨start:stop → order[start:stop]⟩])
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()""",
        mark="for start",
    ),
    example(
        "pieces side by side",
        """
            torch.manual_seed(0)
            x, y = torch.randn(12, 4), torch.arange(12) // 6
            model = nn.Linear(4, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for epoch in range(2):
                + order = torch.randperm(len(x))
                for a, b in zip(x⟨.split(4), y → [order].split(4), y[order]⟩.split(4)):
                    optimizer.zero_grad()
                    nn.functional.cross_entropy(model(a), b).backward()
                    optimizer.step()""",
        mark="for a, b",
    ),
    _example(
        "a generator of batches",
        setup="""
            def batches(inputs, labels, size):
                + order = torch.randperm(len(inputs))
                for i in range(0, len(inputs), size):
                    yield inputs[⟨i : i + size], labels[i : i + size → order[i : i + size]], labels[order[i : i + size]⟩]""",
        loop="⟨for a, b in batches(x, y, 4)⟩",
    ),
    _example(
        "shuffled already", setup="loader = ⟨DataLoader(TensorDataset(x, y), batch_size=4, shuffle=True)⟩"
    ),
)
