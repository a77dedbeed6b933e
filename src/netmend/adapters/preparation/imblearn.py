"""imbalanced-learn: how many rows a resampling makes, and whether they are divided afterwards."""

from __future__ import annotations

import sys
from typing import Any

from netmend.adapters.preparation.beforehand import RESAMPLE, beforehand
from netmend.adapters.preparation.beside import user_frames
from netmend.adapters.preparation.watch import Preparation, Seen


def watch(preparation: Preparation) -> None:
    module = sys.modules["imblearn.base"]
    known = beforehand(preparation)

    def resampled(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], made: Any) -> Seen | None:
        targets = args[2] if len(args) > 2 else kwargs.get("y")
        if targets is None or not isinstance(made, tuple) or len(made) < 2:
            return None
        frame = next(user_frames(preparation), None)
        site = preparation.sites.of(frame) if frame is not None else None
        if site is not None:
            known.resampled(site.short, targets, made[1])
        return {"rows": len(targets), "rows_after": len(made[1]), "by": type(args[0]).__name__}

    for owner in (module.BaseSampler, module.FunctionSampler):
        if "fit_resample" in vars(owner):
            preparation.wrap(owner, "fit_resample", RESAMPLE, resampled, label="imblearn.fit_resample")
