"""Runs one program with another tool attached, in the way that tool documents, and prints what it found as JSON.

Runs in the rivals' own environment (see benchmarks/diagnose_rivals.py): python attach.py TOOL train.py. Needs nothing of netmend.
The tools want to be called from the user's code; here the calls are made at the same moments by patching, so that the program need not be edited:
torch-audit's autopatch at the first call of the model, torchtest2's check_model on the first training batch, training-doctor's log after
every optimiser step, mldoct's check on the file.
"""

from __future__ import annotations

import contextlib
import io
import json
import runpy
import sys
from pathlib import Path


def finding(name, level, message="", line=None):
    return {"name": str(name), "level": str(level), "message": str(message)[:300], "line": line}


def mldoct(script):
    from mldoctor.linter import lint_script

    found = []
    for file in sorted(path.name for path in Path().glob("*.py")):
        if file == script or Path.cwd().name not in ("faulty", "healthy", "bugs21"):
            issues, _ = lint_script(file)
            found += [
                {**finding(i["type"], i["severity"], i["message"], i["line"]), "file": file} for i in issues
            ]
    return found


class Watch:
    """What the tools need to be handed: the model, its optimiser, the first batch, the loss."""

    def __init__(self):
        import torch
        from torch.nn.modules.module import register_module_forward_pre_hook

        self.torch = torch
        self.model = None
        self.inputs = None
        self.target = None
        self.criterion = None
        self.optimizers = []
        self.evaluated = None  # called with every loss computed without gradients
        self.busy = False
        watch = self
        register_module_forward_pre_hook(self._called)
        plain = torch.optim.Optimizer.__init__

        def init(self, *args, **kwargs):
            plain(self, *args, **kwargs)
            watch.optimizers.append(self)

        torch.optim.Optimizer.__init__ = init
        for name in dir(torch.nn.functional):
            if name.endswith(("_loss", "cross_entropy", "cross_entropy_with_logits")) or name in ("kl_div",):
                self._wrap_loss(name)

    def _called(self, module, args):
        loss = isinstance(module, self.torch.nn.modules.loss._Loss)
        if (
            self.model is None
            and not loss
            and not self.busy
            and self.torch.is_grad_enabled()
            and any(True for _ in module.parameters())
        ):
            self.model, self.inputs = module, args

    def _wrap_loss(self, name):
        functional = self.torch.nn.functional
        plain = getattr(functional, name)
        if not callable(plain):
            return

        def wrapped(input, target, *args, **kwargs):
            if (
                self.criterion is None
                and self.model is not None
                and not self.busy
                and self.torch.is_grad_enabled()
            ):
                self.target = target
                self.criterion = lambda out, y: plain(out, y, *args, **kwargs)
            result = plain(input, target, *args, **kwargs)
            if self.evaluated is not None and not self.torch.is_grad_enabled() and result.numel() == 1:
                self.evaluated(float(result))
            return result

        setattr(functional, name, wrapped)


def torch_audit(script):
    from torch_audit import autopatch

    watch = Watch()
    torch = watch.torch
    state = {}
    plain = torch.Tensor.backward

    def backward(self, *args, **kwargs):
        if "auditor" not in state and watch.model is not None and watch.optimizers:
            with contextlib.suppress(Exception):
                state["auditor"] = autopatch(
                    watch.model,
                    optimizer=watch.optimizers[0],
                    every_n_steps=1,
                    reporters=[],
                    run_static=True,
                    run_init=True,
                )
        return plain(self, *args, **kwargs)

    torch.Tensor.backward = backward
    run(script)
    auditor = state.get("auditor")
    if auditor is None:
        return []
    return [finding(f.rule_id, f.severity.value, f.message) for f in auditor.finish(report=False).findings]


def torchtest2(script):
    import torchtest2 as tool

    watch = Watch()
    torch = watch.torch
    found = []
    plain = torch.Tensor.backward

    def backward(self, *args, **kwargs):
        if not found and watch.model is not None and not watch.busy:
            watch.busy = True
            optimizer = watch.optimizers[0] if watch.optimizers else None
            inputs = watch.inputs[0] if len(watch.inputs) == 1 else tuple(watch.inputs)
            try:
                report = tool.check_model(
                    watch.model, inputs, watch.target, loss_fn=watch.criterion, optimizer=optimizer
                )
                for result in report.results:
                    status = getattr(result.status, "name", str(result.status))
                    if status in ("FAIL", "WARN"):
                        found.append(finding(result.name, status, result.message))
            except Exception as problem:  # noqa: BLE001
                found.append(finding("tool failed", "SKIP", repr(problem)))
            found.append(finding("done", "PASS"))
            watch.busy = False
        return plain(self, *args, **kwargs)

    torch.Tensor.backward = backward
    run(script)
    return [item for item in found if item["level"] in ("FAIL", "WARN")]


def training_doctor(script):
    from training_doctor import Doctor

    watch = Watch()
    torch = watch.torch
    doctor = Doctor()
    doctor.set_auto_print(False)
    state = {"loss": None, "step": 0}
    plain = torch.Tensor.backward

    def backward(self, *args, **kwargs):
        if self.numel() == 1:
            state["loss"] = float(self.detach())
        return plain(self, *args, **kwargs)

    torch.Tensor.backward = backward
    from torch.optim.optimizer import register_optimizer_step_post_hook as register

    def stepped(optimizer, args, kwargs):
        if state["loss"] is not None:
            state["step"] += 1
            norms = [p.grad.norm() for g in optimizer.param_groups for p in g["params"] if p.grad is not None]
            norm = float(torch.stack(norms).norm()) if norms else 0.0
            with contextlib.suppress(Exception):
                doctor.log(
                    step=state["step"],
                    loss=state["loss"],
                    train_loss=state["loss"],
                    lr=optimizer.param_groups[0]["lr"],
                    grad_norm=norm,
                )

    def evaluated(value):
        with contextlib.suppress(Exception):
            doctor.log(step=state["step"], eval_loss=value)

    register(stepped)
    watch.evaluated = evaluated
    run(script)
    with contextlib.suppress(Exception):
        doctor.analyze()
    return [finding(d.problem, d.severity.name, d.explanation) for d in doctor.diagnoses]


def run(script):
    sys.argv = [script]
    sys.path.insert(0, str(Path.cwd()))
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            runpy.run_path(script, run_name="__main__")
        except BaseException as problem:
            if isinstance(problem, KeyboardInterrupt):
                raise


if __name__ == "__main__":
    tool, script = sys.argv[1], sys.argv[2]
    found = {
        "mldoct": mldoct,
        "torch-audit": torch_audit,
        "torchtest2": torchtest2,
        "training-doctor": training_doctor,
    }[tool](script)
    print(json.dumps(found))
