"""INP-MASK-MISSING."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.sequences import PaddingCounted
from netmend.diagnose.measures.net_examples import net_run
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, fault, for_symptom, register
from netmend.unit import Run
from netmend.vocabulary import Event, Fault, LossFact, Site, Symptom

_HIDDEN = Event(
    0,
    "nonfinite",
    "the loss became NaN at step 0: first made by _softmax in model at train.py:9",
    "model",
    Site("train.py", 9),
    {
        "what": "loss",
        "operation": "_softmax",
        "phase": "forward",
        "exact": True,
        "hidden": 0.6,
        "mask_file": "train.py",
        "mask_line": 7,
    },
)


@register
class PaddingNotMasked:
    """Padding is not masked: it counts in the loss like any other token, or the mask hides the tokens instead.

    Predicting padding is easy, so the loss looks good while the rest is hardly learned. Tell the loss which token to leave out:
    `nn.CrossEntropyLoss(ignore_index=pad)`. A mask of attention that hides whole rows makes NaN of them: usually it is True at the tokens
    and not at the padding.
    """

    code: ClassVar[str] = "INP-MASK-MISSING"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D315"):
            loss = case.trace.get(LossFact, symptom.component)
            yield fault(
                self.code,
                [for_symptom(symptom, STRONG + FAIR)],
                component=symptom.component,
                site=symptom.site,
                summary=symptom.message,
                reason="The network is rewarded for predicting padding, which drowns out the real tokens.",
                remedy="Exclude the padding token from the loss with `ignore_index`, or mask it and divide by the number of real tokens.",
                refutation="It is a real token that happens to have the embedding's padding index.",
                related=() if loss is None else (loss.called,),
            )
        for symptom in case.of("D110"):
            if symptom.detail.get("hidden"):
                yield _hides_all(symptom)

    FAULTY: ClassVar[tuple[Run, ...]] = (
        *PaddingCounted.FAULTY,
        Run("the mask hides whole rows", lambda: net_run(losses=[float("nan")] * 40, events=[_HIDDEN])),
    )


def _hides_all(symptom: Symptom) -> Fault:
    """A softmax over scores all of which were masked: nothing divided by nothing."""
    detail = symptom.detail
    line = detail.get("mask_line")
    made = Site(str(detail["mask_file"]), int(line)) if line is not None else None
    where = f" at {made.short}" if made is not None else ""
    share = float(detail["hidden"])
    return fault(
        "INP-MASK-MISSING",
        [for_symptom(symptom, PROVEN + STRONG)],
        component=symptom.component,
        site=made or symptom.site,
        summary=f"The mask hides every position from {share:.1%} of the rows of scores, and their softmax is NaN.",
        reason="A softmax over nothing but minus infinity divides zero by zero.",
        remedy=f"Let each position see itself{where}: cut the mask with `triu(1)`, not `triu(0)`."
        if detail.get("first_hidden")
        else f"Turn the mask{where} round if it is True at real tokens: it must hide the padding (`tokens == pad`), and leave each row something to see.",
        refutation="The scores hold no minus infinity where the NaN appears.",
        related=(symptom.site,),
        explains=("D103", "D110", "D215", "D412", "D501", "D502", "D511"),
    )
