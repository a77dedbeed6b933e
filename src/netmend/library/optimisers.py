"""The optimisers of PyTorch: which adapt their steps, their arguments in order, and the rates that people use with them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Optimiser:
    """One class of `torch.optim`, or a well-known one from elsewhere."""

    name: str
    arguments: tuple[str, ...] = ("lr",)  # behind the parameters, as far as people give them by place
    adaptive: bool = False  # divides by a running size of the gradient: steps are about as long as the rate
    adam: bool = False  # of Adam's family
    scale_free: bool = False  # the size of the loss hardly matters
    default: float | None = None  # the rate that it has when none is given
    usual: float | None = None  # the rate that most programs use; None: 1e-3
    usual_range: tuple[float, float] | None = None  # outside hardly anybody trains from scratch
    epsilon: str = "1e-8"


_ADAM = ("lr", "betas", "eps", "weight_decay")
# Defaults of the large frameworks and papers lie well inside the usual ranges. Adadelta scales its steps itself and was published with 1; Adagrad starts
# at its rate and only shrinks; Rprop's rate is that of its first step.
_ADAPTIVE_RANGE = (5e-4, 0.05)
OPTIMISERS = (
    Optimiser("SGD", ("lr", "momentum", "dampening", "weight_decay", "nesterov"), default=1e-3, usual=0.05),
    Optimiser("Adam", (*_ADAM, "amsgrad"), True, True, True, default=1e-3, usual_range=_ADAPTIVE_RANGE),
    Optimiser("AdamW", (*_ADAM, "amsgrad"), True, True, True, default=1e-3, usual_range=_ADAPTIVE_RANGE),
    Optimiser("NAdam", _ADAM, True, True, True, default=2e-3, usual_range=_ADAPTIVE_RANGE),
    Optimiser("RAdam", _ADAM, True, True, True, default=1e-3, usual_range=_ADAPTIVE_RANGE),
    Optimiser("Adamax", _ADAM, True, True, True, default=2e-3, usual_range=_ADAPTIVE_RANGE),
    Optimiser("SparseAdam", _ADAM[:3], True, True, True, default=1e-3, usual_range=_ADAPTIVE_RANGE),
    Optimiser("RMSprop", ("lr", "alpha", "eps", "weight_decay", "momentum"), True, False, True, default=0.01, usual_range=_ADAPTIVE_RANGE),
    Optimiser("Adafactor", adaptive=True, scale_free=True, default=0.01, usual_range=_ADAPTIVE_RANGE),
    Optimiser("Adagrad", ("lr", "lr_decay", "weight_decay"), scale_free=True, default=0.01, usual=0.01, usual_range=(2e-3, 0.5), epsilon="1e-10"),
    Optimiser("Adadelta", ("lr", "rho", "eps", "weight_decay"), scale_free=True, default=1.0, usual=1.0, usual_range=(0.1, 10.0), epsilon="1e-6"),
    Optimiser("Rprop", scale_free=True, default=0.01, usual=0.01, usual_range=(1e-4, 0.2)),
    Optimiser("ASGD", default=0.01, usual=0.01, usual_range=(5e-3, 0.8)),
    Optimiser("LBFGS", default=1.0, usual=1.0),
    Optimiser("Lion", scale_free=True),
)  # fmt: skip

OPTIMISER = {each.name: each for each in OPTIMISERS}
ADAPTIVE = tuple(each.name for each in OPTIMISERS if each.adaptive)
ADAM_FAMILY = frozenset(each.name for each in OPTIMISERS if each.adam)
SCALE_FREE = tuple(each.name for each in OPTIMISERS if each.scale_free)
ARGUMENTS = {each.name: each.arguments for each in OPTIMISERS}
