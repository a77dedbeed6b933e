"""Part: what the run writer asks of each of its buffers."""

from __future__ import annotations

import sqlite3
from typing import Protocol

from netmend.vocabulary.table import IntArray


class Part(Protocol):
    """A buffer in memory and the tables behind it.

    `write` runs inside a transaction and must leave the buffer as it is: only `settle`, called after the commit,
    forgets what was written. A failed commit thus loses nothing, and since every stored item has a number of its own, an
    interrupt just after the commit doubles nothing. What arrives between the two stays for next time.
    """

    @property
    def pending(self) -> int:
        """Number of buffered items."""

    @property
    def dropped(self) -> int:
        """Number of items that were not kept because a limit was reached."""

    def write(self, connection: sqlite3.Connection) -> None:
        """Hand the buffered items to the database."""

    def settle(self) -> None:
        """Forget what the last `write` wrote: it is committed."""

    def overgrown(self) -> bool:
        """Whether the tables have outgrown their limit."""

    def thin(self, connection: sqlite3.Connection, anomalies: IntArray) -> None:
        """Bring the tables back below their limit, keeping what lies near these steps."""

    def settle_thinned(self) -> None:
        """The last `thin` is committed."""
