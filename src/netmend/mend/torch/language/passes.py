"""Forward passes that need little memory: blocks are recomputed in the backward pass, logits exist piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from netmend.mend.torch.language.blocks import Block
from netmend.mend.torch.language.rows import Batch

Score = Callable[[Tensor, slice], Tensor]


class Passes:
    """One model, run as the memory plan says. Dropout is off, always: the model is put into its evaluation mode."""

    def __init__(
        self,
        model: Any,
        blocks: Sequence[Block],
        recompute: bool = False,
        positions: int = 0,
        autocast: bool = False,
    ) -> None:
        """`positions`: logits for so many places at once (0: for all); `autocast`: bfloat16 arithmetic on full weights."""
        self.model, self.blocks = model.eval(), blocks
        self.recompute, self.positions, self.autocast = recompute, positions, autocast
        self.device: torch.device = model.get_input_embeddings().weight.device
        self._body, self._head = _parts(model)
        self._direct = self._body is not None and self._same_logits()

    @contextmanager
    def prepared(self) -> Iterator[None]:
        """Inside, blocks are recomputed in backward passes where that was asked for."""
        wrapped = self.blocks if self.recompute else ()
        kept = [block.module.__dict__.get("forward") for block in wrapped]
        for block in wrapped:
            block.module.forward = _recomputed(block.module)
        try:
            yield
        finally:
            for block, before in zip(wrapped, kept, strict=True):
                if before is None:
                    del block.module.__dict__["forward"]
                else:
                    block.module.forward = before

    def each_place(self, batch: Batch, score: Score) -> Tensor:
        """`score(logits, slice of the places)` of every place of the batch, in their order."""
        with self._arithmetic():
            if not self._direct:
                logits = self.model(input_ids=batch.ids, use_cache=False).logits
                return score(logits[batch.row, batch.place], slice(None)).float()
            states = self._body(input_ids=batch.ids, use_cache=False)[0]
            states = states[batch.row.to(states.device), batch.place.to(states.device)]
            return self._in_pieces(states, score)

    def _in_pieces(self, states: Tensor, score: Score) -> Tensor:
        count, size = states.shape[0], self.positions or states.shape[0]
        if count <= size:
            return score(self._head(states), slice(None)).float()
        parts = []
        for start in range(0, count, size):
            piece = slice(start, min(start + size, count))

            def run(part: Tensor, piece: slice = piece) -> Tensor:
                return score(self._head(part), piece).float()

            held = states[piece]
            again = torch.is_grad_enabled() and held.requires_grad
            parts.append(
                checkpoint(run, held, use_reentrant=False, preserve_rng_state=False) if again else run(held)
            )
        return torch.cat(parts)

    def _arithmetic(self) -> AbstractContextManager[Any]:
        return torch.autocast(self.device.type, torch.bfloat16) if self.autocast else nullcontext()

    @torch.no_grad()
    def _same_logits(self) -> bool:
        """Whether the head on the last states gives the logits: some models scale or cap them afterwards."""
        ids = torch.arange(2, device=self.device)[None]
        whole = self.model(input_ids=ids, use_cache=False).logits.float()
        states = self._body(input_ids=ids, use_cache=False)[0]
        if states.shape[-1] != getattr(self._head, "in_features", states.shape[-1]):
            return False
        parts = self._head(states).float().to(whole.device)
        return parts.shape == whole.shape and torch.allclose(parts, whole, rtol=1e-3, atol=1e-3)


def log_probability(batch: Batch) -> Score:
    """A score for `each_place`: the log probability of the label."""

    def score(logits: Tensor, piece: slice) -> Tensor:
        labels = batch.labels[piece].to(logits.device)
        return -nn.functional.cross_entropy(logits.float(), labels, reduction="none")

    return score


def _parts(model: Any) -> tuple[Any, Any]:
    body, head = getattr(model, "base_model", None), model.get_output_embeddings()
    return (None, None) if body is None or body is model or head is None else (body, head)


def _recomputed(module: nn.Module) -> Callable[..., Any]:
    inner = module.forward

    def forward(*given: Any, **named: Any) -> Any:
        needed = torch.is_grad_enabled() and (
            any(isinstance(one, Tensor) and one.requires_grad for one in (*given, *named.values()))
            or any(one.requires_grad for one in module.parameters())
        )
        if not needed:
            return inner(*given, **named)
        return checkpoint(inner, *given, use_reentrant=False, preserve_rng_state=False, **named)

    return forward
