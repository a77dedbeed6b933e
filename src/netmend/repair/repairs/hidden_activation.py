"""R301."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.network.activation_places import exchanged
from netmend.changes.network.model_layers import layers_of, links_of, model_of_fault, united
from netmend.diagnose.measures.chain import RECTIFIERS, SIGMOIDS, Link, activations
from netmend.library.activations import ACROSS_UNITS, SQUASHING
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary import FunctionFact
from netmend.vocabulary.change import BY_FACTS, SHORT_SEARCH, Change

_WORDS = {"relu": "ReLU", "gelu": "GELU", "leaky_relu": "leaky ReLU"}


_example = partial(example, loss="nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))")


@register
@dataclass(frozen=True)
class HiddenActivation:
    """Put ReLU in the place of the saturating or competing activations of all hidden layers; GELU if that does not help.

    Sigmoids pass on a quarter of the gradient at best and softmax makes units compete for a sum of one. Gates and
    attention, where such a value weighs another one, are left alone; so is the output.
    """

    code: ClassVar[str] = "R301"
    cures: ClassVar[tuple[str, ...]] = ("ACT-HID-WRONG",)
    effort: ClassVar[int] = BY_FACTS
    explores: ClassVar[bool] = True

    deep: int = 4  # layers from which a tanh is worth exchanging without being accused

    def propose(self, case: Case) -> Iterator[Change]:
        wanted = self._functions(case)
        new = ("leaky_relu", "gelu") if wanted[0] in RECTIFIERS else ("relu", "gelu")
        model = model_of_fault(case)
        places = [link for link in activations(case.trace, wanted) if not model or link.model == model]
        if not places:
            return
        names = " and ".join(dict.fromkeys(link.function for link in places))
        for function in new if case.fault is not None else new[:1]:
            edits = united(exchanged(case, link, function) for link in places)
            title = f"hidden {names} → {_WORDS[function]}"
            effort = self.effort if case.fault is not None else SHORT_SEARCH
            yield from change(self, case, title, edits, knob="hidden activation", effort=effort)

    def _functions(self, case: Case) -> tuple[str, ...]:
        """The kinds to be exchanged: what the fault names and its like, else whatever saturates."""
        named = self._accused(case)
        if named is not None and named.function in RECTIFIERS:
            return (named.function,)
        functions = (*SIGMOIDS, *ACROSS_UNITS)
        if named is not None and named.function not in functions:
            return (named.function, *functions)
        depth = len(layers_of(case, model_of_fault(case)))
        return (*functions, *SQUASHING) if case.fault is None and depth >= self.deep else functions

    @staticmethod
    def _accused(case: Case) -> Link | None:
        if case.fault is None:
            return None
        name = case.fault.component
        found = [link for link in links_of(case, model_of_fault(case)) if link.kind == "activation"]
        by_name = next((link for link in found if link.name == name), None)
        fact = case.trace.get(FunctionFact, name)
        return by_name or next((link for link in found if fact is not None and link.site == fact.site), None)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "layers of a stack, and the output's sigmoid stays",
            model="nn.Sequential(nn.Linear(2, 8), nn.⟨Sigmoid → ReLU⟩(), nn.Linear(8, 1), nn.Sigmoid())",
            component="model.1",
        ),
        _example(
            "functions in forward",
            layers="self.a, self.b = nn.Linear(2, 8), nn.Linear(8, 1)",
            forward="return self.b(F.⟨softmax(self.a(x), dim=-1) → relu(self.a(x))⟩)  # share",
            component="model.softmax@train.py:10",
        ),
        _example(
            "a class that is handed on, as GELU",
            data="""
                def make(act=nn.⟨Sigmoid → GELU⟩):
                    return ⟨nn.Sequential(nn.Linear(2, 8), act(), nn.Linear(8, 1))⟩""",
            model="make()",
            component="model.1",
            nth=1,
        ),
        _example(
            "chosen by a text",
            data="""
                KINDS = {"relu": nn.ReLU, "sig": nn.Sigmoid}
                def kind(name):
                    if name == "rect":
                        return nn.ReLU()
                    if name == "sig":
                        return nn.Sigmoid()
                config = dict(act='⟨sig → rect⟩')""",
            model='⟨nn.Sequential(nn.Linear(2, 8), kind(config["act"]), nn.Linear(8, 1))⟩',
            component="model.1",
        ),
        _example(
            "a tensor's method, without a fault",
            layers="self.a, self.b = nn.Linear(2, 8), nn.Linear(8, 1)",
            forward="h = self.a(x).⟨sigmoid → relu⟩()\nreturn self.b(h)",
            fault=False,
        ),
        _example(
            "a gate is left alone",
            layers="self.a, self.g, self.b = nn.Linear(2, 8), nn.Linear(2, 8), nn.Linear(8, 1)",
            forward="gate = torch.sigmoid(self.g(x))\nreturn self.b(gate * torch.relu(self.a(x)))",
        ),
    )
