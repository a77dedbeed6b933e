"""Models of sequences: layout, padding, mask and targets."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from netmend.diagnose.detectors.axes import SamplesMixed
from netmend.diagnose.detectors.sequences import LooksAhead, PaddingCounted, TargetsNotNext
from netmend.diagnose.examples.networks import net_run
from netmend.diagnose.examples.probes import recurrent
from netmend.library.layers import RECURRENT
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, Accusation, Cause, accuses, fault, for_symptom
from netmend.localise.effects import ANY
from netmend.localise.lines.data_lines import target_line, target_origin
from netmend.localise.lines.head_lines import creation_of
from netmend.program.settings import argument_origin
from netmend.unit import Run
from netmend.vocabulary import Event, Fault, LossFact, ModuleFact, Site, Symptom


@accuses("INP-FORMAT-RNN", SamplesMixed, faulty=(Run("recurrent layer over samples", lambda: recurrent()),))
def sequence_layout(case: Case, symptom: Symptom) -> Accusation | None:
    """A recurrent or attention layer takes the samples of the batch for the steps of a sequence.

    Such layers expect time on the first axis unless they are created with `batch_first=True`. Given batches first, they run along the batch:
    each sample is read as the successor of the one before it, and its own steps never meet.
    Create the layer with `batch_first=True`, or transpose its input.
    """
    if symptom.detail.get("batch_first") is not False:
        return None
    name, kind = str(symptom.detail["module"]), str(symptom.detail["kind"])
    created = _pattern(case, creation_of(case.trace, name))
    shape = ", ".join(map(str, symptom.detail.get("module_input", ())))
    return Accusation(
        PROVEN + 1.5,
        component=name,
        site=created or symptom.site,
        summary=f"{symptom.message[:-1]}; the samples meet in {name}, a {kind} without `batch_first=True`, whose input is [{shape}].",
        reason="The layer reads the first axis as time, so it runs from sample to sample instead of from step to step.",
        remedy=f"Create {name} with `batch_first=True`"
        + (f" in {created.short}." if created is not None else "."),
        refutation="The first axis of the input really is time.",
        related=(symptom.site,),
        explains=(*ANY, "D310", "D311", "D602"),
    )


def _pattern(case: Case, created: Site | None) -> Site | None:
    """`nn.TransformerEncoder(layer, 6)` copies a layer that is created elsewhere, with its order of axes."""
    for name in ("encoder_layer", "decoder_layer"):
        origin = argument_origin(case.sources, created, name, 0)
        if origin is not None and "Layer" in origin.text:
            return origin.site
    return created


_HIDDEN = Event(
    0,
    "nonfinite",
    "the loss became NaN at step 0: first made by _softmax in model at train.py:9",
    "model",
    Site("train.py", 9),
    {
        "what": "loss",
        "operation": "_softmax",
        "phase": "forward",
        "exact": True,
        "hidden": 0.6,
        "mask_file": "train.py",
        "mask_line": 7,
    },
)


class PaddingNotMasked(Cause, code="INP-MASK-MISSING"):
    """Padding is not masked: it counts in the loss like any other token, or the mask hides the tokens instead.

    Predicting padding is easy, so the loss looks good while the rest is hardly learned. Tell the loss which token to leave out:
    `nn.CrossEntropyLoss(ignore_index=pad)`. A mask of attention that hides whole rows makes NaN of them: usually it is True at the tokens
    and not at the padding.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D315"):
            loss = case.trace.get(LossFact, symptom.component)
            yield self.fault(
                symptom,
                [for_symptom(symptom, STRONG + FAIR)],
                reason="The network is rewarded for predicting padding, which drowns out the real tokens.",
                remedy="Exclude the padding token from the loss with `ignore_index`, or mask it and divide by the number of real tokens.",
                refutation="It is a real token that happens to have the embedding's padding index.",
                related=() if loss is None else (loss.called,),
            )
        for symptom in case.of("D110"):
            if symptom.detail.get("hidden"):
                yield _hides_all(symptom)

    FAULTY = (
        *PaddingCounted.FAULTY,
        Run("the mask hides whole rows", lambda: net_run(losses=[float("nan")] * 40, events=[_HIDDEN])),
    )


