"""Changes of how is trained: rate, epochs, batches, loss, optimiser."""

from __future__ import annotations

import math
from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.changes.loop.batch_places import loader_of, set_batch_size
from netmend.changes.loop.epoch_loop import epoch_rounds
from netmend.changes.loop.good_rates import rate_text
from netmend.changes.loop.rate_places import present_rate, set_rate
from netmend.changes.loop.updates import exchanged_optimizer
from netmend.changes.loss.losses import criterion_of, exchange
from netmend.diagnose.measures.batches import batch_size, training_samples
from netmend.neutral.move import Move
from netmend.program.source.numbers import number
from netmend.program.source.values import set_value
from netmend.testing.example import example
from netmend.vocabulary import LossFact, OperandFact, OptimizerFact
from netmend.vocabulary.change import BY_FACTS, SHORT_SEARCH, Change

_FIT = "nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))"


class ScaleLearningRate(Move, code="N101", causes=("HYP-LR-HIGH", "HYP-LR-LOW"), effort=SHORT_SEARCH):
    """A learning rate ten times higher or lower.

    Of every optimiser, where its rate is set; several groups of parameters keep their ratio.
    """

    factor: float = 10.0

    def propose(self, case: Case) -> Iterator[Change]:
        optimizers: tuple[OptimizerFact | None, ...] = tuple(case.trace.optimizers) or (None,)
        for optimizer in optimizers:
            present = present_rate(case, optimizer)
            if present is None or present <= 0:
                continue
            name = "rate" if optimizer is None else f"{optimizer.name}.lr"
            ways = (("HYP-LR-HIGH", present / self.factor), ("HYP-LR-LOW", present * self.factor))
            for cause, rate in ways:
                faces = set_rate(case, optimizer, rate, present)
                title = f"learning rate {present:g} → {rate_text(rate)}"
                yield from self.change(cause, title, faces, knob=name)

    EXAMPLES = {
        "a literal, lower": example(
            optimizer="torch.optim.SGD(model.parameters(), lr=⟨0.02 → 0.002⟩)", loss=_FIT
        ),
        "a constant, higher": example(
            data="RATE = ⟨1e-3 → 0.01⟩",
            optimizer="torch.optim.Adam(model.parameters(), RATE)",
            loss=_FIT,
            nth=1,
        ),
    }


class ScaleEpochs(Move, code="N102", causes=("HYP-EPOCH-FEW", "HYP-EPOCH-MANY"), effort=SHORT_SEARCH):
    """Train half or twice as long.

    The outermost counted loop around the training step runs half or twice as many rounds.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        rounds = epoch_rounds(case)
        present = None if rounds is None else number(case.code, rounds.file, rounds.count, case.arguments)
        if rounds is None or present is None or present - rounds.start < 1:
            return
        whole = round(present) - rounds.start
        for cause, wanted in (("HYP-EPOCH-FEW", whole * 2), ("HYP-EPOCH-MANY", whole // 2)):
            if wanted < 1:
                continue
            text = str(wanted + rounds.start)
            faces = set_value(case.code, rounds.file, rounds.count, text, case.arguments)
            title = f"{whole} → {wanted} epochs"
            yield from self.change(cause, title, faces, knob="epochs", cost=wanted / whole)

    EXAMPLES = {
        "twice": example(data="EPOCHS = ⟨3 → 6⟩", loop="for epoch in range(EPOCHS)", loss=_FIT),
        "half": example(loop="for epoch in range(1, ⟨11 → 6⟩)", loss=_FIT, nth=1),
        "a loop without an end that is known": example(
            loop="for x in (torch.ones(4, 2), torch.ones(4, 2))",
            loss="nn.functional.mse_loss(model(x), torch.ones(4, 1))",
        ),
    }


class OtherBatchSize(Move, code="N103", causes=("HYP-BATCH-SMALL", "HYP-BATCH-LARGE"), effort=SHORT_SEARCH):
    """Batches of 16, 32, … 512 samples.

    The nearest sizes first, and none larger than all samples.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        loader = loader_of(case)
        present = (None if loader is None else loader.batch_size) or batch_size(case.trace)
        if present is None:
            return
        samples = training_samples(case.trace)
        fitting = [
            size for size in (16, 32, 64, 128, 256, 512) if samples is None or size <= max(samples, present)
        ]
        sizes = [size for size in fitting if size != present]
        for size in sorted(sizes, key=lambda size: abs(math.log2(size / present))):
            cause = "HYP-BATCH-SMALL" if size > present else "HYP-BATCH-LARGE"
            title, edits = f"batches of {present} → {size}", set_batch_size(case, size)
            # Where steps are counted, other batches make no other number of them; where epochs are, they do.
            cost = max(1.0, present / size)
            yield from self.change(cause, title, edits, knob="batch size", cost=cost)

    EXAMPLES = {
        "a loader, and no larger than all samples": example(
            data="data = TensorDataset(torch.randn(80, 2), torch.randn(80, 1))\n"
            "loader = DataLoader(data, batch_size=⟨40 → 16⟩, shuffle=True)",
            loop="for x, y in loader",
            loss="nn.functional.mse_loss(model(x), y)",
            nth=2,
        ),
        "all samples at once: nothing is cut": example(
            data="x, y = torch.randn(60, 2), torch.randn(60, 1)", loss="nn.functional.mse_loss(model(x), y)"
        ),
    }


