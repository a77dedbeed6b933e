"""Repairs of the optimiser: another one, and its settings beside the rate."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.loop.good_rates import good_rate, rate_text, usual_rate
from netmend.changes.loop.rate_places import present_rate, set_rate, set_setting
from netmend.changes.loop.updates import exchanged_optimizer
from netmend.library.optimisers import ADAPTIVE, OPTIMISERS
from netmend.localise.lines.rates import momentum
from netmend.program.source.naming import rename_callee
from netmend.program.source.numbers import literal
from netmend.program.source.values import Faces, set_value
from netmend.program.text.edits import item_of
from netmend.program.text.file import File
from netmend.program.text.spans import spans_of
from netmend.repair.repair import Repair
from netmend.repair.repairs.learning_rate import LearningRate
from netmend.testing.example import example
from netmend.vocabulary import OptimizerFact
from netmend.vocabulary.change import BY_FACTS, SHORT_SEARCH, Change, FileEdits

_SHARED = {"params", "lr", "weight_decay", "maximize"}  # mean the same everywhere


_kind_example = partial(
    example,
    data="torch.manual_seed(0)",
    model="nn.Sequential(nn.Linear(100, 50), nn.ReLU(), nn.Linear(50, 1))",
    loss="nn.functional.mse_loss(model(torch.randn(8, 100)), torch.ones(8, 1))",
)


class Optimizer(Repair, code="R402", cures=("OPT-SELECT",), effort=SHORT_SEARCH, explores=True):
    """Use Adam, with a rate that suits the network, in place of another optimiser.

    Adam finds the scale of its steps by itself and learns with the same few rates nearly everywhere; what it does not know
    (momentum, nesterov) is dropped, weight decay stays. An optimiser that was only run with a foreign rate gets its own.
    SGD with momentum is tried where Adam itself is the suspect.
    """

    near: float = 3.0  # times: a rate that is no further from the good one stays

    def propose(self, case: Case) -> Iterator[Change]:
        optimizer = case.optimizer
        found = None if optimizer is None else case.code.call_at(optimizer.created)
        if optimizer is None or found is None:
            return
        file, call = found
        if optimizer.kind not in ADAPTIVE:
            yield from self._other(case, optimizer, file, call, "Adam")
            if case.fault is not None and optimizer.kind not in ("SGD", "LBFGS"):
                yield from self._own_rate(case, optimizer)
        elif case.fault is not None:
            yield from self._other(case, optimizer, file, call, "SGD")

    def refine(self, case: Case, done: Change) -> Iterator[Change]:
        """The new optimiser's rate, higher and lower."""
        yield from LearningRate().refine(case, done)

    def _other(
        self, case: Case, optimizer: OptimizerFact, file: File, call: ast.Call, kind: str
    ) -> Iterator[Change]:
        unpacked = any(keyword.arg is None for keyword in call.keywords)
        if unpacked or any(isinstance(given, ast.Starred) for given in call.args):
            return
        if not isinstance(call.func, ast.Name | ast.Attribute):
            return
        repeated = 0.9 if kind == "SGD" else 0.0
        present, wanted = present_rate(case, optimizer), good_rate(case.trace, optimizer, kind, repeated)
        keep = (
            present is not None and present > 0 and 1 / self.near <= wanted / present <= self.near
        ) and case.code.sources.argument(call, "lr", 1) is not None
        faces = Faces() if keep or present is None else set_rate(case, optimizer, wanted, present)
        if not keep and not faces:
            return
        if kind == "SGD":
            edits, faces = self._written(case, optimizer, file, call, faces)
        else:
            edits = (*rename_callee(file, call, "torch.optim.Adam"), *_dropped(file, call))
        forced = (*edits, *faces.forced) if faces.forced else ()
        rate = rate_text(present if keep and present is not None else wanted)
        yield from self.change(
            case,
            f"{optimizer.kind} → {kind}{' with momentum' if kind == 'SGD' else ''}, learning rate {rate}",
            Faces((*edits, *faces.edits), forced, faces.arguments),
            knob=optimizer.name,
        )

    def _written(
        self, case: Case, optimizer: OptimizerFact, file: File, call: ast.Call, faces: Faces
    ) -> tuple[FileEdits, Faces]:
        """The call of SGD, written anew; a rate that is set in the call is written with it."""
        start, end = file.span(call)
        inside = [
            edit
            for edit in faces.edits
            if edit.file == file.file
            and (span := spans_of(file.text, [edit.edit]))
            and all(start <= part.start <= part.end <= end for part in span)
        ]
        rate = inside[0].edit.text.removeprefix(", lr=") if inside else ""
        edits = exchanged_optimizer(case, optimizer, "SGD", rate, more="momentum=0.9", kept=("weight_decay",))
        rest = tuple(edit for edit in faces.edits if edit not in inside)
        return edits, Faces(rest, (), faces.arguments) if edits else Faces()

    def _own_rate(self, case: Case, optimizer: OptimizerFact) -> Iterator[Change]:
        present, usual = present_rate(case, optimizer), usual_rate(optimizer.kind, momentum(optimizer))
        if present is None or present <= 0 or 1 / self.near <= usual / present <= self.near:
            return
        yield from self.change(
            case,
            f"learning rate {present:g} → {rate_text(usual)}, which {optimizer.kind} is made for",
            set_rate(case, optimizer, usual, present),
            knob=f"{optimizer.name}.lr",
        )

    EXAMPLES = {
        "an optimiser that hardly moves": _kind_example(
            imports="from torch import optim",
            optimizer="optim.⟨Adadelta(model.parameters(), lr=0.001, rho=0.95, weight → Adam(model.parameters(), lr=0.001, weight⟩_decay=1e-4)",
        ),
        "or its own rate": _kind_example(
            imports="from torch import optim",
            optimizer="optim.Adadelta(model.parameters(), lr=⟨0.001 → 1.0⟩, rho=0.95)",
            nth=1,
        ),
        "arguments that Adam does not take, imported by name, the rate elsewhere": _kind_example(
            imports="from torch.optim import ⟨SGD → SGD, Adam⟩",
            data="torch.manual_seed(0)\nRATE = ⟨0.5 → 0.003⟩",
            optimizer="⟨SGD(model.parameters(), RATE, 0.9, nesterov=True) → Adam(model.parameters(), RATE)⟩",
            fault=False,
        ),
        "SGD where Adam is the suspect": _kind_example(
            optimizer="torch.optim.⟨RMSprop(model.parameters(), lr=1e-5, momentum=0.5, weight_decay=1e-4) → SGD(model.parameters(), lr=0.003, momentum=0.9, weight_decay=1e-4)⟩"
        ),
        "a rate and an argument beside it": _kind_example(
            optimizer="torch.optim.⟨SGD(model.parameters(), lr=1e-5, momentum=0.5, weight_decay=1e-4) → Adam(model.parameters(), lr=0.003, weight_decay=1e-4)⟩"
        ),
        "Adam is left alone where nothing speaks against it": _kind_example(
            data="",
            model="nn.Linear(2, 1)",
            optimizer="torch.optim.Adam(model.parameters(), lr=0.001)",
            loss="",
            backward="nn.functional.mse_loss(model(torch.ones(4, 2)), torch.ones(4, 1))",
        ),
    }


