"""tokenizers: where texts are cut."""

from __future__ import annotations

import sys
from typing import Any

from netmend.adapters.preparation.watch import Preparation, Seen


def watch(preparation: Preparation) -> None:
    tokenizers = sys.modules["tokenizers"]
    preparation.wrap(
        tokenizers.Tokenizer, "enable_truncation", "cut", _cut, label="tokenizers.Tokenizer.enable_truncation"
    )


def _cut(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
    size = args[1] if len(args) > 1 else kwargs.get("max_length")
    if not isinstance(size, int):
        return None
    return {"kept_items": size, "keeps": "last" if kwargs.get("direction") == "left" else "first"}
