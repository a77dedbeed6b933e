"""N104."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.network.activation_choice import NAMES, is_named
from netmend.changes.network.activation_places import exchanged
from netmend.changes.network.model_layers import links_of
from netmend.diagnose.measures.chain import Link, last_weighted
from netmend.library.activations import layers
from netmend.neutral.move import moved, register
from netmend.program.source.naming import qualified, spelled
from netmend.program.source.writing import replace
from netmend.program.text.queries import last_name
from netmend.repair.repair import Case, Example
from netmend.vocabulary import Site
from netmend.vocabulary.change import BY_FACTS, Change, FileEdits

# Function and layer.
KINDS = layers("relu", "sigmoid", "tanh", "elu", "selu", "softplus", "gelu")
_IN_TORCH = ("relu", "sigmoid", "tanh", "selu")  # the others are functions of torch.nn.functional only
_TAIL = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))
    loss.backward()
    optimizer.step()
"""


@register
@dataclass(frozen=True)
class OtherActivation:
    """An activation of another kind, for each layer and for all hidden layers at once.

    ReLU, sigmoid, tanh, ELU, SELU, softplus, GELU; of the output too.
    """

    code: ClassVar[str] = "N104"
    causes: ClassVar[tuple[str, ...]] = ("ACT-HID-WRONG", "ACT-OUT-WRONG")
    effort: ClassVar[int] = BY_FACTS

    def propose(self, case: Case) -> Iterator[Change]:
        by_site: dict[Site | None, list[Link]] = {}
        for link in links_of(case):
            if link.kind == "activation":
                by_site.setdefault(link.site, []).append(link)  # layers of a loop are made on one line
        hidden = [links for links in by_site.values() if self._is_hidden(case, links[0])]
        for new in KINDS:
            for links in by_site.values():
                first = links[0]
                if first.function == new:
                    continue
                inner = self._is_hidden(case, first)
                cause = "ACT-HID-WRONG" if inner else "ACT-OUT-WRONG"
                names = ", ".join(dict.fromkeys(self._name(case, link) for link in links))
                title = f"activation {names}: {first.function} → {new}"
                yield from moved(
                    self, cause, title, other_activation(case, first, new), knob=f"activation {names}"
                )
            edits = [other_activation(case, links[0], new) for links in hidden if links[0].function != new]
            if len(edits) > 1 and all(edits):
                both = tuple(dict.fromkeys(edit for part in edits for edit in part))
                title = f"every hidden activation → {new}"
                yield from moved(self, "ACT-HID-WRONG", title, both, knob="hidden activation")

    @staticmethod
    def _name(case: Case, link: Link) -> str:
        """`of model.1`; a function is called by the layer before it: its own name tells which function it is, not where."""
        if link.module is not None:
            return f"of {link.name}"
        before = [other for other in links_of(case) if other.module and other.position < link.position]
        return f"behind {before[-1].name}" if before else f"of {link.model}"

    @staticmethod
    def _is_hidden(case: Case, link: Link) -> bool:
        return link.position < last_weighted(case.trace, link.model)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "a layer of a stack",
            before=f"""
import torch
from torch import nn
model = nn.Sequential(nn.Linear(2, 8), nn.Sigmoid(), nn.Linear(8, 1))
{_TAIL}""",
            old="nn.Sigmoid()",
            new="nn.Tanh()",
            nth=1,
        ),
        Example(
            "a function in forward",
            before=f"""
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 8), nn.Linear(8, 1)
    def forward(self, x):
        return self.b(torch.softmax(self.a(x), dim=1))
model = Net()
{_TAIL}""",
            old="torch.softmax(self.a(x), dim=1)",
            new="torch.sigmoid(self.a(x))",
            nth=1,
        ),
        Example(
            "all hidden ones at once",
            before=f"""
import torch
from torch import nn
model = nn.Sequential(nn.Linear(2, 8), nn.Sigmoid(), nn.Linear(8, 8), nn.Sigmoid(), nn.Linear(8, 1))
{_TAIL}""",
            old="nn.Linear(2, 8), nn.Sigmoid(), nn.Linear(8, 8), nn.Sigmoid()",
            new="nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU()",
            nth=2,
        ),
        Example(
            "no activation at all",
            before=f"""
import torch
from torch import nn
model = nn.Sequential(nn.Linear(2, 8), nn.Linear(8, 1))
{_TAIL}""",
        ),
    )


def other_activation(case: Case, link: Link, new: str) -> FileEdits:
    """Another function in the place of one that ran: the layer where it is made, the call where it is called."""
    found = case.code.call_at(link.module.created if link.module is not None else link.site)
    if found is None:
        return ()
    file, call = found
    if link.module is not None and is_named(file, call.func, link.module.kind):
        name, extra = spelled(file, f"torch.nn.{KINDS[new]}", like=call.func)
        return (*replace(file, call, f"{name}()"), *extra)
    full = qualified(file, call.func) if link.module is None else ""
    if full.startswith("torch.") and last_name(call.func).rstrip("_") == link.function and call.args:
        # Beside the old one, so that changing it back gives the program as it was.
        package = "torch" if full.count(".") == 1 and new in _IN_TORCH else "torch.nn.functional"
        name, extra = spelled(file, f"{package}.{new}", like=call.func)
        return (*replace(file, call, f"{name}({file.source(call.args[0])})"), *extra)
    return exchanged(case, link, new) if new in NAMES else ()