def _hides_all(symptom: Symptom) -> Fault:
    """A softmax over scores all of which were masked: nothing divided by nothing."""
    detail = symptom.detail
    line = detail.get("mask_line")
    made = Site(str(detail["mask_file"]), int(line)) if line is not None else None
    where = f" at {made.short}" if made is not None else ""
    share = float(detail["hidden"])
    return fault(
        "INP-MASK-MISSING",
        [for_symptom(symptom, PROVEN + STRONG)],
        component=symptom.component,
        site=made or symptom.site,
        summary=f"The mask hides every position from {share:.1%} of the rows of scores, and their softmax is NaN.",
        reason="A softmax over nothing but minus infinity divides zero by zero.",
        remedy=f"Let each position see itself{where}: cut the mask with `triu(1)`, not `triu(0)`."
        if detail.get("first_hidden")
        else f"Turn the mask{where} round if it is True at real tokens: it must hide the padding (`tokens == pad`), and leave each row something to see.",
        refutation="The scores hold no minus infinity where the NaN appears.",
        related=(symptom.site,),
        explains=("D103", "D110", "D215", "D412", "D501", "D502", "D511"),
    )


_MASK_BY_HAND = (
    "Mask the scores before the softmax: `scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool, "
    "device=scores.device).triu(1), float('-inf'))`, where `T` is the length of the sequence."
)
_MASK_ARGUMENT = {
    "TransformerEncoder": "mask",
    "TransformerEncoderLayer": "src_mask",
    "TransformerDecoder": "tgt_mask",
    "TransformerDecoderLayer": "tgt_mask",
    "Transformer": "tgt_mask",
    "MultiheadAttention": "attn_mask",
}


@accuses("TOK-CAUSAL-MISSING", LooksAhead)
def causal_mask_missing(case: Case, symptom: Symptom) -> Accusation:
    """A model that predicts the next element of a sequence sees the elements it has to predict.

    Its loss says nothing then: the answer is read off the input. Give attention a causal mask, let recurrent layers run forwards only, pad convolutions
    on the left only.
    """
    site, remedy = _change(case, symptom)
    return Accusation(
        PROVEN,
        site=site or symptom.site,
        reason="The answer is among the inputs, so a low loss means nothing: at generation time the later tokens do not exist yet.",
        remedy=remedy,
        refutation="Positions may see later ones because the loss does not ask to predict them.",
        related=[symptom.site],
        explains=("D506", "D507"),
    )


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
    if layer is not None and kind in RECURRENT:
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


_CODES = {0: "TOK-SHIFT-MISSING", 2: "TOK-SHIFT-EXTRA", -1: "TOK-SHIFT-WRONG"}
_SLICES = "with `x = data[i : i + T]`, `y = data[i + 1 : i + T + 1]`; in one tensor of whole rows, `x = ids[:, :-1]` and `y = ids[:, 1:]`"
_REASONS = {
    0: "The model only has to copy its input: it soon reaches 100 % accuracy without learning what comes next.",
    2: "The model learns to skip a token: generated text leaves out every other one.",
    -1: "The model only has to remember its previous input: it soon reaches 100 % accuracy without learning what comes next.",
}
_REMEDIES = {
    0: f"Shift the targets one position ahead of the inputs: {_SLICES}.",
    2: f"Shift the targets once, either here or in the model: {_SLICES}.",
    -1: f"Shift the targets one position ahead of the inputs, not behind: {_SLICES}.",
}


@accuses(
    "TOK-SHIFT-MISSING",
    TargetsNotNext,
    faulty=tuple(
        replace(run, code=code)
        for run, code in zip(
            TargetsNotNext.FAULTY, ("TOK-SHIFT-MISSING", "TOK-SHIFT-WRONG", "TOK-SHIFT-EXTRA"), strict=True
        )
    ),
)
def targets_not_next(case: Case, symptom: Symptom) -> Accusation:
    """The targets of a model that reads a sequence from left to right are not the next elements of it.

    The same elements, or the last ones, can be copied from the input, so nothing is learned; targets shifted twice leave one out. Shift once: the target
    of a position is the element that follows it.
    """
    offset = symptom.detail["offset"]
    return Accusation(
        PROVEN,
        code=_CODES[offset],
        component="training data",
        site=target_line(case) or target_origin(case) or symptom.site,
        reason=_REASONS[offset],
        remedy=_REMEDIES[offset],
        refutation="The model is meant to reproduce its input.",
        related=[symptom.site],
        explains=("D505", "D506", "D507", "D508", "D512"),
    )
