from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Const, Value, resolved
from netmend.program.meaning.pixels import is_bytes, is_standardised, names_bytes
from netmend.program.meaning.uses import arithmetic
from netmend.vocabulary.finding import Finding

HEAD = "import cv2\nimport numpy as np\nimport torch\n\n"


@register
class BytesWrapAround(StaticRule):
    """Images of type uint8 are subtracted from, or standardised values are stored as uint8.

    A byte cannot be negative: 10 − 20 becomes 246. Dark and bright pixels are mixed up, and values between −1 and 1 stored as
    bytes are all 0, 1 or 255. Nothing complains.

    Convert first: `image.astype(np.float32) - mean`.
    """

    code = "S516"
    cause = "PRE-WRONG-DTYPE"
    message = (
        "These are bytes (uint8), so negative results wrap around to large numbers; convert to float32 first."
    )
    triggers = ("uint8", "imread", "byte()")

    smallest = (
        16  # smaller constants are mostly shifts of class numbers in masks, where 255 stands for "ignore"
    )

    GOOD = (
        Snippet("converted first", HEAD + "image = cv2.imread(path).astype(np.float32) - 128\n"),
        Snippet("inverted", HEAD + "image = 255 - cv2.imread(path)\n"),
        Snippet("a float mean", HEAD + "image = cv2.imread(path)\nimage = image - image.mean()\n"),
        Snippet("class numbers of a mask", HEAD + "mask = cv2.imread(path) - 1\n"),
        Snippet(
            "back to bytes", HEAD + "image = ((x - x.min()) / (x.max() - x.min()) * 255).astype(np.uint8)\n"
        ),
    )
    BAD = (
        Snippet(
            "a constant",
            HEAD + "image = cv2.imread(path)\nx = torch.from_numpy(image - 128).float()\n",
            line=6,
        ),
        Snippet(
            "two frames",
            HEAD
            + "def motion(a, b):\n    one = np.asarray(a).astype(np.uint8)\n    two = b.astype('uint8')\n    return one - two\n",
            line=8,
        ),
        Snippet(
            "standardised, then bytes",
            HEAD + "x = np.load('x.npy')\nx = ((x - x.mean()) / x.std()).astype(np.uint8)\n",
            line=6,
        ),
    )

    def check(self, program: Program) -> Iterator[Finding]:
        for operation, _ in arithmetic(program):
            if operation.operator != "-" or len(operation.operands) != 2 or operation.node is None:
                continue
            left, right = operation.operands
            if is_bytes(left) and self._wraps(right):
                yield self.finding(program, operation.node)
        for event in program.methods_of("astype", "to", "byte"):
            call = event.call
            if call is None or call.receiver is None or not is_standardised(call.receiver):
                continue
            if call.method == "byte" or (call.args and names_bytes(call.args[0])):
                yield self.finding(
                    program, event.node, "Standardised values do not fit into bytes; keep them as float32."
                )

    def _wraps(self, right: Value) -> bool:
        right = resolved(right)
        if isinstance(right, Const):
            return (
                isinstance(right.value, int)
                and not isinstance(right.value, bool)
                and right.value >= self.smallest
            )
        return is_bytes(right)
