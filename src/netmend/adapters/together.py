"""Several adapters as one: the framework's first, then those of libraries built on it."""

from __future__ import annotations

from netmend.adapters.torch.guard import attempt
from netmend.adapters.torch.watch.session import TorchSession
from netmend.observe.session import Adapter


class Together:
    """Installed in order, finished and removed in the reverse one; a companion that fails takes no other down."""

    def __init__(self, session: TorchSession, companions: tuple[Adapter, ...]) -> None:
        self.session = session
        self.companions = companions

    @property
    def alive(self) -> bool:
        """Whether anything is recorded now; companions ask the framework's session too."""
        return self.session.alive

    @alive.setter
    def alive(self, value: bool) -> None:
        self.session.alive = value

    def install(self) -> None:
        self.session.install()
        for companion in self.companions:
            attempt(self.session, type(companion).__name__.lower(), companion.install)

    def crashed(self, problem: BaseException) -> None:
        self.session.crashed(problem)

    def finish(self) -> None:
        for companion in reversed(self.companions):
            attempt(self.session, "the end of the run", companion.finish)
        self.session.finish()

    def remove(self) -> None:
        for companion in reversed(self.companions):
            attempt(self.session, "the removal of hooks", companion.remove)
        self.session.remove()
