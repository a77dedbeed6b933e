"""Repairs of clipping: its limit, and its place when gradients are scaled."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

import numpy as np

from netmend.changes.case import Case
from netmend.changes.loop.good_rates import rounded
from netmend.changes.loop.loop_code import Spot, callers, model_at, optimizer_at, scaler_of, spot, spots
from netmend.library.layers import RECURRENT_CELLS
from netmend.program.source.moving import combined, moved_before, taken_out, text_of
from netmend.program.source.naming import spelled
from netmend.program.source.numbers import number
from netmend.program.source.values import set_value
from netmend.program.source.writing import insert_after, insert_before, replace
from netmend.program.text.queries import Function, last_name
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import BY_FACTS, SHORT_SEARCH, Change, FileEdits

_UNROLLED = 8  # calls of one layer within a forward pass


_limit_example = partial(
    example, backward="nn.functional.mse_loss(model(torch.ones(4, 2)), torch.ones(4, 1))"
)


class Clipping(Repair, code="R405", cures=("OPT-CLIP", "HYP-LR-HIGH", "HYP-LR-LOW"), effort=BY_FACTS):
    """Clip the gradients between backward and step, to a limit that leaves ordinary ones as they are.

    A recurrent network multiplies gradients over many steps of time, and one burst can undo all training: a limit of 1
    cures that, or a lower one. A limit far below the usual norm is raised; a call that comes too late or too early is moved.
    """

    tight: float = 20.0  # times the limit: gradients that long are ordinary, and the limit is to blame

    def propose(self, case: Case) -> Iterator[Change]:
        clips = spots(case, "clip")
        if case.cause == "HYP-LR-HIGH":
            if not clips and _recurrent(case):
                yield from self._inserted(case, SHORT_SEARCH)
            return
        if case.cause == "HYP-LR-LOW":  # a tiny limit looks like a tiny rate
            for clip in clips[:1]:
                yield from self._raised(case, clip)
            return
        for clip in clips[:1]:
            yield from self._raised(case, clip)
            yield from self._moved(case, clip)
        if not clips:
            yield from self._inserted(case, None)

    def _inserted(self, case: Case, effort: int | None) -> Iterator[Change]:
        backward, step = next(iter(spots(case, "backward")), None), next(iter(spots(case, "step")), None)
        anchor = step or backward
        if anchor is None or backward is None:
            return
        for limit in ("1.0", "0.25"):
            text, extra = self._call(case, anchor, limit)
            edits = _between(backward, step, text) if text else ()
            if edits:
                title = f"clip gradients to norm {float(limit):g}"
                yield from self.change(case, title, (*edits, *extra), knob="clipping", effort=effort)

    def _call(self, case: Case, anchor: Spot, limit: str) -> tuple[str, FileEdits]:
        """The lines to insert."""
        optimizer = case.optimizer
        name = "" if optimizer is None else optimizer_at(case, optimizer.name, anchor)
        models = [model for model in case.trace.models if model.trainable]
        model = model_at(case, models[0].name, anchor) if len(models) == 1 else ""
        if model:
            parameters = f"{model}.parameters()"
        elif name:
            parameters = f'[p for group in {name}.param_groups for p in group["params"]]'
        else:
            return "", ()
        clip, extra = spelled(anchor.file, "torch.nn.utils.clip_grad_norm_")
        text = f"{clip}({parameters}, {limit})"
        scaler = scaler_of(case)
        if scaler is not None:
            if not name or not scaler[0].is_beside(anchor):
                return "", ()
            if not _unscaled(case):
                text = f"{scaler[0].file.source(scaler[1])}.unscale_({name})\n{text}"
        return text, extra

    def _raised(self, case: Case, clip: Spot) -> Iterator[Change]:
        if scaler_of(case) is not None and not _unscaled(case):
            return  # the limit meets gradients that are scaled up
        by_value = clip.method == "clip_grad_value_"
        name = "clip_value" if by_value else "max_norm"
        value = case.code.sources.argument(clip.call, name, 1)
        limit = None if value is None else number(case.code, clip.file, value, case.arguments)
        if value is None or limit is None:
            return
        norms = [table.known("norm")[1] for table in case.trace.tables_of("clip")]
        known = np.concatenate(norms) if norms else np.empty(0)
        usual = float(np.median(known[np.isfinite(known)])) if np.isfinite(known).any() else 0.0
        if by_value or usual < self.tight * limit:
            if limit >= 1e-2:
                return
            usual = 1.0
        good = max(1.0, rounded(usual))
        faces = set_value(
            case.code, clip.file, value, f"{good:.1f}" if good < 1000 else f"{good:g}", case.arguments
        )
        yield from self.change(case, f"clip at {limit:g} → {good:g}", faces, knob="clipping limit")

    def _moved(self, case: Case, clip: Spot) -> Iterator[Change]:
        backward, step = next(iter(spots(case, "backward")), None), next(iter(spots(case, "step")), None)
        if backward is None or step is None or not clip.is_alone:
            return
        if not (clip.is_beside(step) and clip.is_beside(backward)):
            return
        line = clip.call.lineno
        if backward.call.lineno < line < step.call.lineno:
            return
        insertion = _between(backward, step, text_of(clip.file, clip.statement))
        after = backward.file.loop(backward.call) is step.file.loop(step.call) and _same_block(backward, step)
        edits = combined(clip.file, taken_out(clip.file, clip.statement), insertion, after)
        yield from self.change(case, "clip between backward() and step()", edits, knob="clipping place")

    EXAMPLES = {
        "a recurrent network without a limit": _limit_example(
            data="rnn, head = nn.RNN(2, 4, batch_first=True), nn.Linear(4, 1)",
            layers="self.rnn, self.head = rnn, head",
            forward="return self.head(self.rnn(x)[0][:, -1])",
            backward="",
            step="""
                loss = nn.functional.mse_loss(model(torch.ones(4, 5, 2)), torch.ones(4, 1))
                optimizer.zero_grad()
                loss.backward()
                + nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()""",
        ),
        "a far too small limit, the default of an argument": example("""
                def train(model, clip=⟨1e-5 → 10.0⟩):
                    opt = torch.optim.SGD(model.parameters(), lr=0.1)
                    for step in range(5):
                        opt.zero_grad()
                        nn.functional.mse_loss(model(torch.ones(4, 2)), torch.full((4, 1), 3.0)).backward()
                        ⟨torch.nn.utils.clip_grad_norm_(model.parameters(), clip)⟩
                        opt.step()
                torch.manual_seed(0)
                train(nn.Linear(2, 1))"""),
        "clipped after the step": _limit_example(
            data="torch.manual_seed(0)",
            loop="for step in range(5)",
            after_backward="+ torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
            after_step="- torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
            mark="clip_grad_norm_",
        ),
        "several networks: what the optimiser holds": example("""
                a, b = nn.GRU(2, 4, batch_first=True), nn.Linear(4, 1)
                def fit(optimizer):
                    for step in range(3):
                        optimizer.zero_grad()
                        nn.functional.mse_loss(b(a(torch.ones(4, 5, 2))[0][:, -1]), torch.ones(4, 1))⟨.backward()⟩
                        if step != 1:
                            + nn.utils.clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], 1.0)
                            optimizer.step()
                fit(torch.optim.SGD([*a.parameters(), *b.parameters()], lr=0.1))"""),
        "a high rate is not cured by clipping in a feed-forward network": _limit_example(
            optimizer="⟨torch.optim.SGD(model.parameters(), lr=10.0)⟩", cause="HYP-LR-HIGH"
        ),
        "a tiny limit that looks like a tiny rate": _limit_example(
            imports="from torch.nn.utils import clip_grad_value_",
            data='CONFIG = {"lr": 0.1, "clip": ⟨1e-5 → 1.0⟩}',
            optimizer='⟨torch.optim.SGD(model.parameters(), lr=CONFIG["lr"])⟩',
            after_backward='clip_grad_value_(model.parameters(), clip_value=CONFIG["clip"])',
            cause="HYP-LR-LOW",
        ),
    }


def _between(backward: Spot, step: Spot | None, text: str) -> FileEdits:
    """Behind backward() where both stand in one block, else straight before the step."""
    inside = backward.file.function(backward.call)
    closure = step is not None and bool(step.call.args) and isinstance(inside, Function)
    if step is None or (closure and not backward.is_beside(step)) or _same_block(backward, step):
        return insert_after(backward.file, backward.statement, text)
    return insert_before(step.file, step.statement, text)


def _unscaled(case: Case) -> bool:
    """Whether the program calls `unscale_` itself; `scaler.step()` does so too, but after the clipping."""
    return any(each.method == "unscale_" for each in spots(case, "unscale"))


def _same_block(one: Spot, other: Spot) -> bool:
    return one.file.file == other.file.file and one.file.parent(one.statement) is other.file.parent(
        other.statement
    )


def _recurrent(case: Case) -> bool:
    """A recurrent layer, or one that is called many times within one forward pass."""
    found = [module for module in case.trace.all(ModuleFact) if module.leaf and module.order is not None]
    return any(module.kind in RECURRENT_CELLS or module.calls >= _UNROLLED for module in found)


_scale_example = partial(
    example,
    optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
    setup='scaler = torch.amp.GradScaler("cpu")',
)


class UnscaleBeforeClip(Repair, code="R113", cures=("LOOP-AMP", "OPT-CLIP"), knob="scaler"):
    """Bring the calls of a gradient scaler into their order.

    `scaler.unscale_(optimizer)` comes before the gradients are clipped, the step is made by `scaler.step(optimizer)`, and
    `scaler.update()` follows it.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        scaled = scaler_of(case)
        step = next(iter(spots(case, "step")), None)
        if scaled is None or step is None:
            return
        scaler = scaled[0].file.source(scaled[1])
        clip = next(iter(spots(case, "clip")), None)
        found = spot(case.code, case.site)
        if case.cause == "OPT-CLIP" and clip is None:
            return
        clip = found if found is not None and found.method.startswith("clip_grad") else clip
        if step.call.args and step.method == "step":
            if clip is not None:
                yield from self.change(
                    case, "unscale the gradients before they are clipped", self._unscaled(case, clip, step)
                )
            if case.cause == "LOOP-AMP" and not _updates(step, scaler):
                yield from self.change(
                    case, "update the scaler", insert_after(step.file, step.statement, f"{scaler}.update()")
                )
        elif step.method == "step" and step.is_alone and scaled[0].is_beside(step):
            yield from self.change(case, "step through the scaler", self._through(step, scaler))

    def _unscaled(self, case: Case, clip: Spot, step: Spot) -> FileEdits:
        """Before the clipping, or before the call of the function that clips."""
        text = f"{step.receiver}.unscale_({step.file.source(step.call.args[0])})"
        places = [clip, *callers(case.code, clip.file, clip.call)]
        place = next((each for each in places if each.is_beside(step)), None)
        if place is None:
            return ()
        unscales = [each for each in spots(case, "unscale") if each.method == "unscale_"]
        if not unscales:
            return insert_before(place.file, place.statement, text)
        wrong = unscales[0]
        is_late = wrong.is_beside(place) and wrong.is_alone and wrong.call.lineno > place.call.lineno
        return moved_before(wrong.file, wrong.statement, place.statement) if is_late else ()

    def _through(self, step: Spot, scaler: str) -> FileEdits:
        edits = replace(step.file, step.call, f"{scaler}.step({step.receiver})")
        if _updates(step, scaler):
            return edits
        return replace(step.file, step.statement, f"{scaler}.step({step.receiver})") and (
            *edits,
            *insert_after(step.file, step.statement, f"{scaler}.update()"),
        )

    EXAMPLES = {
        "clipped while scaled": _scale_example(
            step="""
                optimizer.zero_grad()
                loss = model(torch.ones(4, 2)).square().mean()
                scaler.scale(loss).backward()
                + scaler.unscale_(optimizer)
                ⟨nn.utils.clip_grad_norm_(model.parameters(), 1.0)⟩
                scaler.step(optimizer)
                scaler.update()"""
        ),
        "unscaled too late": _scale_example(
            step="""
                optimizer.zero_grad()
                loss = model(torch.ones(4, 2)).square().mean()
                scaler.scale(loss).backward()
                + scaler.unscale_(optimizer)
                ⟨nn.utils.clip_grad_norm_(model.parameters(), 1.0)⟩
                - scaler.unscale_(optimizer)
                scaler.step(optimizer)
                scaler.update()"""
        ),
        "past the scaler": _scale_example(
            step="""
                optimizer.zero_grad()
                loss = model(torch.ones(4, 2)).square().mean()
                ⟨scaler.scale(loss).backward()⟩
                ⟨optimizer.step() → scaler.step(optimizer)⟩
                scaler.update()""",
            raises=True,
        ),
        "in order": _scale_example(
            step="""
                optimizer.zero_grad()
                loss = model(torch.ones(4, 2)).square().mean()
                scaler.scale(loss).backward()
                scaler.unscale_(optimizer)
                ⟨nn.utils.clip_grad_norm_(model.parameters(), 1.0)⟩
                scaler.step(optimizer)
                scaler.update()"""
        ),
    }


def _updates(step: Spot, scaler: str) -> bool:
    return any(
        isinstance(call.func, ast.Attribute)
        and last_name(call.func) == "update"
        and step.file.source(call.func.value) == scaler
        for call in step.file.calls("update")
    )
