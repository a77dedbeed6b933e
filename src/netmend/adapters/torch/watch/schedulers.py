"""Facts about learning-rate schedulers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netmend.adapters.torch.watch.structure import settings_of
from netmend.vocabulary import SchedulerFact, Site

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession

_STATE = ("last_epoch", "num_bad_epochs", "best", "cooldown_counter", "verbose", "mode_worse")


def record_scheduler(session: TorchSession, scheduler: Any, site: Site | None) -> str:
    """The scheduler's name; at first sight its fact is written."""
    known = session.names.get(scheduler)
    if known is not None:
        return known
    kind = type(scheduler).__name__
    name = session.unique_name(kind)
    session.names.put(scheduler, name)
    optimizer = getattr(scheduler, "optimizer", None)
    session.recorder.fact(
        SchedulerFact(
            name=name,
            kind=kind,
            optimizer=session.optimizers.name(optimizer) if optimizer is not None else "",
            settings={k: v for k, v in settings_of(scheduler).items() if k not in _STATE},
            created=session.created.get(scheduler),
            stepped=site,
        )
    )
    return name
