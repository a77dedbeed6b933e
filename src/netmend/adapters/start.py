"""Start watching with the adapters of frameworks, which are loaded only then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netmend.observe.unhindered import unhindered

if TYPE_CHECKING:
    from netmend.adapters.preparation.watch import Preparation
    from netmend.observe.options import Options
    from netmend.observe.recorder import Progress
    from netmend.observe.session import Watching
    from netmend.observe.sites import Sites


def watch_preparation(sites: Sites) -> Preparation:
    """What watches how data are made, from the first line of a program on."""
    from netmend.adapters.preparation.watch import Preparation

    return Preparation(sites)


def start_torch(
    options: Options,
    script: str,
    arguments: tuple[str, ...] = (),
    progress: Progress | None = None,
    *,
    sites: Sites | None = None,
    preparation: Preparation | None = None,
    model: Any = None,
    optimizer: Any = None,
) -> Watching:
    with unhindered():
        from netmend.adapters.gymnasium.session import Worlds
        from netmend.adapters.preparation.watch import Preparation
        from netmend.adapters.sb3.session import Agents
        from netmend.adapters.torch.watch.session import TorchSession
        from netmend.observe.session import Watching

        watching = Watching(options, script, arguments, progress, sites)
        session = TorchSession(
            watching.recorder, everything=options.full, trap=options.trap, probe=options.probe
        )
        preparation = preparation or Preparation(watching.recorder.sites)
        preparation.recorder = watching.recorder
        session.data.preparation = preparation
        session.companions = (Worlds(session), Agents(session), preparation)
        watching.attach(session)
        if model is not None:
            session.models.expect(model)
        if optimizer is not None:
            session.optimizers.expect(optimizer)
        return watching
