"""Every rule against its own examples, and what all rules have in common."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from netmend.check.rule import FAMILIES, RULES, Snippet, StaticRule
from netmend.check.run import Checked, check_text, triggered
from netmend.program.engine.project import Project
from netmend.unit import page
from netmend.vocabulary.cause import LEAVES

RULE_CLASSES = RULES.classes()
GOOD = [(code, example) for code, rule in RULE_CLASSES.items() for example in rule.GOOD]
BAD = [(code, example) for code, rule in RULE_CLASSES.items() for example in rule.BAD]


def checked(rule: StaticRule, example: Snippet, folder: Path) -> Checked:
    for name, text in example.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    path = folder / "example.py"
    path.write_text(example.source)
    return check_text(example.source, str(path), [rule], Project())


def title(pair: object) -> str:
    return re.sub(r"\W+", "_", pair.title) if isinstance(pair, Snippet) else str(pair)


def test_all_rules_load() -> None:
    assert not RULES.problems
    assert len(RULE_CLASSES) >= 1


@pytest.mark.parametrize(("code", "example"), GOOD, ids=title)
def test_silent_on_good(code: str, example: Snippet, tmp_path: Path) -> None:
    result = checked(RULE_CLASSES[code](), example, tmp_path)
    assert not result.problem and not result.failures
    assert not result.findings, f"\n{example.source}\n{[finding.line for finding in result.findings]}"


@pytest.mark.parametrize(("code", "example"), BAD, ids=title)
def test_speaks_on_bad(code: str, example: Snippet, tmp_path: Path) -> None:
    result = checked(RULE_CLASSES[code](), example, tmp_path)
    assert not result.problem and not result.failures
    assert [finding.line for finding in result.findings] == [example.line], f"\n{example.source}"
    assert result.findings[0].code == code


@pytest.mark.parametrize(("code", "example"), [pair for pair in BAD if pair[1].fixed is not None], ids=title)
def test_fix_gives_what_is_shown_and_mends(code: str, example: Snippet, tmp_path: Path) -> None:
    from netmend.check.fix import apply

    rule = RULE_CLASSES[code]()
    result = checked(rule, example, tmp_path)
    fixed, done = apply(example.source, result.findings, unsafe=True)
    assert done and fixed == example.fixed
    again = check_text(fixed, str(tmp_path / "example.py"), [rule], Project())
    assert not again.findings


@pytest.mark.parametrize("code", RULE_CLASSES)
def test_common_rules(code: str) -> None:
    rule = RULE_CLASSES[code]
    first, rest = page(rule)
    assert re.fullmatch(r"S\d{3}", code) and code[:2] in FAMILIES
    assert first.endswith(".") and rest, "the docstring is the rule's page"
    assert rule.cause in LEAVES
    assert rule.GOOD and rule.BAD and rule.triggers and rule.message
    titles = [example.title for example in (*rule.GOOD, *rule.BAD)]
    assert len(titles) == len(set(titles))
    for example in (*rule.GOOD, *rule.BAD):
        ast.parse(example.source)
    for example in rule.BAD:
        assert triggered(rule(), example.source)


def test_examples_of_one_rule_do_not_alarm_rules_of_the_same_code() -> None:
    assert len({rule.__name__ for rule in RULE_CLASSES.values()}) == len(RULE_CLASSES)
