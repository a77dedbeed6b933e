"""What neurons give for each input: one number per unit, the mean over places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from netmend.adequacy.torch.layers import listening, unit_rows
from netmend.mend.torch.spec import Examples
from netmend.mend.torch.units import Group


@torch.no_grad()
def activity(model: nn.Module, data: Examples, groups: Sequence[Group]) -> dict[str, Tensor]:
    """inputs × units for the layers that the groups stand for; of a layer called twice the last call counts."""
    wanted = {group.name: group.count for group in groups}
    gathered: dict[str, list[Tensor]] = {name: [] for name in wanted}
    for part in data.parts():
        heard: dict[str, Tensor] = {}

        def hear(
            name: str,
            module: nn.Module,
            given: Any,
            made: Any,
            heard: dict[str, Tensor] = heard,
            count: int = len(part),
        ) -> None:
            rows = unit_rows(made, module, count)
            if rows is not None and rows.shape[1] == wanted[name]:
                heard[name] = rows

        with listening(model, set(wanted), hear):
            model(*part.inputs)
        for name, rows in heard.items():
            gathered[name].append(rows)
    return {
        name: torch.cat(rows)
        for name, rows in gathered.items()
        if sum(len(one) for one in rows) == len(data) > 0
    }
