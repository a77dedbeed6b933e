"""Faults of the loss: another one, another sign, sum or shape."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.changes.loss.losses import Criterion, arguments, criterion_of, exchange
from netmend.changes.network.heads_in_source import head_of
from netmend.library.losses import DISTANCES
from netmend.mutate.examples import FUNCTIONS, PROBABILITIES, STACK
from netmend.mutate.mutation import Mutation, Operator
from netmend.mutate.places import backward, objective, training_criterion
from netmend.program.source.bindings import bindings_in
from netmend.program.source.naming import spelled
from netmend.program.source.values import Faces, set_argument
from netmend.program.source.writing import replace, wrap
from netmend.testing.example import changed
from netmend.vocabulary import LossFact, Site
from netmend.vocabulary.change import FileEdits

# Criterion → others that take the same two arguments; of class ids a row of zeros and a one is made.
_OTHERS = {
    **dict.fromkeys(
        ("smooth_l1_loss", "huber_loss", "l1_loss"),
        ("binary_cross_entropy_with_logits", "hinge_embedding_loss"),
    ),
    "cross_entropy": ("binary_cross_entropy_with_logits", "mse_loss", "l1_loss", "hinge_embedding_loss"),
    "nll_loss": ("mse_loss", "l1_loss"),
    "binary_cross_entropy_with_logits": ("mse_loss", "l1_loss", "hinge_embedding_loss"),
    "binary_cross_entropy": ("l1_loss", "hinge_embedding_loss"),
    "mse_loss": ("binary_cross_entropy_with_logits", "poisson_nll_loss", "hinge_embedding_loss"),
}


class LossExchanged(Operator, code="M301", causes=("LOS-SELECT",), published=("LCH",), rescales=True):
    """Train with a loss that does not fit the task.

    Classes are regressed, amounts are treated as yes-or-no questions, or the loss asks for something else altogether.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        head = head_of(case)
        criterion = None if head is None else training_criterion(case, head.loss)
        if head is None or criterion is None or not criterion.calls:
            return
        target = head.target
        ids = head.loss.criterion in ("cross_entropy", "nll_loss")
        if ids and (
            target is None or not target.integral or len(head.given.shape) != 2 or len(target.shape) != 1
        ):
            return
        if not ids and target is not None and not target.dtype.startswith("float"):
            return
        more = _rows(criterion, head.width) if ids else ()
        for new in _OTHERS.get(head.loss.criterion, ()):
            edits = exchange(criterion, new)
            if edits and (more or not ids):
                title = f"{head.loss.criterion} → {new}"
                yield from self.mutation(title, (*edits, *more), component=head.loss.name)

    EXAMPLES = {
        "another one of probabilities": changed(PROBABILITIES, "nn.⟨BCELoss → L1Loss⟩()"),
        "classes as amounts": changed(
            STACK,
            "nn.⟨CrossEntropyLoss → MSELoss⟩()",
            "criterion(model(xb), ⟨yb → nn.functional.one_hot(yb, 2).float()⟩)",
            nth=1,
        ),
    }


def _rows(criterion: Criterion, width: int | None) -> FileEdits:
    """Class ids as rows of zeros with a one, wherever the criterion is called."""
    edits: FileEdits = ()
    for file, call in criterion.calls:
        given = arguments(call)
        if given is None or width is None:
            return ()
        name, extra = spelled(file, "torch.nn.functional.one_hot")
        own = replace(file, given[1], f"{name}({file.source(given[1])}, {width}).float()")
        if not own:
            return ()
        edits = (*edits, *own, *extra)
    return edits


_AMOUNTS = ("smooth_l1_loss", "huber_loss", "l1_loss", "mse_loss")


