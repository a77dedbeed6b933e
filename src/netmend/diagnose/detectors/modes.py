"""Training and evaluation mode exchanged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.loops import Layer, network, optimizer, trained
from netmend.diagnose.measures.loop import (
    calls,
    first_step,
    is_training,
    kinds,
    misplaced,
    mode_layers,
    stepping,
    steps_in,
    switched_passes,
)
from netmend.diagnose.measures.wiring import loaded, wires
from netmend.unit import convention
from netmend.vocabulary import Call, LossFact, ModuleFact, Pattern, Site, Symptom, Trace

_TRAIN = "zero_grad forward:model=train,grad loss@12 backward step:optimizer"
_EVALUATE = "forward:model=train,no_grad@50 loss=no_grad@51 " + _TRAIN
_CLASSES = {"cross_entropy", "nll_loss"}
_DROPOUT = network(Layer("fc"), Layer("drop", "Dropout", weight=False, settings={"p": 0.5}))


class EvaluationInTrainingMode(Detector, code="D205", needs_fixed_data=True):
    """The model is evaluated while its dropout or batch-norm layers still work as in training.

    Dropout then disturbs the predictions, and batch norm uses (and changes) the statistics of the batch at hand: results are
    worse than the model really is, differ from run to run, and evaluation data leaks into the running statistics.
    Usual cause: model.eval() is not called before validation or testing.
    """

    most_steps = convention(
        0.5, "passes that come with more than half of the steps are part of training (teachers, samples)"
    )
    repeats = convention(
        3, "the same batch so often in one pass: dropout is used on purpose to estimate uncertainty"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        models = {
            call.component for pattern in trace.patterns for call in pattern.calls if call.what == "forward"
        }
        # Passes without a score count only where models learn from targets: samples and roll-outs have none.
        several = len(trace.optimizers) > 1 or len(trace.models) > 1
        several = (several and not _all_tell_classes(trace)) or not _supervised(trace)
        for model in sorted(models):
            layers = mode_layers(trace, model)
            found = [(p, call) for p in trace.patterns if (call := _evaluates(p, model, several)) is not None]
            switched = not found and not several
            if switched:
                found = switched_passes(trace, model)
                switched = bool(found)
            if not found and not several:
                found = _unused_passes(trace, model)
            passes = steps_in(pattern for pattern, _ in found)
            steps = steps_in(pattern for pattern in trace.patterns if _trains(pattern, model))
            if not layers or not passes or not steps or passes > self.most_steps * steps:
                continue
            if self._on_purpose(trace):
                continue
            call = max(found, key=lambda item: item[0].steps)[1]
            message = (
                f"`{model}` was evaluated {passes} time{'s' if passes > 1 else ''} in training mode: its {kinds(trace, layers)} layers "
                f"({len(layers)}) were active."
            )
            yield self.symptom(
                message,
                (model, call.site),
                observed=float(passes),
                limit=0.0,
                detail={
                    "layers": layers,
                    "graded": call.detail.endswith(", grad") and not switched,
                    "switched": switched,
                },
                first_step=first_step(pattern for pattern, _ in found),
            )

    def _on_purpose(self, trace: Trace) -> bool:
        seen = Counter((b.step, b.hashes) for b in trace.batches if b.phase == "evaluation" and b.hashes)
        return max(seen.values(), default=0) >= self.repeats

    HEALTHY = {
        "evaluated in evaluation mode": lambda: trained(
            *_DROPOUT, (_TRAIN, 40), (f"eval forward:model=eval,no_grad train {_TRAIN}", 3)
        ),
        "nothing in the model depends on the mode": lambda: trained(
            Layer("fc"), (_TRAIN, 40), (_EVALUATE, 3)
        ),
        "part of every step": lambda: trained(*_DROPOUT, (_EVALUATE, 40)),
        "pictures drawn in a game whose judge tells classes, too": lambda: trained(
            optimizer(),
            optimizer("other"),
            *_DROPOUT,
            *network(Layer("fc"), model="judge"),
            LossFact(
                "objective@train.py:12",
                "expression",
                "expression",
                {"terms": ["binary_cross_entropy@train.py:10", "cross_entropy@train.py:11"]},
                backward=Site("train.py", 12),
            ),
            (_TRAIN, 40),
            (f"forward:model=train,no_grad@50 {_TRAIN}", 3),
        ),
        "both modes are used: a pass for the statistics of batch norm": lambda: trained(
            *_DROPOUT,
            (f"train:model@8 {_TRAIN}", 40),
            (
                f"train:model@48 forward:model=train,no_grad@50 eval:model@52 forward:model=eval,no_grad@53 train:model@8 {_TRAIN}",
                3,
            ),
        ),
        "switched to training mode on purpose": lambda: trained(
            *_DROPOUT, (_TRAIN, 40), (f"train:model {_EVALUATE}", 3)
        ),
    }
    FAULTY = {
        "train() where eval() was meant": lambda: trained(
            *_DROPOUT,
            (f"train:model@8 {_TRAIN}", 40),
            (f"train:model@48 forward:model=train,no_grad@50 train:model@8 {_TRAIN}", 3),
        ),
        "validation that records gradients, too": lambda: trained(
            *_DROPOUT,
            (_TRAIN, 40),
            ("forward:model=train,grad@50*4 epoch " + _TRAIN.replace("grad ", "grad@11 "), 3),
        ),
        "validation after every epoch": lambda: trained(*_DROPOUT, (_TRAIN, 40), (_EVALUATE, 3)),
        "a student beside its teacher, without a score": lambda: trained(
            *_DROPOUT,
            *network(
                Layer("fc", trainable=False, gradient=None, update=None, optimizer=None), model="teacher"
            ),
            (_TRAIN, 40),
            (f"forward:model=train,no_grad@50 {_TRAIN}", 3),
            losses=[1.0, 0.5, 0.2],
        ),
        "one test at the end": lambda: trained(
            *_DROPOUT, (_TRAIN, 40), ("forward:model=train,no_grad@50 end", 1)
        ),
    }


def _evaluates(pattern: Pattern, model: str, with_loss: bool) -> Call | None:
    """A pass without gradients in the mode that training left behind; `with_loss`: only if it is scored."""
    found: Call | None = None
    for call in pattern.calls:
        if call.what in ("train", "eval"):
            if found is None:
                return None
        elif call.what == "forward" and call.component == model and found is None:
            if not call.detail.endswith("no_grad"):
                continue
            if not call.detail.startswith("train"):
                return None
            found = call
            if not with_loss:
                return found
        elif call.what == "loss" and found is not None:
            return found if call.detail == "no_grad" else None
    return None


def _unused_passes(trace: Trace, model: str) -> list[tuple[Pattern, Call]]:
    """Passes with gradients, from a line of their own, before a new epoch begins or after the last step."""
    used = set()
    for pattern in trace.patterns:
        last: Call | None = None
        for call in pattern.calls:
            if call.what == "forward" and call.component == model:
                last = call
            elif call.what == "backward" and last is not None:
                used.add(last.site)
    found = []
    for pattern in trace.patterns:
        waiting: Call | None = None
        for call in pattern.calls:
            if call.what == "forward" and call.component == model:
                if call.detail != "train, grad" or call.site in used:
                    break
                waiting = call
            elif call.what in ("train", "eval"):
                break
            elif call.what in ("epoch", "zero_grad", "end") and waiting is not None:
                found.append((pattern, waiting))
                break
    return found


def _supervised(trace: Trace) -> bool:
    trained_on = [loss for loss in trace.losses if loss.backward is not None]
    return not trained_on or any(
        loss.criterion != "expression" or loss.settings.get("terms") for loss in trained_on
    )


def _all_tell_classes(trace: Trace) -> bool:
    """Whether everything that is trained learns the classes of samples, as a teacher and its student do.

    In a game of networks that take turns, a discriminator that tells classes too still minimises something else beside.
    """
    terms = [
        [loss.criterion, *(name.partition("@")[0] for name in loss.settings.get("terms", ()))]
        for loss in trace.losses
        if loss.backward is not None
    ]
    alone = len(trace.optimizers) < 2
    return bool(terms) and all(
        set(each) & _CLASSES and (alone or set(each) <= {*_CLASSES, "kl_div", "expression"}) for each in terms
    )


def _trains(pattern: Pattern, model: str) -> bool:
    return any(is_training(call) and call.component == model for call in pattern.calls)


_RIGHT = "zero_grad forward:model=train,grad loss backward step:optimizer"
_WRONG = "zero_grad forward:model=eval,grad loss backward step:optimizer"
_BATCH_NORM = network(Layer("fc"), Layer("norm", "BatchNorm1d"))


class TrainingInEvaluationMode(Detector, code="D206", needs_fixed_data=True):
    """The model is trained while its dropout or batch-norm layers work as in evaluation.

    Dropout then regularises nothing, and batch norm divides by running statistics that are never brought up to date.
    Usual cause: model.eval() before a validation pass, and no model.train() after it.
    """

    least_steps = convention(4, "the loop is known exactly; fewer steps may be a check")
    share_limit = convention(
        0.3, "from the first validation on: at least a third of the steps of any run with several"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        learning = {wire.model for wire in wires(trace) if wire.held and wire.fact.trainable}
        for model in sorted(learning):
            in_eval = partial(_in_eval, model=model)
            wrong = misplaced(stepping(trace), in_eval, self.least_steps, self.share_limit)
            layers = mode_layers(trace, model)
            if wrong is None or not layers or _mixed(trace, model):
                continue
            message = (
                f"`{model}` was in evaluation mode on {wrong.steps} of {wrong.total} training steps: its "
                f"{kinds(trace, layers)} layers ({len(layers)}) did not behave as in training."
            )
            detail = {
                "layers": layers,
                "restored": wrong.steps < wrong.total,
                "loaded": loaded(trace, model),
                "switched": next(
                    (c.site for _, c in calls(trace, "eval") if c.component in (model, "")), None
                ),
            }
            yield self.symptom(message, wrong, wrong.share, self.share_limit, detail, component=model)

    HEALTHY = {
        "trained in training mode": lambda: trained(*_BATCH_NORM, (_RIGHT, 40)),
        "nothing in the model depends on the mode": lambda: trained(Layer("fc"), (_WRONG, 40)),
        "adversarial examples are made in evaluation mode": lambda: trained(
            *_BATCH_NORM, ("forward:model=eval,grad backward=grad " + _RIGHT, 40)
        ),
        "a frozen network that only judges": lambda: trained(
            Layer("fc", optimizer=None, trainable=False),
            Layer("norm", "BatchNorm1d", weight=False),
            (_WRONG, 40),
        ),
        "a few steps": lambda: trained(*_BATCH_NORM, (_RIGHT, 40), (_WRONG, 3)),
    }
    FAULTY = {
        "never switched back": lambda: trained(
            *_BATCH_NORM, (_RIGHT, 10), ("eval " + _WRONG, 1), (_WRONG, 30)
        )
    }


def _in_eval(pattern: Pattern, model: str) -> Call | None:
    """The model's first training pass, where all of them ran in evaluation mode and were passed back."""
    passes = [call for call in pattern.calls if is_training(call) and call.component == model]
    resting = all(call.detail.startswith("eval,") for call in passes)
    return passes[0] if passes and resting and pattern.times("backward") else None


def _mixed(trace: Trace, model: str) -> bool:
    """The model was in evaluation mode from the start, but some layers were put into training mode: somebody chose."""
    modes = {module.name: module.training for module in trace.all(ModuleFact) if module.model == model}
    return modes.get(model) is False and any(modes.values())
