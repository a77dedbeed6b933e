"""R106."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.library.layers import DROPOUTS
from netmend.program.source.naming import spelled
from netmend.program.source.writing import add_argument, replace
from netmend.program.text.file import File
from netmend.program.text.queries import last_name
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary.change import FREE, Change, FileEdits

_FUNCTIONS = (
    "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"
)  # fmt: skip
_LAYERS = {name: name.lower() for name in DROPOUTS}


_example = partial(example, layers="self.fc = nn.Linear(2, 1)", optimizer="")


@register
@dataclass(frozen=True)
class DropoutFollowsMode:
    """Let dropout follow the mode of the model.

    `F.dropout(x)` drops in evaluation too, and an `nn.Dropout` made inside `forward` is always in training mode. With
    `training=self.training` both are off once `model.eval()` was called.
    """

    code: ClassVar[str] = "R106"
    cures: ClassVar[tuple[str, ...]] = ("LYR-DROPOUT-MODE",)
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        site = None if case.fault is None else case.fault.site
        found = case.code.statement_at(site)
        if found is None:
            return
        file, statement = found
        owner = file.owner(statement)
        edits: FileEdits = ()
        for call in file.calls(inside=owner) if owner is not None else ():
            function = file.function(call)
            if function is not None and function.args.args and file.owner(call) is owner:
                edits += self._edits(file, call, f"{function.args.args[0].arg}.training")
        # Imports are needed once.
        yield from change(
            self, case, "dropout only in training mode", tuple(dict.fromkeys(edits)), knob="dropout mode"
        )

    def _edits(self, file: File, call: ast.Call, mode: str) -> FileEdits:
        name = last_name(call.func)
        if name in _FUNCTIONS and call.args:
            given = [keyword for keyword in call.keywords if keyword.arg in ("training", "train")]
            value = given[0].value if given else call.args[2] if len(call.args) > 2 else None
            if value is None:
                return add_argument(file, call, f"training={mode}")
            is_on = isinstance(value, ast.Constant) and value.value is True
            return replace(file, value, mode) if is_on else ()
        inner = call.func
        if isinstance(inner, ast.Call) and last_name(inner.func) in _LAYERS and len(call.args) == 1:
            function, extra = spelled(file, f"torch.nn.functional.{_LAYERS[last_name(inner.func)]}")
            rates = [file.source(given) for given in (*inner.args[:1], *inner.keywords)]
            text = ", ".join([file.source(call.args[0]), *rates, f"training={mode}"])
            return (*replace(file, call, f"{function}({text})"), *extra)
        return ()

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "the function",
            forward="x = F.dropout(x, ⟨0.3 → 0.3, training=self.training⟩)\nreturn self.fc(x)",
            helpers="model.eval()\nmodel(torch.ones(4, 2))",
        ),
        _example(
            "a layer that is made on every call",
            forward="return self.fc(nn.⟨Dropout(p=0.3)(x) → functional.dropout(x, p=0.3, training=self.training)⟩)",
            helpers="model(torch.ones(4, 2))",
        ),
        example(
            "it follows the mode",
            """
                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.fc = nn.Linear(2, 1)
                    def forward(self, x):
                        ⟨return self.fc(nn.functional.dropout(x, 0.3, self.training))⟩
                Net()(torch.ones(4, 2))""",
        ),
    )
