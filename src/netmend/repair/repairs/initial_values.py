"""Repairs of what weights and biases start with."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import replace as replaced
from functools import partial

from netmend.changes.case import Case
from netmend.changes.network.first_values import (
    Write,
    conditions,
    constant_weights,
    everywhere,
    suited,
    without,
    write_at,
    writes_like,
)
from netmend.changes.network.model_layers import layers_of, model_of_fault
from netmend.program.source.moving import moved_after
from netmend.program.source.naming import spelled
from netmend.program.source.values import Faces, set_argument
from netmend.program.source.writing import delete_argument, replace, united
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name, site_of
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import Fault
from netmend.vocabulary.change import BY_FACTS, Change, FileEdits

_DEEP = 5  # layers from which the framework's own start is rather weak for rectifiers


_example = partial(
    example,
    model="nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))",
    loss="nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))",
)


class Initialisation(
    Repair,
    code="R303",
    cures=("ARC-INIT-WEIGHT", "LYR-NORM-MISSING"),
    knob="initial weights",
    effort=BY_FACTS,
    explores=True,
):
    """Take a bad initialisation of the weights away, or use He's or Xavier's instead.

    Without it the framework's own holds, which suits most networks. In deep stacks of rectifiers He's keeps the signal
    alive; Xavier's suits tanh and sigmoid.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        if case.fault is None:  # matrices that start constant, whatever they did to the training
            for file in case.code.files():
                for call in file.calls("zeros", "ones", "full"):
                    statement = file.statement(call)
                    thin = any(isinstance(size, ast.Constant) and size.value == 1 for size in call.args)
                    if isinstance(statement, ast.Assign | ast.AnnAssign) and not thin:
                        yield from self._by_hand(case, (file, statement))
                for constant in constant_weights(file):
                    site = site_of(file.file, constant.statement)
                    blind = Fault("ARC-INIT-WEIGHT", 0.0, "", site, "", "", "", "")
                    yield from self.propose(replaced(case, fault=blind))
            return
        edits = _before_loading(case)
        if edits:
            title = "initialise before the trained weights are loaded"
            yield from self.change(case, title, edits)
            return
        write = write_at(case) if case.cause == "ARC-INIT-WEIGHT" else None
        if write is None:
            yield from self._by_hand(case)
            edits = everywhere(case)
            yield from self.change(case, f"{suited(case)[0]} initialisation for all layers", edits)
            return
        writes = writes_like(write)
        titles = {
            "gain": "initialisation without its gain",
            "gone": "the framework's own initialisation",
            "known": f"{suited(case)[0]} initialisation",
            "std": "a usual deviation of the initial weights",
        }
        faces = {
            "gain": Faces(self._without_gain(writes)),
            "known": Faces(self._known(case, writes)),
            "std": self._deviation(case, write),
        }
        gone, clean = without(write.file, [one.statement for one in writes])
        faces["gone"] = Faces(gone)
        deep = len(layers_of(case, model_of_fault(case))) >= _DEEP
        order = ("gain", "gone", "known") if clean and not deep else ("gain", "known", "std", "gone")
        proposed = [name for name in order if faces[name]][:3]
        for name in proposed:
            yield from self.change(case, titles[name], faces[name])

    def _known(self, case: Case, writes: list[Write]) -> FileEdits:
        _, function, more = suited(case)
        found: list[FileEdits] = []
        for write in writes:
            guards = " ".join(conditions(write))
            certain = write.part == "weight" or any(
                word in guards for word in ("dim()", "ndim", "weight", "shape")
            )
            if not certain:
                return ()
            like = write.call.func if write.call is not None else None
            name, extra = spelled(write.file, f"torch.nn.init.{function}", like=like)
            found.append((*replace(write.file, write.statement, f"{name}({write.target}{more})"), *extra))
        return united(found)

    @staticmethod
    def _without_gain(writes: list[Write]) -> FileEdits:
        found = []
        for write in writes:
            gain = next((k for k in write.call.keywords if k.arg == "gain"), None) if write.call else None
            if gain is None or write.call is None:
                return ()
            found.append(delete_argument(write.file, write.call, gain))
        return united(found)

    @staticmethod
    def _deviation(case: Case, write: Write) -> Faces:
        layers = [
            layer.input_shapes[0] for layer in layers_of(case, model_of_fault(case)) if layer.input_shapes
        ]
        if write.how not in ("normal_", "trunc_normal_") or write.call is None or not layers:
            return Faces()
        widths = sorted(shape[-1] for shape in layers)
        std = f"{math.sqrt(1 / max(widths[len(widths) // 2], 1)):.1g}"
        is_method = write.file.source(write.call.func).startswith(write.target)
        site = site_of(write.file.file, write.call)
        return set_argument(case.code, site, "std", std, 1 if is_method else 2, case.arguments)

    def _by_hand(self, case: Case, found: tuple[File, ast.stmt] | None = None) -> Iterator[Change]:
        """`self.w = nn.Parameter(torch.zeros(4, 8))`: the tensor gets small random values."""
        if case.cause == "ARC-INIT-WEIGHT":
            found = case.code.statement_at(case.site)
        if found is None:
            return
        file, statement = found
        for call in file.calls("zeros", "ones", "full", "rand", "randn", "empty", inside=statement):
            parent = file.parent(call)
            sizes = [a for a in call.args if not isinstance(a, ast.Starred)]
            scaled = parent if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mult) else call
            made = file.parent(scaled)
            if not isinstance(made, ast.Call) or not file.source(made.func).endswith("Parameter"):
                continue
            if len(sizes) < 2:
                continue
            shape = ", ".join(
                file.source(size) for size in sizes[: 1 if isinstance(sizes[0], ast.Tuple) else 2]
            )
            name, extra = spelled(file, "torch.randn", like=call.func)
            edits = (*replace(file, scaled, f"{name}({shape}) * 0.1"), *extra)
            yield from self.change(case, "small random weights", edits)
            return

    EXAMPLES = {
        "a loop over layers": _example(
            helpers="""
                for layer in (model[0], model[2]):
                    - nn.init.zeros_(layer.weight)
                    nn.init.zeros_(layer.bias)""",
            component="model.0",
        ),
        "a function for all layers": _example(
            data="""
                def start(m):
                    if isinstance(m, nn.Linear):
                        ⟨m.weight.data.normal_(0, 10) → nn.init.xavier_uniform_(m.weight)⟩""",
            model="nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))",
            helpers="model.apply(start)",
            component="model.0",
        ),
        "all parameters alike, the loop goes": _example(
            model="nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))",
            helpers="""
                - for p in model.parameters():
                    - nn.init.normal_(p, std=30.0)
                print("ready")""",
            mark="normal_",
            component="model.0",
        ),
        "a deviation that is set elsewhere": _example(
            data="""
                STD = ⟨5.0 → 0.4⟩
                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.a, self.b = nn.Linear(2, 8), nn.Linear(8, 1)
                        self.start()
                    def start(self):
                        for p in self.parameters():
                            ⟨nn.init.normal_(p, 0, STD)⟩
                    def forward(self, x):
                        return self.b(torch.relu(self.a(x)))""",
            model="Net()",
            component="model.a",
        ),
        "weights of one value, whatever was told": _example(
            helpers="- nn.init.zeros_(model[0].weight)", fault=False
        ),
        "a function from a table": _example(
            data='STARTS = {"zeros": nn.init.zeros_, "usual": nn.init.xavier_uniform_}',
            helpers='- STARTS["zeros"](model[0].weight)',
        ),
        "no initialisation by hand: He's for all": _example(
            helpers="""
                + for module in model.modules():
                +     if isinstance(module, nn.Linear):
                +         nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")""",
            component="model.0",
        ),
    }


