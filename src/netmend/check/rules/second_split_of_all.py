from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import STORE
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value, constant, resolved
from netmend.program.meaning.arguments import is_for_evaluation, is_for_training
from netmend.program.meaning.arrays import function_around, same_numbers, split_part
from netmend.vocabulary.finding import Finding, Related

HEAD = "from sklearn.model_selection import train_test_split\n\nX, y = load()\nX_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)\n"


@register
class SecondSplitOfAll(StaticRule):
    """The data is split a second time from the whole, not from the training part, so the new training part holds rows of the test set.

    Of the test rows, most are trained on: the test result is far too good.

    Split the training part: `train_test_split(X_train, y_train, ...)`.
    """

    code = "S524"
    cause = "VAL-SPLIT"
    message = "This splits all the data again, test rows included; split the training part instead."
    triggers = ("train_test_split(",)

    GOOD = (
        Snippet("of the training part", HEAD + "X_tr, X_val, y_tr, y_val = train_test_split(X_train, y_train, test_size=0.1)\n"),
        Snippet("done anew", HEAD + "X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3)\n"),
        Snippet("the same rows of another array", HEAD + "a_train, a_test = train_test_split(ages, test_size=0.2, random_state=0)\n"),
        Snippet("the same split", HEAD + "X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.2, random_state=0)\n"),
        Snippet("two programs", "from sklearn.model_selection import train_test_split\n\ndef one(X, y):\n    return train_test_split(X, y)\n\ndef two(X, y):\n    a_train, a_test, b_train, b_test = train_test_split(X, y)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("of the whole", HEAD + "X_tr, X_val, y_tr, y_val = train_test_split(X, y, test_size=0.1, random_state=0)\n", line=5),
        Snippet("in a function", "import sklearn.model_selection as ms\n\ndef parts(data):\n    rest, test_set = ms.train_test_split(data, test_size=0.2)\n    train_set, val_set = ms.train_test_split(data, test_size=0.2)\n    return train_set, val_set, test_set\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        splits: dict[int, tuple[Call, list[str]]] = {}
        for event in program.events:
            part = split_part(event.value) if event.kind == STORE and event.target is not None else None
            if part is not None and event.target is not None:
                splits.setdefault(id(part[0]), (part[0], []))[1].append(event.target.name)
        made = list(splits.values())
        for at, (second, names) in enumerate(made):
            for first, earlier in made[:at]:
                if (
                    second.node is None
                    or first.node is None
                    or not _is_of_one(first, second)
                    or _is_equal(first, second)
                ):
                    continue
                is_named = (
                    any(map(is_for_evaluation, earlier)) and any(map(is_for_training, names))
                ) or _has_parts(earlier, names)
                is_together = function_around(program, first.node) is function_around(program, second.node)
                if is_named and is_together and not set(names) & set(earlier) - {"_"}:
                    place = program.place(first.node)
                    related = (
                        Related("The test part is split off here.", place.file, place.line, place.column),
                    )
                    yield self.finding(program, second.node, related=related)
                    break


def _has_parts(earlier: list[str], names: list[str]) -> bool:
    """`X_tr, X_val` beside `X_train, X_test`."""
    return any("test" in name.lower() for name in earlier) and any("val" in name.lower() for name in names)


def _is_of_one(first: Call, second: Call) -> bool:
    return bool(first.args and second.args) and same_numbers(first.args[0]) is same_numbers(second.args[0])


def _is_equal(first: Call, second: Call) -> bool:
    """The same seed and sizes give the same parts."""
    return all(
        _number(first, name) == _number(second, name) for name in ("random_state", "test_size", "train_size")
    ) and (_number(first, "random_state") is not None)


def _number(call: Call, name: str) -> object:
    given: Value | None = call.keywords.get(name)
    return constant(resolved(given)) if given is not None else None