def _dropped(file: File, call: ast.Call) -> FileEdits:
    """Take out the arguments that another optimiser does not know or that mean something else to it."""
    given: list[tuple[ast.expr | ast.keyword, bool]] = [
        *((value, index < 2) for index, value in enumerate(call.args)),
        *((keyword, keyword.arg in _SHARED) for keyword in call.keywords),
    ]
    lines, edits = file.lines, []
    start: int | None = None
    end = 0
    for argument, stays in given:
        found = item_of(file, call, argument)
        if found is None:
            return ()
        if stays:
            if start is not None and end > start:
                edits.append(lines.edit(start, end, ""))
            start = end = found[1].end
        else:
            end = found[1].end
    if start is not None and end > start:
        edits.append(lines.edit(start, end, ""))
    return file.edits(*edits)


_EPSILON = {each.name: each.epsilon for each in OPTIMISERS}
_EPSILON_POSITION = {"Adagrad": 5}
_MOMENTUM_POSITION = {"SGD": 2, "RMSprop": 5}


_settings_example = partial(
    example, backward="nn.functional.mse_loss(model(torch.ones(4, 2)), torch.ones(4, 1))"
)


class OptimizerSettings(Repair, code="R403", cures=("OPT-MOMENTUM", "OPT-EPS"), effort=BY_FACTS):
    """Give the optimiser its usual momentum, betas or epsilon.

    Momentum 0.9, betas (0.9, 0.999) and an epsilon of 1e-8 suit nearly every training. A momentum close to 1 keeps steps
    running in old directions; an epsilon as large as the gradients takes Adam's scaling away.
    """

    high: float = 0.95  # momentum above which it is changed
    low_beta: float = 0.9  # second beta below which it is changed

    def propose(self, case: Case) -> Iterator[Change]:
        optimizer = case.optimizer
        if optimizer is None or not optimizer.groups:
            return
        settings = optimizer.groups[0].settings
        epsilon = settings.get("eps")
        if case.cause == "OPT-EPS":
            if isinstance(epsilon, int | float):
                yield from self._epsilon(case, optimizer, float(epsilon))
            return
        momentum, betas = settings.get("momentum"), settings.get("betas")
        if isinstance(momentum, int | float) and (momentum > self.high or momentum < 0):
            position = _MOMENTUM_POSITION.get(optimizer.kind)
            faces = set_setting(case, optimizer.created, "momentum", "0.9", position)
            yield from self.change(
                case, f"momentum {momentum:g} → 0.9", faces, knob=f"{optimizer.name}.momentum"
            )
        if isinstance(betas, list | tuple) and len(betas) == 2:
            first, second = float(betas[0]), float(betas[1])
            odd = [index for index, wrong in enumerate((first > self.high, second < self.low_beta)) if wrong]
            faces = self._betas(case, optimizer, odd) if odd else Faces()
            title = f"betas ({first:g}, {second:g}) → usual ones"
            yield from self.change(case, title, faces, knob=f"{optimizer.name}.betas")

    def _epsilon(self, case: Case, optimizer: OptimizerFact, present: float) -> Iterator[Change]:
        good = _EPSILON.get(optimizer.kind, "1e-8")
        position = _EPSILON_POSITION.get(optimizer.kind, 3)
        if float(good) / 100 <= present <= 100 * float(good):
            return
        faces = set_setting(case, optimizer.created, "eps", good, position)
        yield from self.change(case, f"epsilon {present:g} → {good}", faces, knob=f"{optimizer.name}.eps")

    def _betas(self, case: Case, optimizer: OptimizerFact, odd: list[int]) -> Faces:
        """The odd one alone where it is written by itself."""
        found = case.code.call_at(optimizer.created)
        value = None if found is None else case.code.sources.argument(found[1], "betas", 2)
        if found is not None and isinstance(value, ast.Tuple) and len(value.elts) == 2 and len(odd) == 1:
            part = value.elts[odd[0]]
            if literal(part) is not None or isinstance(part, ast.Name | ast.Attribute | ast.Subscript):
                return set_value(case.code, found[0], part, ("0.9", "0.999")[odd[0]], case.arguments)
        return set_setting(case, optimizer.created, "betas", "(0.9, 0.999)", 2)

    EXAMPLES = {
        "momentum close to one, from a dictionary": _settings_example(
            data='HP = {"lr": 0.02, "momentum": ⟨0.999 → 0.9⟩, "epochs": 3}',
            optimizer='⟨torch.optim.SGD(model.parameters(), lr=HP["lr"], momentum=HP["momentum"])⟩',
            loop='for step in range(HP["epochs"])',
        ),
        "given by position": _settings_example(
            optimizer="torch.optim.SGD(model.parameters(), 0.01, ⟨0.995 → 0.9⟩)"
        ),
        "the first beta": _settings_example(
            optimizer="torch.optim.Adam(model.parameters(), lr=1e-3, betas=(⟨0.999 → 0.9⟩, 0.999))"
        ),
        "a large epsilon": _settings_example(
            optimizer="torch.optim.Adam(model.parameters(), lr=1e-3, eps=⟨10.0 → 1e-8⟩)", cause="OPT-EPS"
        ),
        "usual settings stay": _settings_example(
            optimizer="⟨torch.optim.Adam(model.parameters(), lr=1e-3)⟩", cause="OPT-EPS"
        ),
    }