# Losses of a prediction and a target of the same shape; those that need values between 0 and 1 are marked.
ALIKE = {
    "mse_loss": False,
    "l1_loss": False,
    "smooth_l1_loss": False,
    "huber_loss": False,
    "binary_cross_entropy_with_logits": False,
    "soft_margin_loss": False,
    "binary_cross_entropy": True,
}

_BY_CLASS = ("cross_entropy", "nll_loss")


class OtherLoss(Move, code="N106", causes=("LOS-SELECT",), effort=BY_FACTS):
    """Another loss of the same prediction and target.

    Among those that take both in the form that they have; targets and outputs stay as they are.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        loss = case.loss
        criterion = None if loss is None else criterion_of(case, loss)
        if loss is None or criterion is None:
            return
        for kind in self._others(loss):
            edits = exchange(criterion, kind)
            yield from self.change("LOS-SELECT", f"{kind} instead of {loss.criterion}", edits, knob="loss")

    def _others(self, loss: LossFact) -> Iterator[str]:
        prediction, target = _operand(loss, "prediction"), _operand(loss, "target")
        if prediction is None or target is None:
            return
        if prediction.shape == target.shape:
            shares = _is_share(prediction) and _is_share(target)
            others = [kind for kind, between in ALIKE.items() if shares or not between]
            others += ["cross_entropy"] if len(target.shape) > 1 and target.shape[1] > 1 else []
            yield from (kind for kind in others if kind != loss.criterion)
        elif loss.criterion in _BY_CLASS:
            yield from (kind for kind in _BY_CLASS if kind != loss.criterion)

    EXAMPLES = {
        "a criterion": example(
            criterion="nn.⟨MSELoss → L1Loss⟩()",
            loss="criterion(model(torch.randn(4, 2)), 3 * torch.ones(4, 1))",
        ),
        "a function of probabilities": example(
            model="nn.Sequential(nn.Linear(2, 1), nn.Sigmoid())",
            loss="F.⟨mse_loss → binary_cross_entropy⟩(model(torch.randn(4, 2)), torch.ones(4, 1))",
            nth=5,
        ),
        "classes": example(
            model="nn.Linear(2, 3)",
            loss="F.⟨nll_loss → cross_entropy⟩(model(torch.randn(4, 2)), torch.tensor([0, 1, 2, 1]))",
        ),
    }


def _operand(loss: LossFact, role: str) -> OperandFact | None:
    return next((operand for operand in loss.operands if operand.role == role), None)


def _is_share(operand: OperandFact) -> bool:
    low, high = operand.minimum, operand.maximum
    return low is not None and high is not None and low >= 0 and high <= 1


KINDS = ("SGD", "Adam", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "AdamW")


class OtherOptimizer(Move, code="N107", causes=("OPT-SELECT",), effort=SHORT_SEARCH):
    """An optimiser of another kind at the same learning rate.

    Weight decay stays; what only the old one knows (momentum, betas) is left out.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        for optimizer in case.trace.optimizers:
            for kind in KINDS:
                if kind != optimizer.kind:
                    edits = exchanged_optimizer(case, optimizer, kind, kept=("weight_decay",))
                    title = f"{optimizer.kind} → {kind}"
                    yield from self.change("OPT-SELECT", title, edits, knob=optimizer.name)

    EXAMPLES = {
        "momentum goes, the rate and the decay stay": example(
            optimizer="torch.optim.⟨SGD(model.parameters(), 0.01, momentum=0.9, weight_decay=1e-4)"
            " → Adam(model.parameters(), lr=0.01, weight_decay=1e-4)⟩",
            loss=_FIT,
        ),
        "imported by name": example(
            imports="from torch.optim import ⟨Adam → Adam, SGD⟩",
            optimizer="⟨Adam → SGD⟩(model.parameters(), lr=0.01)",
            loss=_FIT,
        ),
        "settings that are unpacked may hold anything": example(
            data="settings = dict(lr=0.1, momentum=0.5)",
            optimizer="torch.optim.SGD(model.parameters(), **settings)",
            loss=_FIT,
        ),
    }
