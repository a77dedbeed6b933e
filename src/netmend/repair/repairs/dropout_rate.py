"""R308."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.network.layer_removal import call_removed, layer_removed
from netmend.localise.causes.regularisation import dropouts
from netmend.program.source.values import Faces, set_argument
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import BY_FACTS, SHORT_SEARCH, Change, FileEdits

_example = partial(example, loss="nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))")


@register
@dataclass(frozen=True)
class DropoutRate:
    """Lower a dropout rate that is far too high, and take away dropout on the output.

    Usual rates are 0.1 to 0.5. Dropout behind the last layer falsifies the answers themselves. A rate that is too low
    to keep the network from learning by heart is raised.
    """

    code: ClassVar[str] = "R308"
    cures: ClassVar[tuple[str, ...]] = ("LYR-DROPOUT-RATE",)
    effort: ClassVar[int] = BY_FACTS
    explores: ClassVar[bool] = True

    high: float = 0.65  # above all usual rates
    low: float = 0.1  # below it hardly anything is held back

    def propose(self, case: Case) -> Iterator[Change]:
        found = list(dropouts(case.trace))
        on_output = [drop for drop in found if drop.last]
        if on_output and (case.fault is None or any(d.name == case.fault.component for d in on_output)):
            edits = tuple(e for drop in on_output for e in self._without(case, drop.name, drop.functional))
            yield from change(self, case, "no dropout on the output", edits, knob="dropout")
            if case.fault is None or all(drop.last for drop in found):
                return
        too_high = [drop for drop in found if drop.rate >= self.high and not drop.last]
        if too_high:
            yield from self._rates(case, too_high, (0.2, 0.5))
        elif case.fault is not None and not on_output:
            yield from self._rates(case, [drop for drop in found if drop.rate < self.low], (0.5, 0.3))

    def _rates(self, case: Case, drops: list, rates: tuple[float, ...]) -> Iterator[Change]:  # type: ignore[type-arg]
        for rate in rates if drops else ():
            faces = [
                set_argument(
                    case.code, drop.site, "p", f"{rate:g}", 1 if drop.functional else 0, case.arguments
                )
                for drop in drops
            ]
            title = f"dropout {max(drop.rate for drop in drops):g} → {rate:g}"
            effort = self.effort if case.fault is not None else SHORT_SEARCH
            yield from change(self, case, title, _together(faces), knob="dropout", effort=effort)

    @staticmethod
    def _without(case: Case, name: str, functional: bool) -> FileEdits:
        module = case.trace.get(ModuleFact, name)
        if module is not None and not functional:
            return layer_removed(case, module)
        site = next((drop.site for drop in dropouts(case.trace) if drop.name == name), None)
        found = case.code.call_at(site)
        return () if found is None else call_removed(*found)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "a literal",
            model="""
                nn.Sequential(
                    nn.Linear(2, 8),
                    nn.ReLU(),
                    nn.Dropout(p=⟨0.95 → 0.2⟩),  # nearly all
                    nn.Linear(8, 1),
                )""",
            component="model.2",
        ),
        _example(
            "a constant",
            data="RATE = ⟨0.9 → 0.5⟩",
            model="""
                nn.Sequential(
                    nn.Linear(2, 8),
                    nn.ReLU(),
                    ⟨nn.Dropout(RATE)⟩,
                    nn.Linear(8, 1),
                )""",
            component="model.2",
            nth=1,
        ),
        _example(
            "on the output",
            model="""
                nn.Sequential(
                    nn.Linear(2, 8),
                    nn.ReLU(),
                    nn.Identity(),
                    nn.Linear(8, 1),
                    - nn.Dropout(0.4),
                )""",
            component="model.4",
        ),
        _example(
            "a usual rate",
            model="""
                nn.Sequential(
                    nn.Linear(2, 8),
                    nn.ReLU(),
                    nn.Dropout(0.3),
                    nn.Linear(8, 1),
                )""",
        ),
    )


def _together(faces: list[Faces]) -> Faces:
    """One change of several places; arguments of the program are changed once for all."""
    edits = tuple(dict.fromkeys(edit for face in faces for edit in face.edits))
    forced = tuple(dict.fromkeys(edit for face in faces for edit in (face.forced or face.edits)))
    arguments = next((face.arguments for face in faces if face.arguments is not None), None)
    return Faces(edits, () if forced == edits else forced, arguments)
