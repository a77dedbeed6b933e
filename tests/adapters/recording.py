"""Records a small program in this process and says what its trace holds, beside what the program itself computed."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import netmend
from netmend.vocabulary import Call, Event, LossFact, ModuleFact, ParameterFact, Site, Trace

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\ntorch.manual_seed(0)\n"


@dataclass(frozen=True)
class Recorded:
    """A trace, the program's own variables at its end, and where its marked lines are."""

    trace: Trace
    variables: dict[str, Any]
    source: str
    file: str
    problem: BaseException | None = field(default=None)

    def line(self, mark: str) -> int:
        """The line that ends in the comment `# <- mark`."""
        (found,) = [
            number
            for number, text in enumerate(self.source.splitlines(), start=1)
            if text.endswith(f"# <- {mark}")
        ]
        return found

    def at(self, mark: str, site: Site | None) -> bool:
        """Whether a site is the marked line of the program."""
        return site is not None and (site.file, site.line) == (self.file, self.line(mark))

    def text(self, site: Site) -> str:
        """The source that a site's columns span."""
        lines = self.source.splitlines()
        assert site.column is not None and site.end_line is not None
        if site.line == site.end_line:
            return lines[site.line - 1][site.column : site.end_column]
        inner = lines[site.line : site.end_line - 1]
        last = lines[site.end_line - 1][: site.end_column]
        return "\n".join([lines[site.line - 1][site.column :], *inner, last])

    @property
    def loss(self) -> LossFact:
        (fact,) = self.trace.losses
        return fact

    def module(self, name: str) -> ModuleFact:
        fact = self.trace.get(ModuleFact, name)
        assert fact is not None, f"{name} is not among {[m.name for m in self.trace.all(ModuleFact)]}"
        return fact

    def parameter(self, name: str) -> ParameterFact:
        fact = self.trace.get(ParameterFact, name)
        assert fact is not None, f"{name} is not among {[p.name for p in self.trace.parameters]}"
        return fact

    def calls_of(self, step: int) -> tuple[Call, ...]:
        """What the loop called up to the end of a step, in order."""
        (pattern,) = [p for p in self.trace.patterns if any(first <= step <= last for first, last in p.spans)]
        return pattern.calls

    def order_of(self, step: int) -> list[str]:
        """What the program itself called; that gradients were found clear is a remark of netmend's."""
        own = [call for call in self.calls_of(step) if call.detail != "found clear"]
        return [call.what for call in own for _ in range(call.times)]

    @property
    def nonfinite(self) -> Event:
        """The one event that tells where a non-finite value came from."""
        (event,) = [event for event in self.trace.events if event.kind == "nonfinite"]
        return event

    @property
    def failures(self) -> list[str]:
        """What netmend itself says went wrong inside it."""
        return [event.message for event in self.trace.events if event.kind == "part switched off"]


def record(folder: Path, program: str, *, every: int | None = 1, raises: bool = False) -> Recorded:
    """Run a program, as a script of its own, under `netmend.watch`; netmend must not fail while it does."""
    source = HEAD + textwrap.dedent(program)
    file = folder / "train.py"
    file.write_text(source, encoding="utf-8")
    variables: dict[str, Any] = {"__name__": "__main__", "__file__": str(file)}
    watch = netmend.watch(directory=folder / "netmend", quiet=True, every=every)
    problem: BaseException | None = None
    try:
        with watch:
            exec(compile(source, str(file), "exec"), variables)
    except Exception as raised:
        if not raises:
            raise
        problem = raised
    recorded = Recorded(watch.trace, variables, source, str(file), problem)
    assert not recorded.failures, f"netmend failed: {recorded.failures}"
    return recorded
