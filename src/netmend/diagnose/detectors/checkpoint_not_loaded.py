"""D222 CheckpointNotLoaded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.unit import Run, threshold
from netmend.vocabulary import Event, Site, Symptom, Trace


def _loaded(matched: int, missing: int, unexpected: int, aliased: int = 0) -> Trace:
    detail = {"matched": matched, "missing": missing, "unexpected": unexpected, "aliased": aliased}
    return Trace(events=(Event(0, "state loaded", "loaded", "model", Site("train.py", 9), detail),))


@register
class CheckpointNotLoaded:
    """A checkpoint was loaded, but hardly any of its entries matched the model.

    With strict=False the entries that do not fit are passed over in silence: the model stays at its random start.
    Usual causes: a prefix such as "module." or "model." before every name, a checkpoint of another network.
    """

    code: ClassVar[str] = "D222"

    least_share: float = threshold(
        0.1, "convention", "of the saved entries; a backbone taken from a larger model fits far more of them"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for event in trace.events:
            if event.kind != "state loaded":
                continue
            matched, missing, unexpected = (
                int(event.detail.get(name) or 0) for name in ("matched", "missing", "unexpected")
            )
            own = int(event.detail.get("aliased") or 0)
            if matched and own == matched:
                yield Symptom(
                    self.code,
                    f"The state loaded into {event.component} is its own current state: it was saved by reference, not copied.",
                    component=event.component,
                    first_step=event.step,
                    observed=0.0,
                    limit=self.least_share,
                    site=event.site,
                    detail={"matched": matched, "own": True, "wanted": [], "given": []},
                )
            if not missing or (matched + unexpected and matched > self.least_share * (matched + unexpected)):
                continue
            yield Symptom(
                self.code,
                f"Of {matched + unexpected} saved entries {matched} were loaded into {event.component}; {missing} of its own "
                "were not in the file.",
                component=event.component,
                first_step=event.step,
                observed=matched / max(1, matched + unexpected),
                limit=self.least_share,
                site=event.site,
                detail={
                    "matched": matched,
                    "own": False,
                    "wanted": list(event.detail.get("missing_keys") or ()),
                    "given": list(event.detail.get("unexpected_keys") or ()),
                },
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("all of it", lambda: _loaded(10, 0, 0)),
        Run("a new head", lambda: _loaded(8, 2, 2)),
        Run("tied weights are loaded twice", lambda: _loaded(10, 0, 0, 2)),
        Run("a part of a larger state", lambda: _loaded(6, 0, 40)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("a prefix is in the way", lambda: _loaded(0, 10, 10)),
        Run("nothing was given", lambda: _loaded(0, 10, 0)),
        Run("the best state was only a reference", lambda: _loaded(10, 0, 0, 10)),
    )
