"""OPT-MOMENTUM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.measures.net_examples import net_run
from netmend.localise.case import Case
from netmend.localise.cause import STRONG, WEAK, fault, register
from netmend.localise.lines.rates import setting
from netmend.localise.outcome import harm, relief
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, OptimizerFact

_SWINGING = [1.0 + 3.0 * abs((step % 60) - 30) / 30 for step in range(240)]
_EXPLAINS = ("D101", "D103", "D104", "D130", "D107", "D110", "D115", "D501", "D502", "D503", "D504", "D511")


@register
class MomentumOutOfRange:
    """Momentum is so high that steps go on in a direction long after it stopped being right.

    With momentum m a gradient acts for about 1/(1-m) steps, and steps grow as many times: 0.999 means a thousand. The loss swings in slow waves or
    runs away. Use 0.9, and betas of (0.9, 0.999) with Adam.
    """

    code: ClassVar[str] = "OPT-MOMENTUM"

    high: float = threshold(
        0.98, "convention", "0.9 to 0.99 are in use; from here on a gradient acts for 50 steps and more"
    )
    very_high: float = threshold(0.995, "convention", "hardly anybody uses that on purpose")
    low_beta: float = threshold(
        0.5, "convention", "a memory of squared gradients shorter than two steps normalises nothing"
    )

    def accuse(self, case: Case) -> Iterator[Fault]:
        hurt = harm(case, 1.5)
        for optimizer in case.trace.optimizers if hurt or case.has("D110") else ():
            for name, value, memory in self._odd(optimizer):
                weight = STRONG + 2 * WEAK if value >= self.very_high or name != "momentum" else STRONG - WEAK
                text = f"The {name} of {optimizer.name} is {value:g}."
                place = setting(case, optimizer, "momentum" if name == "momentum" else "betas", 2)
                where = "" if place.site is None else f" in {place.site.short}"
                good = "`momentum=0.9`" if name == "momentum" else "`betas=(0.9, 0.999)`"
                yield fault(
                    self.code,
                    [Evidence(text, weight), *hurt, *relief(case, 2 * STRONG)],
                    component=optimizer.name,
                    site=place.site,
                    summary=f"{text} A gradient then acts for about {memory:.0f} steps, and training suffers.",
                    reason="Steps keep following old directions, so the loss oscillates or diverges.",
                    remedy=f"Use {good}{where}.",
                    refutation="The usual value does not improve the curve.",
                    related=place.related,
                    explains=_EXPLAINS,
                )

    def _odd(self, optimizer: OptimizerFact) -> Iterator[tuple[str, float, float]]:
        """Momenta out of range, with the number of steps for which a gradient acts."""
        for group in optimizer.groups[:1]:
            momentum = group.settings.get("momentum")
            if isinstance(momentum, int | float) and momentum >= self.high:
                yield "momentum", float(momentum), 1 / max(1e-6, 1 - float(momentum))
            betas = group.settings.get("betas")
            if isinstance(betas, list | tuple) and len(betas) == 2:
                first, second = float(betas[0]), float(betas[1])
                if first >= self.high:
                    yield "first beta", first, 1 / max(1e-6, 1 - first)
                elif second < self.low_beta:
                    yield "second beta", second, 1 / max(1e-6, 1 - second)

    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "momentum 0.999",
            lambda: net_run(losses=_SWINGING, optimizer="SGD", settings={"lr": 0.05, "momentum": 0.999}),
        ),
    )