class LossVaried(Operator, code="M305", causes=("LOS-SELECT",), published=("LCH",), rescales=True):
    """Replace the regression loss with another common one.

    Large errors count for more or for less than they did: a mild fault, if it is one.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        head = head_of(case)
        criterion = None if head is None else training_criterion(case, head.loss)
        if head is None or criterion is None or not criterion.calls or criterion.kind not in _AMOUNTS:
            return
        for new in _AMOUNTS:
            if new != criterion.kind:
                title = f"{criterion.kind} → {new}"
                yield from self.mutation(title, exchange(criterion, new), component=head.loss.name)

    EXAMPLES = {
        "absolute errors": changed(FUNCTIONS, "loss = F.⟨mse_loss → l1_loss⟩(", nth=2),
        "classes": changed(STACK),
    }


class LossNegated(Operator, code="M302", causes=("LOS-CALC",)):
    """Negate the loss before the gradient is taken.

    Training makes the loss as large as it can.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        spot = backward(case)
        if spot is None or not spot.receiver.isidentifier() or spot.call.args or spot.call.keywords:
            return
        edits = replace(spot.file, spot.call, f"(-{spot.receiver}).backward()")
        yield from self.mutation("the loss is maximised", edits, component=spot.receiver)

    EXAMPLES = {
        "a name": changed(STACK, "⟨loss → (-loss)⟩.backward()"),
        "in a function": changed(FUNCTIONS, "⟨loss → (-loss)⟩.backward()"),
    }


class LossSummed(Operator, code="M303", causes=("LOS-CALC",), rescales=True):
    """Sum the loss over the batch where it was averaged.

    Gradients grow with the size of the batch, so the learning rate is far too high.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        head = head_of(case)
        loss = case.loss if head is None else head.loss
        if loss is None:
            return
        name = loss.name
        edits: FileEdits | Faces = ()
        if loss.form == "expression":
            name, edits = self._expression(case)
        elif loss.settings.get("reduction", "mean") == "mean" and criterion_of(case, loss) is not None:
            edits = set_argument(case.code, _site(loss), "reduction", '"sum"', None, case.arguments)
        yield from self.mutation("the loss is summed over the batch", edits, component=name)

    def _expression(self, case: Case) -> tuple[str, FileEdits]:
        """`loss = ((out - y) ** 2).mean()`"""
        found = objective(case)
        if found is None:
            return "", ()
        spot, name = found
        made = bindings_in(spot.file.function(spot.call) or spot.file.tree, name)
        value = made[0].value if len(made) == 1 and not made[0].path else None
        text = spot.file.source(value) if isinstance(value, ast.Call) else ""
        if value is None or not text.endswith(".mean()"):
            return name, ()
        return name, replace(spot.file, value, f"{text.removesuffix('.mean()')}.sum()")

    EXAMPLES = {
        "a criterion": changed(STACK, 'CrossEntropyLoss(⟨ → reduction="sum"⟩)'),
        "a function": changed(FUNCTIONS, 'F.mse_loss(net(x[rows]), y[rows]⟨ → , reduction="sum"⟩)'),
    }


def _site(loss: LossFact) -> Site | None:
    return loss.created if loss.form == "module" else loss.called


class ShapesBroadcast(Operator, code="M304", causes=("TSR-SQUEEZE",), rescales=True):
    """Give a regression loss a column beside a row, so that every prediction is compared with every target.

    The shapes broadcast without a word and the network learns the mean of the targets.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        head = head_of(case)
        found = None if head is None else case.code.call_at(head.loss.called)
        given = None if found is None else arguments(found[1])
        if head is None or head.target is None or found is None or given is None:
            return
        one, other = head.given.shape, head.target.shape
        if head.loss.criterion not in DISTANCES or one != other or not one or one[0] < 2:
            return
        if len(one) == 1:
            text = ".unsqueeze(1)"
        elif len(one) == 2 and one[1] == 1:
            text = ".squeeze(1)"
        else:
            return
        edits = wrap(found[0], given[1], "", text)
        yield from self.mutation("targets of another shape", edits, component=head.loss.name)

    EXAMPLES = {
        "targets as a column": changed(FUNCTIONS, "net(x[rows]), y[rows]⟨ → .unsqueeze(1)⟩)"),
        "classes": changed(STACK),
    }


class LabelsSmoothedAway(Operator, code="M306", causes=("LOS-SMOOTH",), rescales=True):
    """Smooth labels so much that little is left of them.

    The true class keeps a tenth to a half of each target; the rest is spread over all classes.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        loss = case.loss
        if loss is None or loss.criterion != "cross_entropy" or loss.form == "expression":
            return
        for share in (0.6, 0.9):
            text = f"{share:g}"
            edits = set_argument(case.code, _site(loss), "label_smoothing", text, None, case.arguments)
            yield from self.mutation(f"labels smoothed by {share:g}", edits, component=loss.name)

    EXAMPLES = {"of the criterion": changed(STACK, "nn.CrossEntropyLoss(⟨ → label_smoothing=0.6⟩)")}
