"""Mutation testing of reinforcement-learning programs: faulty agents, and the test environments that reveal them."""

from __future__ import annotations

from netmend.mutate.agents.detection import is_rl

__all__ = ["is_rl"]
