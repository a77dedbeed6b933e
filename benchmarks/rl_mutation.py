"""Mutation testing of reinforcement learning beside µPRL's published table.

    python benchmarks/rl_mutation.py cartpole-ppo            # or cartpole-dqn, lunarlander-ppo --profile standard
    python benchmarks/rl_mutation.py cartpole-ppo --jobs 1   # what was trained is kept: the same command goes on

Studies are described in benchmarks/rl_studies/*.yaml; results go to benchmarks/results/rl-NAME.json.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> int:
    names = sorted(file.stem for file in (HERE / "rl_studies").glob("*.yaml"))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("study", choices=names)
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("--operators", default="", help="codes, with commas between them; default: all")
    parser.add_argument("--work", type=Path, default=HERE / ".netmend" / "rl-mutation")
    parser.add_argument("--results", type=Path, default=HERE / "results")
    given = parser.parse_args()

    from netmend.mutate.agents.options import RlOptions
    from netmend.mutate.agents.session import options_of, study, target_of
    from netmend.report.agents import STUDY, study_document
    from netmend.report.terminal import console, draw

    work = (given.work / given.study).resolve()
    work.mkdir(parents=True, exist_ok=True)
    file = str(HERE / "rl_studies" / f"{given.study}.yaml")
    operators = tuple(filter(None, given.operators.split(",")))
    options = RlOptions(profile=given.profile, jobs=given.jobs, operators=operators, directory=work)
    started, last = time.time(), [""]

    def told(text: str, used: object, outcome: object) -> None:
        if text != last[0]:
            last[0] = text
            print(f"{time.time() - started:7.0f} s  {text}", flush=True)

    found = study(target_of(file, directory=work), options_of(file, options), told)
    console(sys.stdout).print(draw(study_document(found)))
    if not found.stopped:
        given.results.mkdir(exist_ok=True)
        (given.results / f"rl-{given.study}.json").write_text(STUDY.json(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
