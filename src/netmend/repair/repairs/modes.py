"""Repairs of training and evaluation mode."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import Spot, body_start, model_at, names_in, spots
from netmend.changes.loop.mode_places import (
    back_to_training,
    evaluation_start,
    in_training_mode,
    trains_afterwards,
)
from netmend.program.source.writing import insert_before, replace
from netmend.program.text.file import File
from netmend.program.text.queries import Function, holds
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary.change import Change, FileEdits

_example = partial(
    example,
    model="nn.Sequential(nn.Linear(2, 4), nn.Dropout(0.5), nn.Linear(4, 1))",
    optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
    loop="for epoch in range(3)",
)


class TrainingMode(Repair, code="R104", cures=("LOOP-MODE-TRAIN",)):
    """Put the model into training mode at the start of every epoch.

    Evaluation switches dropout off and lets batch norm use its running statistics; without `train()` training goes on so.
    A call before the loop over epochs is moved into it; an `eval()` in front of the training loop becomes `train()`.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        model = case.component
        yield from self.change(
            case,
            f"{model or 'model'}.train() in every epoch",
            in_training_mode(case, model),
            knob=f"{model} mode",
        )

    EXAMPLES = {
        "called before the loop over epochs: moved": _example(
            setup="- model.train()",
            step="""
                + model.train()
                for batch in range(3):
                    optimizer ← model(torch.ones(4, 2)).mean()
                model.eval()
                with torch.no_grad():
                    model(torch.ones(4, 2))""",
            mark="batch in",
            component="model",
        ),
        "an epoch in a function": _example(
            setup='''
                def train_epoch(net, opt):
                    """One pass."""
                    total = 0.0
                    + net.train()
                    for ⟨batch in range(3)⟩:
                        opt.zero_grad()
                        loss = net(torch.ones(4, 2)).mean()
                        loss.backward()
                        opt.step()
                        total += loss.item()
                def evaluate(net):
                    net.eval()
                    with torch.no_grad():
                        net(torch.ones(4, 2))''',
            step="train_epoch(model, optimizer)\nevaluate(model)",
            component="net",
        ),
        "the whole data at once": _example(
            loop="for epoch in range(6)",
            step="""
                + model.train()
                optimizer ← model(torch.ones(4, 2)).mean()
                model.eval()
                with torch.no_grad():
                    model(torch.ones(4, 2))""",
            component="model",
        ),
        "eval where train belongs": _example(
            step="""
                model.⟨eval → train⟩()
                for ⟨batch in range(3)⟩:
                    optimizer ← model(torch.ones(4, 2)).mean()""",
            component="model",
        ),
    }


_TRAIN = """
    def train(net):
        net.train()
        for batch in range(3):
            optimizer ← net(torch.ones(4, 2)).mean()"""


