"""Five bugs of reinforcement-learning programs, each beside the program as it should be: which test starts reveal them?

    python benchmarks/rl_bug_study.py [NAME…] [--runs 5] [--jobs 1]

benchmarks/rl_bugs/NAME/correct.py and buggy.py differ in one line, as such bugs do. The buggy program is treated as a mutant of the correct one.
Results go to benchmarks/results/rl-bugs.json; what was trained is kept, so the same command goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path

from netmend.mutate.agents.comparison import compare
from netmend.mutate.agents.ladders import ON, Ladder
from netmend.mutate.agents.options import RlOptions
from netmend.mutate.agents.session import summary
from netmend.mutate.agents.study import Study
from netmend.mutate.mutation import Mutation
from netmend.program.text.positions import lines_of
from netmend.report.agents import STUDY
from netmend.trials.local import LocalExecutor
from netmend.trials.runner import Runner, memory_limit
from netmend.trials.trial import Limits, Target
from netmend.vocabulary.change import FileEdit

HERE = Path(__file__).resolve().parent
CAUSES = {
    "reward_sign": "RL-REW-SUBOPT",
    "statistics_not_frozen": "RL-NORM-OBS",
    "time_limit_as_end": "RL-ENV-FLAGS",
    "learning_starts_late": "RL-FA-LEARN-START",
    "history_not_reset": "RL-EXP-RESET",
}


def bug_ladder(name: str, train: Path) -> Ladder:
    """The whole text of the buggy program in the place of the correct one."""
    text, buggy = (
        train.read_text(encoding="utf-8"),
        (HERE / "rl_bugs" / name / "buggy.py").read_text(encoding="utf-8"),
    )
    edit = FileEdit(str(train), lines_of(text).edit(0, len(text), buggy))
    bug = Mutation("M799", CAUSES[name], name.replace("_", " "), (edit,))
    return Ladder("M799", "", name.replace("_", " "), ON, (bug,), (1.0,), (1.0,))


def studied(name: str, runs: int, jobs: int, work: Path) -> dict[str, object]:
    folder = work / name / "program"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(HERE / "rl_bugs" / name / "correct.py", folder / "train.py")
    target = Target("train.py", (), False, str(folder))
    runner = Runner(target, work / name / "trials", LocalExecutor(jobs), Limits(megabytes=memory_limit(jobs)))
    state = Study(runner, RlOptions(runs=runs), lambda text: print(f"{name}: {text}", flush=True))
    ladders = [bug_ladder(name, folder / "train.py")]
    try:
        state.train_originals()
        state.search(ladders)
        state.found.setdefault(0, state.judged[0][0])  # also where the training's own starts do not show it
        state.choose(keep_trivial=True)
        compare(state)
    finally:
        runner.close()
    found = summary(state, ladders)
    (bug,) = found.operators
    print(
        f"{name} ({CAUSES[name]}): correct fails at {[round(s, 2) for s in found.original_failures]} of random starts"
    )
    for generator in ("replay", "weak", "strong", "edge"):
        told = "revealed" if bug.killed.get(generator) else "missed"
        print(f"    {generator:7} {told}, kill rate {bug.rates.get(generator, 0):.2f}")
    for each in bug.revealing:
        print(f"    {each.share:.0%} of pairs: {each.words}")
    return STUDY(found)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", default=list(CAUSES))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--work", type=Path, default=HERE / ".netmend" / "rl-bugs")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in CAUSES]
    if unknown:
        parser.error(f"there is no bug {unknown[0]}; known are {', '.join(CAUSES)}")
    file = HERE / "results" / "rl-bugs.json"
    results = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    for name in given.names:
        results[name] = studied(name, given.runs, given.jobs, given.work.resolve())
        file.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
