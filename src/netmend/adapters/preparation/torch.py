"""PyTorch's own division of a data set: `random_split`."""

from __future__ import annotations

import sys
from typing import Any

from netmend.adapters.preparation.divisions import divisions
from netmend.adapters.preparation.watch import Preparation, Seen


def watch(preparation: Preparation) -> None:
    module = sys.modules["torch.utils.data"]
    known = divisions(preparation)

    def divided(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], parts: Any) -> Seen | None:
        dataset = args[0] if args else kwargs.get("dataset")
        if dataset is not None and len(parts) > 1 and hasattr(dataset, "__len__"):
            given = (*getattr(dataset, "tensors", ()), dataset)
            known.by_numbers(
                "torch.utils.data.random_split", len(dataset), parts[0].indices, parts[-1].indices, given
            )
        return None

    def subset(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
        dataset, indices = vars(args[0])["dataset"], vars(args[0])["indices"]
        if hasattr(dataset, "__len__"):
            given = (*getattr(dataset, "tensors", ()), dataset)
            known.picked("torch.utils.data.Subset", dataset, len(dataset), list(indices), given)
        return None

    preparation.wrap(module.Subset, "__init__", "split", subset, label="torch.utils.data.Subset")
    preparation.wrap(module, "random_split", "split", divided, label="torch.utils.data.random_split")
