"""TOK-CAUSAL-MISSING."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from netmend.diagnose.detectors.sequences import LooksAhead
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.localise.lines.layer_lines import creation_of
from netmend.unit import Run
from netmend.vocabulary import Fault, ModuleFact, Site, Symptom

_MASK_BY_HAND = (
    "Mask the scores before the softmax: `scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool, "
    "device=scores.device).triu(1), float('-inf'))`, where `T` is the length of the sequence."
)
_RECURRENT = ("LSTM", "GRU", "RNN")
_MASK_ARGUMENT = {
    "TransformerEncoder": "mask",
    "TransformerEncoderLayer": "src_mask",
    "TransformerDecoder": "tgt_mask",
    "TransformerDecoderLayer": "tgt_mask",
    "Transformer": "tgt_mask",
    "MultiheadAttention": "attn_mask",
}


@register
class CausalMaskMissing:
    """A model that predicts the next element of a sequence sees the elements it has to predict.

    Its loss says nothing then: the answer is read off the input. Give attention a causal mask, let recurrent layers run forwards only, pad convolutions
    on the left only.
    """

    code: ClassVar[str] = "TOK-CAUSAL-MISSING"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D802"):
            site, remedy = _change(case, symptom)
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN)],
                component=symptom.component,
                site=site or symptom.site,
                summary=symptom.message,
                reason="The answer is among the inputs, so a low loss means nothing: at generation time the later tokens do not exist yet.",
                remedy=remedy,
                refutation="Positions may see later ones because the loss does not ask to predict them.",
                related=[symptom.site],
                explains=("D506", "D507"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = LooksAhead.FAULTY


def _change(case: Case, symptom: Symptom) -> tuple[Site | None, str]:
    """Where the change belongs, and what it is."""
    values = symptom.detail
    if values.get("mask_line") is not None:
        made = Site(str(values["mask_file"]), int(values["mask_line"]))
        where = f"the mask in `{case.sources.line(made)}`"
        return made, (
            f"Fill with `float('-inf')`: {where} leaves scores that a softmax still counts."
            if values.get("mask_weak")
            else f"Correct {where}, which lets later positions through: `torch.ones(T, T, dtype=torch.bool).triu(1)` is True at these."
        )
    layer = _library_layer(case, symptom)
    kind = layer.kind if layer is not None else ""
    if layer is not None and kind in _RECURRENT:
        return creation_of(case.trace, layer.name), (
            "Remove `bidirectional=True` and halve the next layer's input width: a model that predicts the next element "
            "can only read forwards."
        )
    if layer is not None and kind.startswith("Conv"):
        return creation_of(case.trace, layer.name), (
            f"Pad on the left only: set `padding=0` and call the layer on `F.pad(x, ({_reach(layer.settings)}, 0))`."
        )
    if kind in _MASK_ARGUMENT:
        argument = _MASK_ARGUMENT[kind]
        call = case.sources.call_at(symptom.site) if symptom.site is not None else None
        given = call is not None and case.sources.argument(call, argument) is not None
        return symptom.site, (
            f"Correct the mask in `{argument}`: it lets later positions through. `nn.Transformer.generate_square_subsequent_mask(T)` is right."
            if given
            else f"Pass `{argument}=nn.Transformer.generate_square_subsequent_mask(T)` here, where `T` is the length of the sequence."
        )
    ready_made = _attention_call(case, symptom.site)
    if ready_made is not None:
        mask = case.sources.argument(ready_made, "attn_mask", 3)
        return symptom.site, (
            "Pass `is_causal=True` to `scaled_dot_product_attention`."
            if mask is None
            else "Correct `attn_mask`: it must be False (or -inf) wherever the key comes after the query."
        )
    if values.get("operation") in ("softmax", "log_softmax", "bmm", "sigmoid"):
        return symptom.site, _MASK_BY_HAND
    return symptom.site, (
        "Compute each position from itself and earlier positions only: no mean, norm, flip or window over the whole sequence."
    )


def _attention_call(case: Case, site: Site | None) -> ast.Call | None:
    if site is None:
        return None
    calls = case.sources.calls_named(site.file, "scaled_dot_product_attention")
    return next((call for call in calls if call.lineno <= site.line <= (call.end_lineno or 0)), None)


def _library_layer(case: Case, symptom: Symptom) -> ModuleFact | None:
    """The outermost layer of the framework's around the operation: the one that the program itself calls."""
    parts = symptom.component.split(".")
    for depth in range(1, len(parts) + 1):
        layer = case.trace.get(ModuleFact, ".".join(parts[:depth]))
        if (
            layer is not None
            and layer.qualified.startswith("torch.nn.modules.")
            and layer.kind not in ("Sequential", "ModuleList")
        ):
            return layer
    return None


def _reach(settings: Mapping[str, Any]) -> str:
    """How many positions a kernel reaches back, as a number where it is known."""
    kernel, dilation = settings.get("kernel_size"), settings.get("dilation", 1)
    kernel, dilation = (
        value[0] if isinstance(value, list | tuple) and value else value for value in (kernel, dilation)
    )
    if isinstance(kernel, int) and isinstance(dilation, int):
        return str((kernel - 1) * dilation)
    return "(kernel_size - 1) * dilation"
