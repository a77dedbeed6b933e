"""Choosing rules: by code, beginning, family or cause; the most specific choice wins; the unknown is named."""

from __future__ import annotations

import pytest

from netmend.check.rule import RULES
from netmend.check.select import Known, Selection, choose, known_rules, split_choices
from netmend.errors import UsageError

KNOWN = Known(
    {
        "S001": "", "S002": "", "S101": "LOOP-ZERO-GRAD", "S102": "LOOP-ORDER", "S201": "LYR-SOFTMAX-EXTRA",
        "S202": "LYR-SOFTMAX-EXTRA", "S301": "ARC-INIT-MODEL", "S401": "HYP-LR-HIGH", "S901": "HYP-LR-LOW",
    },
    frozenset(("S401", "S901")),
    {"S0": "suppressions", "S1": "loop", "S2": "loss and head", "S3": "model", "S4": "optimiser", "S9": "advice"},
)  # fmt: skip
DEFAULT = {"S001", "S002", "S101", "S102", "S201", "S202", "S301"}


def codes(select: str = "", ignore: str = "", extend: str = "") -> set[str]:
    return set(choose(KNOWN, *map(split_choices, ([select], [ignore], [extend]))).codes)


def test_everything_that_is_not_advisory_is_on() -> None:
    assert codes() == DEFAULT
    assert choose(KNOWN).defaults


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("S201", {"S201"}),
        ("s2", {"S201", "S202"}),
        ("S", DEFAULT),
        ("loop", {"S101", "S102"}),
        ("Loss and head, S3", {"S201", "S202", "S301"}),
        ("loss-and-head", {"S201", "S202"}),
        ("LYR-SOFTMAX-EXTRA", {"S201", "S202"}),
        ("hyp-lr-high", {"S401"}),
        ("S401", {"S401"}),
        ("S9", {"S901"}),  # only advisory rules begin so: nothing else can be meant
        ("ALL", set(KNOWN.causes)),
    ],
)
def test_selecting(select: str, expected: set[str]) -> None:
    assert codes(select) == expected


@pytest.mark.parametrize(
    ("select", "ignore", "extend", "expected"),
    [
        ("", "S2", "", DEFAULT - {"S201", "S202"}),
        ("", "S2", "S201", DEFAULT - {"S202"}),
        ("S201", "S2", "", {"S201"}),
        ("S2", "S201", "", {"S202"}),
        ("S2", "S2,S3", "S3,S101", {"S101"}),
        ("ALL", "S4,S9", "", DEFAULT),
        ("", "", "S401", DEFAULT | {"S401"}),
        ("", "LOOP-ORDER", "", DEFAULT - {"S102"}),
        ("", "S4", "", DEFAULT),
    ],
)
def test_the_most_specific_choice_wins(select: str, ignore: str, extend: str, expected: set[str]) -> None:
    assert codes(select, ignore, extend) == expected


@pytest.mark.parametrize(
    ("choice", "hint"),
    [
        ("S210", "there is no rule 'S210'; did you mean S201? All rules: netmend explain"),
        ("lop", "did you mean loop?"),
        ("LYR-SOFTMX-EXTRA", "did you mean LYR-SOFTMAX-EXTRA?"),
        ("S7", "there is no rule 'S7'"),
        ("S2O1", "did you mean S201?"),
        ("!!", "there is no rule '!!'. All rules: netmend explain"),
        ("", "there is no rule ''"),
    ],
)
def test_the_unknown_is_named_with_what_may_be_meant(choice: str, hint: str) -> None:
    for where in ("select", "ignore", "extend"):
        with pytest.raises(UsageError) as raised:
            choose(KNOWN, **{where: [choice]})
        assert hint in str(raised.value)


def test_nothing_left_is_a_mistake() -> None:
    with pytest.raises(UsageError, match="no rule is left"):
        codes("S2", "S2")


def test_files_may_have_rules_off() -> None:
    selection = choose(KNOWN, per_file={"tests/*": ["S2"], "*.ipynb": ["loop"]}, root="/project")
    assert selection.off("/project/tests/deep/a.py") == {"S201", "S202"}
    assert selection.off("/project/tests/b.ipynb") == {"S201", "S202", "S101", "S102"}
    assert selection.off("/project/train.py") == frozenset()
    assert Selection.from_plain(selection.plain()) == selection


def test_the_real_rules_can_be_chosen() -> None:
    known = known_rules()
    assert {"S001", "S002", "S101", "S201"} <= known.causes.keys()
    for code, rule in RULES.classes().items():
        assert code in choose(known, [code]).codes
        assert code in choose(known, [rule.cause]).codes


def test_preview_rules_are_off_until_asked_for() -> None:
    preview = {code for code, rule in RULES.classes().items() if rule.preview}
    assert preview and not preview & choose(known_rules()).codes
    assert preview <= choose(known_rules(preview=True)).codes
    assert (
        not preview & choose(known_rules(), ["S"]).codes and preview <= choose(known_rules(), ["ALL"]).codes
    )
