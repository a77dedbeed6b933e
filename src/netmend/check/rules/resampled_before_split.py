from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, resolved
from netmend.program.meaning.arrays import SPLIT
from netmend.program.meaning.operations import walk
from netmend.vocabulary.finding import Finding, Related

HEAD = "import torch\nfrom imblearn.over_sampling import SMOTE, RandomOverSampler\nfrom imblearn.under_sampling import RandomUnderSampler\nfrom sklearn.model_selection import train_test_split\n\n"


@register
class ResampledBeforeSplit(StaticRule):
    """Rare classes are filled up with copies or synthetic rows, and only then the data is split.

    Copies of one row, or points between two rows, land on both sides of the split. The network is tested on what it was trained
    on, and on a class balance that does not exist outside.

    Split first, then resample the training part only.
    """

    code = "S518"
    cause = "VAL-TEST-LEAK"
    message = "Rows are duplicated before the split, so copies end up in training and test; split first, resample the training part."
    triggers = ("fit_resample", "fit_sample")

    GOOD = (
        Snippet("split first", HEAD + "X_train, X_test, y_train, y_test = train_test_split(X, y)\nX_train, y_train = SMOTE().fit_resample(X_train, y_train)\n"),
        Snippet("rows are only dropped", HEAD + "X, y = RandomUnderSampler().fit_resample(X, y)\nX_train, X_test, y_train, y_test = train_test_split(X, y)\n"),
        Snippet("training part split once more", HEAD + "X, X_test, y, y_test = train_test_split(X, y)\nX, y = SMOTE().fit_resample(X, y)\n"
                "X_train, X_val, y_train, y_val = train_test_split(X, y)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("synthetic rows", HEAD + "X, y = SMOTE(random_state=1).fit_resample(X, y)\nX_train, X_test, y_train, y_test = train_test_split(X, y)\n", line=6),
        Snippet("copies", HEAD + "def load(X, y):\n    sampler = RandomOverSampler()\n    rows, labels = sampler.fit_resample(X, y)\n"
                "    return train_test_split(torch.tensor(rows), labels)\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        seen: set[int] = set()
        for event in program.calls_of(SPLIT):
            call = event.call
            for argument in call.args if call is not None else ():
                for part in walk(argument):
                    if (
                        not isinstance(part, Call)
                        or part.node is None
                        or part.method not in ("fit_resample", "fit_sample")
                    ):
                        continue
                    made = resolved(part.receiver) if part.receiver is not None else None
                    adds = isinstance(made, Call) and made.qualified.startswith(
                        ("imblearn.over_sampling.", "imblearn.combine.")
                    )
                    earlier = any(
                        isinstance(inner, Call) and inner.qualified == SPLIT for inner in walk(part)
                    )
                    if adds and not earlier and id(part.node) not in seen:
                        seen.add(id(part.node))
                        place = program.place(event.node)
                        yield self.finding(
                            program,
                            part.node,
                            related=(
                                Related("The data is split here.", place.file, place.line, place.column),
                            ),
                        )
