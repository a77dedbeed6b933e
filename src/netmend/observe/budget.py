"""Budget: what watching costs, measured while it happens, against what was promised."""

from __future__ import annotations

from collections import deque
from statistics import median
from time import perf_counter

# Beyond the budget, so that short programs are seen, too: something to begin with, then a share of the time, a second in all.
HEAD_START = 0.015
EARLY_SHARE = 0.025
ALLOWANCE = 1.0
_FIRST_LOOKS = 4


class Purse:
    """What a part that is asked very often may spend: something to begin with, then a share of the time that passes."""

    def __init__(self, share: float, free: float) -> None:
        self.spent = 0.0
        self._share, self._free = share, free
        self._since = perf_counter()

    def holds(self, seconds: float = 0.0) -> bool:
        """Whether that much more may be spent."""
        return self.spent + seconds < self._free + self._share * (perf_counter() - self._since)


class Budget:
    """Keeps the recorder's own time and the program's step times; says how large a share watching takes.

    Watching has a visible cost (time inside netmend's own functions) and a hidden one (hooks slow the framework's
    own calls down). The hidden cost is the excess of fully observed steps over ordinary ones.
    """

    def __init__(self, share: float) -> None:
        self.share = share
        self.own_seconds = 0.0
        self.hidden_seconds = 0.0
        self.wall_seconds = 0.0
        # Spent and wall seconds when the allowance was used up.
        self._steady_from: tuple[float, float] | None = None
        self.asked_seconds = 0.0  # spent on what the user asked for: told, but not held against the budget
        self._plain: deque[float] = deque(maxlen=65)  # durations of steps without full statistics
        self._full_costs: deque[float] = deque(maxlen=5)
        self._full_steps = 0
        self._line_costs: deque[float] = deque(maxlen=65)
        self.base_seconds = 0.0  # median duration of a step without netmend
        self.full_cost = 0.0  # what a step with all statistics costs more
        self.line_cost = 0.0

    def step_done(self, level: int, wall: float, own: float, device: float = 0.0) -> None:
        """One training step: its wall time, our time within it, and time our work took on the device."""
        self.wall_seconds += wall
        if level == 2:
            hidden = max(0.0, wall - own - self.base_seconds) if self.base_seconds else 0.0
            # A pause of the machine is not our cost: no more hidden cost than three times what we did ourselves.
            hidden = min(hidden, 3 * own + self.base_seconds)
            if device:  # a device works on its own clock: the host's says nothing about it
                hidden = device
            self.hidden_seconds += hidden
            self._full_steps += 1
            if self._full_steps <= _FIRST_LOOKS:  # they also get to know the program, and compile kernels
                self._full_costs.clear()
            self._full_costs.append(own + hidden)
        else:
            self._plain.append(wall - own)
            if level == 1:
                self._line_costs.append(own)

    def light_step(self, wall: float, own: float = 0.0) -> None:
        self.wall_seconds += wall
        self.own_seconds += own
        self._plain.append(wall - own)

    @property
    def starting(self) -> bool:
        """Whether the allowance of the first minute is not used up yet."""
        if self._steady_from is None and self.spent >= ALLOWANCE:
            self._steady_from = (self.spent, self.wall_seconds)
        return self._steady_from is None

    def allows(self, seconds: float = 0.0) -> bool:
        """Whether that much more may be spent out of the allowance; it comes little by little, so that no short program is slowed down by all of it."""
        earned = HEAD_START + max(EARLY_SHARE, self.share) * self.wall_seconds
        return self.starting and self.spent + seconds < earned

    @property
    def steady_overhead(self) -> float | None:
        """Slow-down since the allowance was used up: what the budget is about. None before that."""
        if self._steady_from is None:
            return None
        spent, wall = self.spent - self._steady_from[0], self.wall_seconds - self._steady_from[1]
        return spent / (wall - spent) if wall > spent else None

    def refresh(self) -> None:
        """Work the medians out anew; done now and then rather than at every step."""
        self.base_seconds = median(self._plain) if self._plain else 0.0
        self.full_cost = median(self._full_costs) if self._full_costs else 0.0
        self.line_cost = median(self._line_costs) if self._line_costs else 0.0

    @property
    def spent(self) -> float:
        return self.own_seconds + self.hidden_seconds

    @property
    def overhead(self) -> float | None:
        """Slow-down of the training loop so far, as a share of the time it would have taken alone."""
        alone = self.wall_seconds - self.spent
        return (self.spent + self.asked_seconds) / alone if alone > 0 else None
