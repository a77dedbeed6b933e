"""Faults of the optimiser: its rate and other settings, or another one in its place."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.loop.good_rates import rate_text
from netmend.changes.loop.rate_places import present_rate, set_rate, set_setting
from netmend.changes.loop.updates import exchanged_optimizer
from netmend.mutate.examples import FUNCTIONS, PROBABILITIES, STACK
from netmend.mutate.magnitude import Graded, Knob, Scale
from netmend.mutate.mutation import Mutation, Operator
from netmend.program.source.values import Faces
from netmend.testing.example import changed
from netmend.vocabulary import OptimizerFact


class LearningRateScaled(Graded, code="M101", causes=("HYP-LR-HIGH", "HYP-LR-LOW"), published=("HLR",)):
    """Multiply or divide the learning rate by a power of ten.

    Far too high, weights jump about or overflow; far too low, training hardly moves.
    """

    high: tuple[int, ...] = (10, 30, 100, 1000)
    low: tuple[int, ...] = (30, 100, 1000, 10000)
    precision: float = 1.5  # ratio of two rates that are told apart

    def propose(self, case: Case) -> Iterator[Mutation]:
        optimizer = case.optimizer
        present = present_rate(case, optimizer) or 0.0
        higher = [("HYP-LR-HIGH", present * factor) for factor in self.high]
        lower = [("HYP-LR-LOW", present / factor) for factor in self.low]
        for cause, rate in (*higher, *lower) if present else ():
            title, edits = _from_to(present, rate), set_rate(case, optimizer, rate, present)
            name = "" if optimizer is None else optimizer.name
            yield from self.mutation(title, edits, cause=cause, component=name)

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The learning rate, from the program's own down to a 10,000th and up to 1,000 times of it."""
        optimizer = case.optimizer
        present = present_rate(case, optimizer)
        if not present:
            return
        for cause, title, extreme in (
            ("HYP-LR-LOW", "learning rate lowered", present / self.low[-1]),
            ("HYP-LR-HIGH", "learning rate raised", present * self.high[-1]),
        ):
            yield from self.knob(
                title,
                Scale(present, extreme, self.precision, logarithmic=True),
                lambda rate: set_rate(case, optimizer, rate, present),
                cause=cause,
                component="" if optimizer is None else optimizer.name,
                told=partial(_from_to, present),
            )

    EXAMPLES = {
        "a literal": changed(STACK, "lr=⟨0.1 → 1.0⟩"),
        "the default of an option": changed(FUNCTIONS, "default=⟨0.01 → 1e-06⟩", nth=7),
    }


def _from_to(present: float, rate: float) -> str:
    return f"learning rate {rate_text(present)} → {rate_text(rate)}"


_ADAPTIVE = ("Adam", "AdamW", "RMSprop", "NAdam", "RAdam")


