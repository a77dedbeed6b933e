"""imageio: pictures read from files."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np

from netmend.adapters.preparation.pictures import lost, name_of, size_of
from netmend.adapters.preparation.watch import Preparation, Seen

_LARGEST = 4_000_000  # bytes of a file that is read once more


def watch(preparation: Preparation) -> None:
    for name in ("imageio", "imageio.v2", "imageio.v3"):
        module = sys.modules.get(name)
        if module is not None and hasattr(module, "imread"):
            preparation.wrap(module, "imread", "image", partial(_read, module.imread), label="imageio.imread")


def _read(read: Any, token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
    """Compared with the file as it is, where the call asked for something else."""
    path = args[0] if args else kwargs.get("uri")
    if len(args) + len(kwargs) < 2 or size_of(path) > _LARGEST:
        return {"types": [str(result.dtype)]}
    raw = read(path)
    return lost(np.asarray(raw), np.asarray(result), name_of(path))
