"""Changes of what layers compute with: activations, first values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.changes.network.activation_choice import NAMES, is_named
from netmend.changes.network.activation_places import exchanged
from netmend.changes.network.first_values import without
from netmend.changes.network.model_layers import links_of
from netmend.diagnose.measures.chain import Link, last_weighted
from netmend.library.activations import layers
from netmend.neutral.move import Move
from netmend.program.source.naming import qualified, spelled
from netmend.program.source.writing import replace
from netmend.program.text.file import File
from netmend.program.text.queries import last_name
from netmend.testing.example import example
from netmend.vocabulary import Site
from netmend.vocabulary.change import BY_FACTS, Change, FileEdits

_FIT = "nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))"
_STACK = "nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))"

# Function and layer.
KINDS = layers("relu", "sigmoid", "tanh", "elu", "selu", "softplus", "gelu")
_IN_TORCH = ("relu", "sigmoid", "tanh", "selu")  # the others are functions of torch.nn.functional only


class OtherActivation(Move, code="N104", causes=("ACT-HID-WRONG", "ACT-OUT-WRONG"), effort=BY_FACTS):
    """An activation of another kind, for each layer and for all hidden layers at once.

    ReLU, sigmoid, tanh, ELU, SELU, softplus, GELU; of the output too.
    """

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
                yield from self.change(
                    cause, title, other_activation(case, first, new), knob=f"activation {names}"
                )
            edits = [other_activation(case, links[0], new) for links in hidden if links[0].function != new]
            if len(edits) > 1 and all(edits):
                both = tuple(dict.fromkeys(edit for part in edits for edit in part))
                title = f"every hidden activation → {new}"
                yield from self.change("ACT-HID-WRONG", title, both, knob="hidden activation")

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

    EXAMPLES = {
        "a layer of a stack": example(
            model="nn.Sequential(nn.Linear(2, 8), ⟨nn.Sigmoid() → nn.Tanh()⟩, nn.Linear(8, 1))",
            loss=_FIT,
            nth=1,
        ),
        "a function in forward": example(
            layers="self.a, self.b = nn.Linear(2, 8), nn.Linear(8, 1)",
            forward="return self.b(torch.⟨softmax(self.a(x), dim=1) → sigmoid(self.a(x))⟩)",
            loss=_FIT,
            nth=1,
        ),
        "all hidden ones at once": example(
            model="nn.Sequential(nn.Linear(2, 8), ⟨nn.Sigmoid() → nn.ReLU()⟩, nn.Linear(8, 8), "
            "⟨nn.Sigmoid() → nn.ReLU()⟩, nn.Linear(8, 1))",
            loss=_FIT,
            nth=2,
        ),
        "no activation at all": example(model="nn.Sequential(nn.Linear(2, 8), nn.Linear(8, 1))", loss=_FIT),
    }


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


# Function, further arguments, whether it needs a matrix.
_FIRST_VALUES = (
    ("xavier_uniform_", "", True),
    ("xavier_normal_", "", True),
    ("kaiming_uniform_", "", True),
    ("kaiming_normal_", "", True),
    ("normal_", ", std=0.05", False),
    ("uniform_", ", -0.05, 0.05", False),
    ("zeros_", "", False),
    ("ones_", "", False),
)


class OtherInitialiser(Move, code="N105", causes=("ARC-INIT-WEIGHT", "ARC-INIT-BIAS"), effort=BY_FACTS):
    """Other first values for weights or biases that the program sets itself.

    Glorot's and He's, uniform and normal, small random values, zeros, ones; or the framework's own, without the line.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        for file in case.code.files(case.trace.run.script):
            for call in file.calls():
                full = qualified(file, call.func)
                if full.startswith("torch.nn.init.") and call.args and full.endswith("_"):
                    yield from self._others(file, call, full.rpartition(".")[2])

    def _others(self, file: File, call: ast.Call, present: str) -> Iterator[Change]:
        target = file.source(call.args[0])
        bias = "bias" in target.rpartition(".")[2]
        cause = "ARC-INIT-BIAS" if bias else "ARC-INIT-WEIGHT"
        knob = (
            f"first values of {target}, line {call.lineno}"
            if file.loop(call)
            else f"first values of {target}"
        )
        statement = file.statement(call)
        if isinstance(statement, ast.Expr) and statement.value is call:
            edits, _ = without(file, [statement])
            yield from self.change(cause, f"{target}: the framework's own first values", edits, knob=knob)
        for name, more, matrix in _FIRST_VALUES:
            if name == present or (matrix and bias):
                continue
            written, extra = spelled(file, f"torch.nn.init.{name}", like=call.func)
            edits = (*replace(file, call, f"{written}({target}{more})"), *extra)
            yield from self.change(cause, f"{target}: {present} → {name}", edits, knob=knob)

    EXAMPLES = {
        "the framework's own": example(
            model=_STACK,
            helpers="""
            - nn.init.zeros_(model[0].weight)
            nn.init.zeros_(model[2].weight)
            """,
            loss=_FIT,
        ),
        "Glorot's, in a function": example(
            imports="from torch.nn.init import ⟨constant_ → constant_, xavier_uniform_⟩",
            data="""
            def start(module):
                if isinstance(module, nn.Linear):
                    ⟨constant_(module.weight, 0.5) → xavier_uniform_(module.weight)⟩
                    constant_(module.bias, 0.5)
            """,
            model=_STACK,
            helpers="model.apply(start)",
            loss=_FIT,
            nth=1,
        ),
        "a bias is no matrix": example(
            model=_STACK,
            helpers="nn.init.⟨ones_(model[0].bias) → normal_(model[0].bias, std=0.05)⟩",
            loss=_FIT,
            nth=1,
        ),
        "nothing is set by the program": example(model=_STACK, loss=_FIT),
    }
