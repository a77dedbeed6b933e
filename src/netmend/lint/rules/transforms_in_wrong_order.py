from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.lint.edits import replace
from netmend.lint.engine.program import Program
from netmend.lint.engine.values import Value
from netmend.lint.rule import Snippet, StaticRule, register
from netmend.lint.understand.feeding import steps_of, transform_name
from netmend.vocabulary.finding import Finding, Fix

HEAD = "from torchvision import transforms as T\n\n"
# These need images of PIL or leave them as they are; whatever stands before them is no tensor yet.
_TAKE_IMAGES = frozenset(
    ["Resize", "CenterCrop", "RandomCrop", "RandomResizedCrop", "RandomHorizontalFlip", "RandomVerticalFlip", "RandomRotation", "ColorJitter",
     "Grayscale", "RandomGrayscale", "Pad", "FiveCrop", "RandomAffine", "RandomPerspective", "AutoAugment", "RandAugment", "TrivialAugmentWide"]
)  # fmt: skip


@register
class TransformsInWrongOrder(StaticRule):
    """In a `Compose`, `Normalize` stands before `ToTensor`, or `ToTensor` stands twice.

    `Normalize` works on tensors and `ToTensor` on images, so the first sample that is loaded stops the program.

    Convert once, then normalise: `Compose([Resize(...), ToTensor(), Normalize(...)])`.
    """

    code = "S515"
    cause = "PRE-WRONG-STEP"
    message = "Normalize needs a tensor; put ToTensor before it."
    triggers = ("ToTensor",)

    GOOD = (
        Snippet(
            "converted, then normalised",
            HEAD + "steps = T.Compose([T.Resize(32), T.ToTensor(), T.Normalize(0.5, 0.5)])\n",
        ),
        Snippet(
            "back to an image between",
            HEAD
            + "steps = T.Compose([T.ToTensor(), T.Normalize(0.5, 0.5), T.ToPILImage(), T.Resize(8), T.ToTensor()])\n",
        ),
        Snippet(
            "a step that is not known",
            HEAD
            + "steps = T.Compose([to_tensor, T.Normalize(0.5, 0.5), T.Lambda(to_image), T.ToTensor()])\n",
        ),
        Snippet("tensors come in", HEAD + "steps = T.Compose([T.Normalize(0.5, 0.5), T.RandomErasing()])\n"),
    )
    BAD = (
        Snippet("normalised first", HEAD + "steps = T.Compose([T.Resize(32), T.Normalize((0.5,), (0.5,)), T.ToTensor()])\n", line=3,
                fixed=HEAD + "steps = T.Compose([T.Resize(32), T.ToTensor(), T.Normalize((0.5,), (0.5,))])\n"),
        Snippet("converted twice", "import torchvision.transforms as transforms\nbasic = [transforms.ToTensor()]\n"
                "steps = transforms.Compose([transforms.ToTensor(), transforms.Resize(32), transforms.ToTensor()])\n", line=3),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for event in program.calls_of("torchvision.transforms.Compose"):
            steps = steps_of(event.call)
            if steps is None:
                continue
            names = [transform_name(step) for step in steps]
            if "ToTensor" not in names:
                continue
            first = names.index("ToTensor")
            early = names[:first]
            if "Normalize" in early and all(name in _TAKE_IMAGES or name == "Normalize" for name in early):
                at = early.index("Normalize")
                node = steps[at].node
                if node is not None:
                    yield self.finding(program, node, fix=self._fix(program, steps, at, first))
            second = next((at for at in range(first + 1, len(names)) if names[at] == "ToTensor"), None)
            if second is not None and all(
                name in _TAKE_IMAGES or name == "Normalize" for name in names[first + 1 : second]
            ):
                node = steps[second].node
                if node is not None:
                    yield self.finding(
                        program, node, "ToTensor is there already and fails on a tensor; drop the second one."
                    )

    def _fix(self, program: Program, steps: tuple[Value, ...], at: int, first: int) -> Fix | None:
        one, other = steps[at].node, steps[first].node
        if one is None or other is None or first != at + 1 or not isinstance(program.parent(one), ast.List):
            return None
        if program.parent(one) is not program.parent(other):
            return None
        edits = (*replace(program, one, program.source(other)), *replace(program, other, program.source(one)))
        return Fix("Convert before normalising", edits, "safe") if len(edits) == 2 else None