class EvaluationMode(Repair, code="R105", cures=("LOOP-MODE-EVAL",)):
    """Put the model into evaluation mode before it is evaluated.

    Dropout and batch norm then work as in use. Training mode is switched on again where training goes on. A function that
    both trains and evaluates gets `model.train(…)` with the condition under which it calls `backward()`.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        fault = case.fault
        site = None if fault is None else fault.site
        if fault is None or site is None:
            return
        model = fault.component
        switched = case.code.call_at(site)
        if (
            switched is not None
            and isinstance(switched[1].func, ast.Attribute)
            and switched[1].func.attr == "train"
        ):
            file, call_of_train = switched
            text = f"{file.source(switched[1].func.value)}.eval()"
            yield from self.change(case, text, replace(file, call_of_train, text), knob=f"{model} mode")
            return
        passes = [
            each
            for each in (*spots(case, "forward", model, False), *spots(case, "forward", model, True))
            if each.file.file == str(case.sources.path(site.file)) and _is_at(each, site.line)
        ]
        if not passes:
            return
        call = passes[0]
        title = f"{model}.eval() before the evaluation"
        trained = [each.call for each in spots(case, "forward", model, True)]
        backward = next((each for each in spots(case, "backward") if each.is_beside(call)), None)
        if backward is not None and any(node is call.call for node in trained):
            yield from self.change(
                case, title, self._by_condition(case, model, call, backward), knob=f"{model} mode"
            )
            return
        yield from self.change(case, title, self._edits(case, model, call), knob=f"{model} mode")

    def _edits(self, case: Case, model: str, call: Spot) -> FileEdits:
        name = model_at(case, model, call)
        if not name:
            return ()
        edits = insert_before(call.file, evaluation_start(case, call, name), f"{name}.eval()")
        if not edits or not trains_afterwards(case, call) or self._renewed(case, model):
            return edits
        back = back_to_training(case, model, call)
        return (*edits, *back) if back else ()

    def _renewed(self, case: Case, model: str) -> bool:
        """Whether training mode is switched on again and again."""
        times = sum(
            pattern.steps
            for pattern in case.trace.patterns
            if any(each.what == "train" and each.component in (model, "") for each in pattern.calls)
        )
        return times > 1

    def _by_condition(self, case: Case, model: str, call: Spot, backward: Spot) -> FileEdits:
        """`if training: loss.backward()`: the same condition chooses the mode."""
        file, name = call.file, model_at(case, model, call)
        test = next(
            (
                above.test
                for above in file.parents(backward.statement)
                if isinstance(above, ast.If) and any(holds(s, backward.statement) for s in above.body)
            ),
            None,
        )
        if test is None or not name:
            return ()
        place = _where_known(file, call, names_in(test))
        if place is None:
            return ()
        text = file.source(test)
        if isinstance(test, ast.Name):
            function = file.function(call.call)
            text = text if function is None or _is_flag(function, test.id) else f"{text} is not None"
        elif not isinstance(test, ast.Compare | ast.UnaryOp):
            text = f"bool({text})"
        return insert_before(file, place, f"{name}.train({text})")

    EXAMPLES = {
        "a function for the evaluation": _example(
            helpers=_TRAIN,
            setup="""
                ⟨@torch.no_grad()⟩
                def evaluate(net):
                    + net.eval()
                    total = 0.0
                    for batch in range(2):
                        total += net(torch.zeros(4, 2)).sum().item()
                    return total""",
            step="train(model)\nevaluate(model)",
            component="net",
        ),
        "within the loop over epochs, in training mode from the start": _example(
            step="""
                + model.train()
                for batch in range(3):
                    optimizer ← model(torch.ones(4, 2)).mean()
                + model.eval()
                with torch.no_grad():
                    model(torch.zeros(4, 2))""",
            mark="with torch.no_grad",
            component="model",
        ),
        "between batches": _example(
            loop="for batch in range(6)",
            after_step="""
                if batch % 2:
                    + model.eval()
                    ⟨with torch.no_grad()⟩:
                        model(torch.zeros(4, 2))
                + model.train()""",
            backward="model(torch.ones(4, 2)).mean()",
            component="model",
        ),
        "after training, once": _example(
            loop="for batch in range(6)",
            backward="model(torch.ones(4, 2)).mean()",
            after_epoch="+ model.eval()",
            end="""
                for batch in range(2):
                    ⟨with torch.no_grad()⟩:
                        model(torch.zeros(4, 2))""",
            component="model",
        ),
        "one function for both": _example(
            setup="""
                def run(net, opt=None):
                    + net.train(opt is not None)
                    total = 0.0
                    for batch in range(3):
                        ⟨loss = net(torch.ones(4, 2)).mean()⟩
                        if opt is not None:
                            opt ← loss
                        total += loss.item()
                    return total""",
            step="run(model, optimizer)\nrun(model)",
            component="net",
        ),
        "the other mode was meant": _example(
            helpers=_TRAIN,
            setup="""
                def predict(net):
                    net.⟨train → eval⟩()  # as for training
                    return net(torch.zeros(4, 2)).sum().item()""",
            step="train(model)\npredict(model)",
            component="net",
        ),
        "a line that calls no model": _example(
            optimizer="⟨torch.optim.SGD(model.parameters(), lr=0.01)⟩",
            helpers=_TRAIN,
            setup="""
                train(model)""",
            loop="for step in range(3)",
            component="net",
        ),
    }


def _is_at(call: Spot, line: int) -> bool:
    """Whether a call stands on a line, or in the `with` or function that begins or is decorated there."""
    if call.call.lineno <= line <= (call.call.end_lineno or call.call.lineno):
        return True
    return any(
        above.lineno == line
        or (isinstance(above, Function) and any(each.lineno == line for each in above.decorator_list))
        for above in call.file.parents(call.call)
        if isinstance(above, ast.stmt)
    )


def _where_known(file: File, call: Spot, names: set[str]) -> ast.stmt | None:
    """The place from which on some names are known: the start of the function or of the loop over them."""
    for above in file.parents(call.call):
        if isinstance(above, ast.For) and names & names_in(above.target):
            return above.body[0]
        if isinstance(above, Function):
            given = {argument.arg for argument in (*above.args.args, *above.args.kwonlyargs)}
            return body_start(above) if names & given else None
    return None


def _is_flag(function: Function, name: str) -> bool:
    """Whether a parameter is a truth value rather than an object that may be None."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    defaults = dict(zip([a.arg for a in arguments][::-1], function.args.defaults[::-1], strict=False))
    defaults |= {
        a.arg: d
        for a, d in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
        if d is not None
    }
    default = defaults.get(name)
    annotated = next((a.annotation for a in (*arguments, *function.args.kwonlyargs) if a.arg == name), None)
    is_none = isinstance(default, ast.Constant) and default.value is None
    return not is_none and not (isinstance(annotated, ast.expr) and "bool" not in ast.unparse(annotated))
