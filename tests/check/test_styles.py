"""Rules speak and stay silent whatever the way a program is written in."""

from __future__ import annotations

from pathlib import Path

import pytest
from styles import MAIN, STYLES, Written, written

from netmend.check.rule import RULES, StaticRule
from netmend.check.run import check_text, default_rules
from netmend.program.engine.project import Project
from netmend.vocabulary.finding import Finding

RULE_CLASSES = RULES.classes()
FAMILIES = {
    "loop": ("S101", "S102", "S103", "S104", "S105", "S106", "S107", "S108", "S109", "S112", "S113", "S115", "S116", "S118", "S121", "S122"),
    "loss": ("S201", "S203", "S204", "S206", "S207", "S208", "S209", "S210", "S211", "S215", "S217", "S218", "S222", "S225"),
    "model": ("S301", "S302", "S303", "S306", "S308", "S314", "S315", "S317", "S321", "S322", "S325", "S328", "S329"),
    "optimiser": ("S401", "S403", "S405", "S408", "S409", "S411", "S412", "S413"),
    "data and evaluation": ("S501", "S504", "S505", "S511", "S517", "S519", "S601", "S607", "S608", "S609", "S612", "S705", "S707", "S722"),
}  # fmt: skip
# What a style takes away from the text that a rule needs, or what the rule would be wrong to assume.
LEFT_OUT = {
    ("S109", "settings_by_argparse"),
    ("S109", "settings_by_argparse_function"),
    ("S705", "on_device"),
    ("S705", "accelerated"),
}
HEALTHY = Path(__file__).parents[2] / "benchmarks" / "corpus" / "calibration" / "healthy"
SOME = ("banana_gan", "dqn_ema_target", "early_stopping_restore", "gru_markov_lm_clip", "multitask_two_backwards", "onecycle_conv", "reinforce_corridor",
        "tagger_masked_loss")  # fmt: skip


def findings(program: Written, folder: Path, rules: list[StaticRule]) -> list[Finding]:
    """What is said about all files of a program."""
    for name, text in program.files.items():
        (folder / name).write_text(text)
    found: list[Finding] = []
    for name, text in program.files.items():
        checked = check_text(text, str(folder / name), rules, Project())
        assert not checked.problem and not checked.failures
        found.extend(checked.findings)
    return found


@pytest.mark.parametrize("name", STYLES)
@pytest.mark.parametrize("family", FAMILIES)
def test_speaks_in_every_style(family: str, name: str, tmp_path: Path) -> None:
    silent = []
    for code in FAMILIES[family]:
        rule = RULE_CLASSES[code]
        for example in rule.BAD[:2]:
            program = (
                written(example.source, name) if not example.files and (code, name) not in LEFT_OUT else None
            )
            if program is None:
                continue
            places = [(Path(found.file).name, found.line) for found in findings(program, tmp_path, [rule()])]
            # A setting that moved to another place (-1) may be shown there.
            if not any({example.line, -1} & program.origins.get(place, set()) for place in places):
                silent.append(f"{code} {example.title}: {places}\n{program.files[MAIN]}")
    assert not silent, "\n".join(silent)


@pytest.mark.parametrize("name", STYLES)
def test_silent_on_healthy_programs_in_every_style(name: str, tmp_path: Path) -> None:
    alarms = []
    for stem in SOME:
        program = written((HEALTHY / f"{stem}.py").read_text(encoding="utf-8"), name)
        if program is not None:
            said = findings(program, tmp_path, list(default_rules(preview=True)))
            alarms += [
                f"{stem} {found.code} {Path(found.file).name}:{found.line} {found.message}" for found in said
            ]
    assert not alarms


@pytest.mark.parametrize("name", STYLES)
def test_states_that_are_detached_stay_silent(name: str, tmp_path: Path) -> None:
    rule = RULE_CLASSES["S122"]
    for example in rule.GOOD:
        program = written(example.source, name)
        if program is not None:
            assert not findings(program, tmp_path, [rule()]), program.files[MAIN]
