"""TRN-CKPT."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.models import CheckpointNotLoaded as CheckpointNotLoadedDetector
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, fault, for_symptom, register
from netmend.localise.effects import ANY, NOT_LEARNING
from netmend.unit import Run
from netmend.vocabulary import Fault, Site


@register
class CheckpointNotLoaded:
    """A checkpoint is missing, or hardly anything of it was loaded.

    With strict=False names that do not fit are skipped in silence, and the model starts at random values after all.
    Make the names fit, and load with strict=True.
    """

    code: ClassVar[str] = "TRN-CKPT"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D222"):
            if symptom.detail["own"]:
                yield fault(
                    self.code,
                    [for_symptom(symptom, STRONG + FAIR)],
                    component=symptom.component,
                    site=symptom.site,
                    summary=symptom.message,
                    reason="`state_dict()` returns references, so further training changed the saved state too.",
                    remedy="Copy the state when you save it: `copy.deepcopy(model.state_dict())`.",
                    refutation="The state was saved just before loading, so nothing has changed in between.",
                )
                continue
            nothing = not symptom.detail["matched"]
            given, wanted = symptom.detail["given"][:1], symptom.detail["wanted"][:1]
            names = f" (the file has `{given[0]}`, the model needs `{wanted[0]}`)" if given and wanted else ""
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN + 0.5 if nothing else STRONG + FAIR)],
                component=symptom.component,
                site=symptom.site,
                summary=symptom.message,
                reason="Entries whose names do not match are skipped, so the model keeps its random weights.",
                remedy=f"Make the checkpoint's names match the model{names}, and load it with `strict=True`.",
                refutation="The model is meant to start from random weights.",
                explains=(*NOT_LEARNING, "D220", "D213", "D214"),
            )
        for symptom in case.of("D701"):
            text = str(symptom.detail["exception"])
            keys = "loading state_dict" in text
            if not keys and not (
                text.startswith("FileNotFoundError") and _is_for_a_model(case, symptom.site)
            ):
                continue  # a file of data that is not there: the traceback says all there is to say
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN)],
                component="checkpoint",
                site=symptom.site,
                summary=symptom.message,
                reason="The checkpoint does not fit this model."
                if keys
                else "The file to load does not exist.",
                remedy="Load it into the model it was saved from, or rename its entries."
                if keys
                else "Correct the path, or save the checkpoint before it is loaded.",
                refutation="The file exists where the program normally runs.",
                explains=ANY,
            )

    FAULTY: ClassVar[tuple[Run, ...]] = CheckpointNotLoadedDetector.FAULTY


def _is_for_a_model(case: Case, site: Site | None) -> bool:
    """Whether what the line loads is given to `load_state_dict`, there or under a name."""
    if site is None:
        return False
    line = case.sources.line(site)
    named = re.match(r"(\w+)\s*=.*\bload\(", line)
    wanted = rf"load_state_dict\(\s*{named[1]}\b" if named else r"load_state_dict\("
    return re.search(wanted, case.sources.text(site.file) if named else line) is not None
