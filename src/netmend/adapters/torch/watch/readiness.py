"""Readiness: things that a model does only in train(), or in a training pass, and that were needed before.

Spectral normalisation estimates its norm in training passes; a model whose own train() freezes parts of it does so only once
train() or eval() has been called.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy
from torch.nn.utils.spectral_norm import SpectralNorm

from netmend.adapters.torch.watch.eligible import plain
from netmend.adapters.torch.watch.known import Known
from netmend.adapters.torch.watch.user_code import reached_names
from netmend.vocabulary import ProbeFact, Site

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.models import Model
    from netmend.adapters.torch.watch.session import TorchSession

ESTIMATE = "spectral estimate"
LATE = "frozen late"
_LARGEST = 4_000_000
_FREEZING = {"requires_grad", "requires_grad_"}
_Waiting = tuple[weakref.ref[nn.Module], list[weakref.ref[Tensor]]]


class Readiness:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self._estimated: Known[bool] = Known()
        self._begun: Known[bool] = Known()
        self._switched: Known[bool] = Known()  # modules with a train() of their own that has run
        self._waiting: list[tuple[str, int, _Waiting]] = []
        self._freezes: dict[type, bool] = {}

    def switched(self, module: nn.Module) -> None:
        """train() or eval() runs on a module."""
        if self._own_train(type(module)):
            self._switched.put(module, True)

    def entered(self, model: Model, module: nn.Module, site: Site | None) -> None:
        """A model is called; what is looked at is looked at once for each model."""
        if model.training_pass and module not in self._begun:
            self._begun.put(module, True)
            self._find_unswitched(model, module)
        if self._waiting:
            self.resolve()
        if not module.training and module not in self._estimated:
            self._estimated.put(module, True)
            self._look_at_estimates(model, module, site)

    # -- a train() of the model's own that freezes ----------------------------------------------------------------

    def _own_train(self, kind: type) -> bool:
        known = self._freezes.get(kind)
        if known is None:
            known = self._freezes[kind] = bool(reached_names(kind, "train") & _FREEZING)
        return known

    def _find_unswitched(self, model: Model, module: nn.Module) -> None:
        for child in module.modules():
            if self._own_train(type(child)) and child not in self._switched:
                trainable: list[weakref.ref[Tensor]] = [
                    weakref.ref(p) for p in child.parameters() if p.requires_grad and not is_lazy(p)
                ]
                step = self.session.recorder.step
                self._waiting.append((model.name, step, (weakref.ref(child), trainable)))

    def resolve(self) -> None:
        """The model's own train() has run at last: what has it frozen that was trained until now?"""
        session = self.session
        for entry in list(self._waiting):
            name, begun, (reference, trainable) = entry
            child = reference()
            if child is not None and child not in self._switched:
                continue
            self._waiting.remove(entry)
            alive = [p for p in (ref() for ref in trainable) if p is not None]
            frozen = [p for p in alive if not p.requires_grad]
            if child is None or not frozen or session.recorder.step <= begun:
                continue
            code = type(child).train.__code__
            site = Site(code.co_filename, code.co_firstlineno, function=f"{type(child).__name__}.train")
            values = {
                "class": type(child).__name__,
                "count": sum(p.numel() for p in frozen),
                "total": sum(p.numel() for p in alive),
                "steps": session.recorder.step - begun,
                "names": [session.names.get(p) or "" for p in frozen[:5]],
            }
            component = session.names.get(child) or name
            user = site if session.sites.is_user_file(site.file) else None
            session.recorder.fact(ProbeFact(f"{LATE}@{component}", LATE, component, begun, values, user))

    # -- spectral normalisation -----------------------------------------------------------------------------------

    @torch.no_grad()
    def _look_at_estimates(self, model: Model, module: nn.Module, site: Site | None) -> None:
        """In eval mode weights are divided by an estimate that only training passes improve: is there one yet?

        The vectors u and v of an estimate that was made at least once agree: u points where the weights take v.
        """
        found: dict[str, Tensor] = {}
        for child in module.modules():
            if child.training:
                continue
            for hook in child._forward_pre_hooks.values():
                if isinstance(hook, SpectralNorm):
                    agreement = _agreement(child, hook)
                    if agreement is not None:
                        found[self.session.names.get(child) or model.name] = agreement
        if not found:
            return
        step, recorder = self.session.recorder.step, self.session.recorder

        def known(values: dict[str, Tensor]) -> None:
            numbers = {name: float(value) for name, value in values.items()}
            layer = min(numbers, key=lambda name: numbers[name])
            shown = {"agreement": numbers[layer], "layers": len(numbers), "model": model.name}
            recorder.fact(ProbeFact(f"{ESTIMATE}@{model.name}", ESTIMATE, layer, step, shown, site))

        self.session.data.deferred.add(found, known)


def _agreement(layer: nn.Module, hook: Any) -> Tensor | None:
    """The cosine between u and what the weights make of v."""
    weight = getattr(layer, f"{hook.name}_orig", None)
    u, v = getattr(layer, f"{hook.name}_u", None), getattr(layer, f"{hook.name}_v", None)
    if weight is None or u is None or v is None or not plain(weight) or weight.numel() > _LARGEST:
        return None
    image = torch.mv(hook.reshape_weight_to_matrix(weight.detach()), v)
    cosine: Tensor = torch.dot(u, image) / torch.linalg.vector_norm(image).clamp_min(1e-30)
    return cosine