def _before_loading(case: Case) -> FileEdits:
    """`model.load_state_dict(…)` and then `model.apply(init)`: the other way round."""
    made = case.code.statement_at(case.site)
    for site in () if case.fault is None else case.fault.related:
        loaded = case.code.statement_at(site)
        if made is None or loaded is None or made[0].file != loaded[0].file:
            continue
        (file, late), (_, early) = made, loaded
        loads = any(last_name(node.func) == "load_state_dict" for node in inside(early, ast.Call))
        beside = file.parent(early) is file.parent(late) and early.lineno < late.lineno
        if loads and beside and isinstance(late, ast.Expr) and isinstance(early, ast.Expr):
            return moved_after(file, early, late)
    return ()


class BiasInitialisation(Repair, code="R304", cures=("ARC-INIT-BIAS",), effort=BY_FACTS):
    """Take a bad initialisation of the biases away, or start them at zero.

    Strongly negative biases switch rectifiers off for good, and an output bias far from the targets has to be unlearned.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        write = write_at(case)
        if write is None or write.part == "weight":
            return
        writes = [one for one in writes_like(write) if _value(one) == _value(write)]
        gone, clean = without(write.file, [one.statement for one in writes])
        zero = united(self._zero(one) for one in writes)
        ways = [("the framework's own start for the biases", gone), ("biases start at zero", zero)]
        for title, edits in ways if clean else reversed(ways):
            yield from self.change(case, title, edits, knob="initial biases")

    @staticmethod
    def _zero(write: Write) -> FileEdits:
        like = write.call.func if write.call is not None else None
        name, extra = spelled(write.file, "torch.nn.init.zeros_", like=like)
        return (*replace(write.file, write.statement, f"{name}({write.target})"), *extra)

    EXAMPLES = {
        "one layer of several": _example(
            helpers="- nn.init.constant_(model[0].bias, -9.0)\nnn.init.constant_(model[2].bias, 0.1)",
            component="model.0",
        ),
        "in a function for all layers": _example(
            data="""
                def start(m):
                    if isinstance(m, nn.Linear):
                        ⟨m.bias.data.fill_(-9.0) → nn.init.zeros_(m.bias)⟩""",
            helpers="model.apply(start)",
            component="model.0",
        ),
    }


def _value(write: Write) -> str:
    """The text of what is written, so that a line with another value stays."""
    whole = write.file.source(write.statement)
    return whole.replace(write.target, "")