class OptimizerExchanged(Operator, code="M104", causes=("OPT-SELECT",), published=("OCH",)):
    """Replace the optimiser with another, with the same or its own learning rate.

    A rate that suits Adam is nothing to Adadelta or Adagrad, and plain SGD crawls where the scale of gradients differs.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        optimizer = case.optimizer
        rate = None if optimizer is None else present_rate(case, optimizer)
        if optimizer is None or rate is None or optimizer.kind not in (*_ADAPTIVE, "SGD"):
            return
        wanted = ("SGD",) if optimizer.kind in _ADAPTIVE else ()
        for new in (*wanted, "Adagrad", "ASGD", "Adadelta"):
            # Adadelta and Adagrad with a usual rate of Adam are what people write by mistake.
            own = f"{min(rate, 1e-3):g}" if new in ("Adagrad", "Adadelta") else ""
            edits = exchanged_optimizer(case, optimizer, new, own, default="0.001")
            title = f"{optimizer.kind} → {new}" + (f" with rate {own}" if own else "")
            yield from self.mutation(title, edits, component=optimizer.name)

    EXAMPLES = {
        "in the place of SGD": changed(
            STACK, "torch.optim.⟨SGD(model.parameters(), lr=0.1) → Adagrad(model.parameters(), lr=0.001)⟩"
        ),
        "in the place of Adam": changed(FUNCTIONS, "optim.⟨Adam → SGD⟩("),
    }


class _SettingExtreme(Graded):
    """Gives a setting of the optimiser a few values that are too high; a knob for what lies between."""

    setting: ClassVar[str]
    written: ClassVar[str] = "{:g}"
    kinds: tuple[str, ...]  # optimisers that have the setting

    def propose(self, case: Case) -> Iterator[Mutation]:
        optimizer = self._optimizer(case)
        for value in self.values:
            if optimizer is None or not self.does_harm(case, optimizer, value):
                continue
            edits = self._set(case, optimizer, self.written.format(value))
            title = f"{self.words(optimizer)} {value:g}"
            yield from self.mutation(title, edits, component=optimizer.name)

    def does_harm(self, case: Case, optimizer: OptimizerFact, value: float) -> bool:
        return True

    def words(self, optimizer: OptimizerFact) -> str:
        return self.setting.replace("_", " ")

    def _optimizer(self, case: Case) -> OptimizerFact | None:
        optimizer = case.optimizer
        return optimizer if optimizer is not None and optimizer.kind in self.kinds else None

    def _present(self, optimizer: OptimizerFact, default: float = 0.0) -> float:
        return max(float(group.settings.get(self.setting) or default) for group in optimizer.groups)

    def _set(self, case: Case, optimizer: OptimizerFact, text: str) -> Faces:
        return set_setting(case, optimizer.created, self.setting, text, None)


class MomentumExtreme(_SettingExtreme, code="M105", causes=("OPT-MOMENTUM",)):
    """Give SGD a momentum of almost 1.

    With a momentum of 0.99 and more the weights swing past every minimum.
    """

    setting = "momentum"
    kinds = ("SGD", "RMSprop")
    values: tuple[float, ...] = (0.99, 0.999)

    def knobs(self, case: Case) -> Iterator[Knob]:
        """How many steps a step lasts, 1 / (1 - momentum): 10, 100 and 1,000 are 0.9, 0.99 and 0.999."""
        optimizer = self._optimizer(case)
        present = self.values[-1] if optimizer is None else self._present(optimizer)
        if optimizer is not None and present < self.values[-1]:
            yield from self.knob(
                "momentum raised",
                Scale(1 / (1 - present), 1 / (1 - self.values[-1]), 1.5, logarithmic=True),
                lambda lasts: self._set(case, optimizer, f"{1 - 1 / lasts:.4g}"),
                component=optimizer.name,
                told=lambda lasts: f"momentum {1 - 1 / lasts:.4g}",
            )

    EXAMPLES = {"in the place of the usual one": changed(PROBABILITIES, "momentum=⟨0.9 → 0.99⟩")}


class WeightDecayExtreme(_SettingExtreme, code="M106", causes=("LOS-REG-EXTRA",), published=("RAW",)):
    """Set a far too strong weight decay.

    The weights follow the penalty instead of the data and end near zero.
    """

    setting = "weight_decay"
    values: tuple[float, ...] = (0.1, 0.5, 2.0)
    strongest: float = 10.0
    kinds: tuple[str, ...] = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam", "RAdam")

    def does_harm(self, case: Case, optimizer: OptimizerFact, value: float) -> bool:
        """Where a single step would turn the weights round it is a rate that is too high."""
        rate = present_rate(case, optimizer)
        return rate is not None and not (optimizer.kind == "SGD" and rate * value > 0.5)

    def knobs(self, case: Case) -> Iterator[Knob]:
        """Weight decay, from the program's own up to 10, or to where a step of SGD would turn weights round."""
        optimizer = self._optimizer(case)
        rate = None if optimizer is None else present_rate(case, optimizer)
        if optimizer is None or not rate:
            return
        mildest = self._present(optimizer) or 1e-6
        extreme = min(self.strongest, 0.5 / rate if optimizer.kind == "SGD" else self.strongest)
        if extreme > mildest:
            yield from self.knob(
                "weight decay raised",
                Scale(mildest, extreme, 2.0, logarithmic=True),
                lambda decay: self._set(case, optimizer, f"{decay:.2g}"),
                component=optimizer.name,
                told="weight decay {}",
            )

    EXAMPLES = {"where there was none": changed(STACK, "lr=0.1⟨ → , weight_decay=0.1⟩)")}


class EpsilonLarge(_SettingExtreme, code="M110", causes=("OPT-EPS",)):
    """Give Adam or RMSprop an epsilon that is larger than gradients are.

    The division by their size is lost and steps become tiny.
    """

    setting = "eps"
    written = "{:.1f}"
    kinds = ("Adam", "AdamW", "RMSprop", "NAdam", "RAdam", "Adagrad")
    values: tuple[float, ...] = (1.0, 10.0)
    extreme: float = 100.0

    def words(self, optimizer: OptimizerFact) -> str:
        return f"{optimizer.kind} with epsilon"

    def knobs(self, case: Case) -> Iterator[Knob]:
        """Epsilon, from the program's own up to 100."""
        optimizer = self._optimizer(case)
        present = self.extreme if optimizer is None else self._present(optimizer, 1e-8)
        if optimizer is not None and present < self.extreme:
            yield from self.knob(
                f"larger epsilon of {optimizer.kind}",
                Scale(present, self.extreme, 3.0, logarithmic=True),
                lambda value: self._set(case, optimizer, f"{value:.2g}"),
                component=optimizer.name,
                told=f"{self.words(optimizer)} {{}}",
            )

    EXAMPLES = {"Adam": changed(FUNCTIONS, "lr=args.lr⟨ → , eps=1.0⟩)")}


# Each with its own default rate, as someone writes who exchanges the name only.
_DEFAULTS = {"Adam": "0.001", "NAdam": "0.002", "Adamax": "0.002", "RMSprop": "0.01", "SGD": "0.001"}


class OptimizerVaried(Operator, code="M115", causes=("OPT-SELECT",), published=("OCH",)):
    """Replace the optimiser with another common one at its default settings.

    It may do as well; whether a rate that was chosen with care mattered is what this asks.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        optimizer = case.optimizer
        if optimizer is None or len(optimizer.groups) > 1:
            return
        for kind, rate in _DEFAULTS.items():
            if kind != optimizer.kind:
                title = f"{optimizer.kind} → {kind} with its default rate"
                edits = exchanged_optimizer(case, optimizer, kind, rate)
                yield from self.mutation(title, edits, component=optimizer.name)

    EXAMPLES = {
        "in the place of SGD": changed(
            STACK, "torch.optim.⟨SGD(model.parameters(), lr=0.1) → Adam(model.parameters(), lr=0.001)⟩"
        )
    }
