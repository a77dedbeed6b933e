from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value, constant, resolved
from netmend.program.meaning.test_code import is_test_code
from netmend.vocabulary.finding import Finding

HEAD = "import tensorflow as tf\n\ndata = tf.data.Dataset.from_tensor_slices((x, y))\n"
_KEEPS_BATCHES = frozenset(("map", "prefetch", "cache", "repeat", "take", "skip", "filter", "with_options"))


@register
class ShuffledAfterBatching(StaticRule):
    """A `tf.data` pipeline is shuffled after it was cut into batches.

    Then whole batches change places, and each batch holds the same neighbours in every epoch. With data in the order of their classes
    a batch knows one class only, and training jumps from class to class.

    Shuffle first: `dataset.shuffle(size).batch(32)`.
    """

    code = "S522"
    cause = "API-SHUFFLE-POS"
    message = "This shuffles finished batches, not samples; call shuffle() before batch()."
    triggers = (".shuffle(",)
    needs = "tensorflow"

    GOOD = (
        Snippet("shuffled first", HEAD + "data = data.shuffle(1000).batch(32).prefetch(1)\n"),
        Snippet("sequences as samples", HEAD + "windows = data.batch(101, drop_remainder=True)\npairs = windows.map(split).shuffle(1000).batch(64)\n"),
        Snippet("both", HEAD + "data = data.shuffle(1000).batch(32).shuffle(10)\n"),
        Snippet("taken apart again", HEAD + "data = data.batch(256).map(prepare).unbatch().shuffle(1000).batch(32)\n"),
        Snippet("a look at some", HEAD + "data = data.batch(32)\nshown = next(iter(data.shuffle(100).take(1)))\n"),
        Snippet("mixed before", "import random\n" + HEAD.replace("data =", "random.shuffle(pairs)\ndata =") + "data = data.batch(32).shuffle(1000)\n"),
        Snippet("one by one", HEAD + "data = data.batch(1).shuffle(1000)\n"),
        Snippet("batched elsewhere", "import tensorflow as tf\n\ndata = tf.keras.utils.image_dataset_from_directory('flowers')\ndata = data.cache().shuffle(1000).prefetch(1)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in one chain", HEAD + "data = data.batch(32).shuffle(1000)\n", line=4),
        Snippet("step by step", "import tensorflow as tf\n\ndef pipeline(x, y):\n    ds = tf.data.Dataset.from_tensor_slices((x, y))\n    ds = ds.map(scale)\n    ds = ds.batch(64)\n"
                "    ds = ds.shuffle(buffer_size=500)\n    return ds.prefetch(tf.data.AUTOTUNE)\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        if "random.shuffle(" in program.text or "permutation(" in program.text or is_test_code(program):
            return  # mixed before; the batches stay the same, which harms little
        later = {
            id(step)
            for event in program.methods_of("batch", "padded_batch", "take")
            if event.call is not None
            for step in _chain(event.call.receiver)
        }
        for event in program.methods_of("shuffle"):
            call = event.call
            if call is None or id(call) in later:
                continue
            steps = list(_chain(call.receiver))
            names = [step.method or step.qualified for step in steps]
            if not names or names[-1] != "tensorflow.data.Dataset.from_tensor_slices":
                continue
            before = next((at for at, name in enumerate(names) if name not in _KEEPS_BATCHES), 0)
            if (
                names[before] in ("batch", "padded_batch")
                and constant(steps[before].argument("batch_size", 0)) != 1
                and "shuffle" not in names
                and "window" not in names
            ):
                yield self.finding(program, event.node)


def _chain(value: Value | None) -> Iterator[Call]:
    """A pipeline's steps, the last one first."""
    while value is not None:
        value = resolved(value)
        if not isinstance(value, Call):
            return
        yield value
        value = value.receiver
